"""What arrays are accepted, and what is said about the others."""

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig

POSITIONS, FACES = bumpy_sheet(4)

LAYOUTS = {
    "float64": lambda x: x,
    "float32": lambda x: np.round(x * 64) .astype(np.float32) / 64,
    "fortran": np.asfortranarray,
    "sliced": lambda x: np.repeat(x, 2, axis=0)[::2],
    "reversed twice": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "columns of a wider array": lambda x: np.concatenate([x, x], axis=1)[:, :3],
    "list": lambda x: x.tolist(),
    "tuple of tuples": lambda x: tuple(map(tuple, x)),
    "big endian": lambda x: x.astype(">f8"),
    "longdouble": lambda x: x.astype(np.longdouble),
    "half": lambda x: x.astype(np.float16),
    "not aligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(x.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_of_positions_gives_the_same_numbers(layout):
    array = LAYOUTS[layout](POSITIONS)
    mesh = pliant.Mesh(array, FACES)
    assert np.array_equal(mesh.positions, np.asarray(array, np.float64))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_are_not_changed(layout):
    array = LAYOUTS[layout](POSITIONS)
    before = np.array(array, copy=True)
    mesh = pliant.Mesh(array, FACES)
    mesh.positions[:] = 7.0  # The result is the caller's own.
    assert np.array_equal(np.asarray(array), before)
    assert np.array_equal(mesh.positions, np.asarray(before, np.float64))


def test_read_only_arrays_are_accepted():
    array = POSITIONS.copy()
    array.flags.writeable = False
    assert pliant.Mesh(array, FACES).vertex_count == len(array)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_faces_of_any_integer_type_are_accepted(dtype):
    mesh = pliant.Mesh(POSITIONS, FACES.astype(dtype))
    assert np.array_equal(mesh.triangles, FACES)
    assert mesh.triangles.dtype == np.int64


@pytest.mark.parametrize(
    "positions, part",
    [
        (np.zeros((4, 2)), r"shape \(4, 2\).*float64"),
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 3, 3)), r"shape \(2, 3, 3\)"),
        (np.zeros((3, 3), complex), "complex128"),
        ([["a", "b", "c"]], "<U1"),
        ("abc", "<U3"),
        (None, "object"),
        ([[0, 0, 0], [1, 2]], "no array"),
        (np.array([[None] * 3] * 3), "object"),
        (np.zeros((3, 3), "datetime64[s]"), "datetime64"),
        (5.0, r"shape \(\)"),
        ({}, "dtype object"),
    ],
)
def test_other_positions_are_named_with_shape_and_dtype(positions, part):
    with pytest.raises(pliant.InputError, match=part) as error:
        pliant.Mesh(positions, [[0, 1, 2]])
    assert "positions" in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "faces, part",
    [
        ([[0, 1, 99]], "99"),
        ([[0, 1, -1]], "-1"),
        ([[0, 1, 2**32]], "4294967296"),
        ([[0, 1, 2**63]], "9223372036854775808|float64"),
        (np.array([[0, 1, 2**64 - 1]], np.uint64), "18446744073709551615"),
        ([[0.0, 1.0, 2.0]], "float64"),
        ([[True, False, True]], "bool"),
        ([0, 1, 2], "faces"),
        ([[0, 1]], "2 corner"),
        ([[0, 1, 2], [0, 1, 2, "x"]], "face 1"),
        (np.zeros((2, 2, 3), int), r"shape \(2, 2, 3\)"),
    ],
)
def test_other_faces_are_named(faces, part):
    with pytest.raises(pliant.InputError, match=part):
        pliant.Mesh(POSITIONS, faces)


def test_polygons_of_several_sizes_are_lists():
    mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 2, 0]], [[0, 1, 2, 3], [3, 2, 4]])
    assert mesh.faces == [[0, 1, 2, 3], [3, 2, 4]]
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [3, 2, 4]]
    assert mesh.triangle_faces.tolist() == [0, 0, 1]


def test_empty_lists_are_no_points_and_no_faces():
    mesh = pliant.Mesh([], [])
    assert mesh.vertex_count == 0 and mesh.positions.shape == (0, 3) and mesh.triangles.shape == (0, 3)
    with pytest.raises(pliant.InputError):
        pliant.HeatGeodesics(mesh)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_positions_that_are_not_finite_are_declined_by_solvers(bad):
    positions = POSITIONS.copy()
    positions[3, 1] = bad
    mesh = pliant.Mesh(positions, FACES)
    for solver in (pliant.HeatGeodesics, pliant.ExactGeodesics, pliant.SurfaceIndex, pliant.SurfaceGradient, pliant.DeformationGradients):
        with pytest.raises(pliant.InputError, match="NaN|finite"):
            solver(mesh)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_deltas_of_any_float_type_are_stored_in_single_precision(dtype):
    positions, faces, deltas, names = random_rig()
    deltas = deltas.astype(dtype)
    assert np.array_equal(pliant.Rig(positions, faces, deltas, names).deltas, deltas.astype(np.float32))


@pytest.mark.parametrize("shape", [(2, 25), (2, 24, 3), (25, 3), (2, 25, 2)])
def test_deltas_of_another_shape_are_declined(shape):
    with pytest.raises(pliant.InputError, match="deltas"):
        pliant.Rig(POSITIONS, FACES, np.zeros(shape), ["a", "b"])


def test_deltas_that_are_not_finite_are_declined():
    positions, faces, deltas, names = random_rig()
    deltas[2, 3, 1] = np.nan
    with pytest.raises(pliant.InputError):
        pliant.Rig(positions, faces, deltas, names).poser()


def test_errors_are_value_errors():
    with pytest.raises(ValueError):
        pliant.Mesh(np.zeros((3, 2)), [[0, 1, 2]])
    assert issubclass(pliant.FileError, OSError) and issubclass(pliant.InputError, pliant.Error)


def test_arrays_of_other_libraries_are_accepted():
    class Own:
        def __array__(self, dtype=None, copy=None):
            return POSITIONS if dtype is None else POSITIONS.astype(dtype)

    assert np.array_equal(pliant.Mesh(Own(), FACES).positions, POSITIONS)


class Tensor:
    """What becomes an array, as tensors of torch or jax do, and is slow or misleading to go through."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype=dtype)

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        raise AssertionError("read as an array, not row by row")


def test_objects_that_become_arrays_are_read_at_once():
    mesh = pliant.Mesh(Tensor(POSITIONS), Tensor(FACES))
    assert np.array_equal(mesh.positions, POSITIONS) and np.array_equal(mesh.triangles, FACES)


def test_the_reason_why_an_object_becomes_no_array_is_passed_on():
    class OnDevice:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")

    with pytest.raises(pliant.InputError, match=r"positions: .*OnDevice.*Use Tensor\.cpu\(\) first"):
        pliant.Mesh(OnDevice(), FACES)
    with pytest.raises(pliant.InputError, match=r"faces: .*OnDevice"):
        pliant.Mesh(POSITIONS, OnDevice())


def test_masked_entries_are_declined_and_empty_masks_are_not():
    masked = np.ma.array(POSITIONS, mask=False)
    assert np.array_equal(pliant.Mesh(masked, FACES).positions, POSITIONS)
    masked[3] = np.ma.masked
    with pytest.raises(pliant.InputError, match="positions.*masked.*filled"):
        pliant.Mesh(masked, FACES)
    assert np.array_equal(pliant.Mesh(masked.filled(0.0), FACES).positions[3], np.zeros(3))


def test_a_clip_is_a_sequence_of_its_frames():
    mesh = pliant.Mesh(POSITIONS, FACES)
    frames = POSITIONS + np.arange(3.0)[:, None, None]
    clip = pliant.Clip(mesh, frames)
    assert np.array_equal(np.array(list(clip)), frames)
    assert np.array_equal(clip[-1], frames[2]) and np.array_equal(clip[-3], frames[0])
    for beyond in (3, -4, 2**62, -(2**62)):
        with pytest.raises(IndexError, match="has 3, counted from 0"):
            clip[beyond]
