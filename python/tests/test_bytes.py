"""Bytes and pickles: what comes back is what was stored, to the bit."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig


@pytest.fixture(scope="module")
def rig():
    positions, faces, deltas, names = random_rig()
    rig = pliant.Rig(positions / 3, faces, deltas, names, limits=np.tile([-0.25, 1.5], (5, 1)))
    return rig.with_locked(["t1"]).with_exclusive([["t0", "t2"]])


def test_a_rig_comes_back_to_the_bit(rig):
    for back in (pliant.Rig.from_bytes(rig.to_bytes()), pickle.loads(pickle.dumps(rig)), copy.deepcopy(rig)):
        assert np.array_equal(back.positions, rig.positions) and np.array_equal(back.deltas, rig.deltas)
        assert back.names == rig.names and np.array_equal(back.limits, rig.limits) and back.locked == rig.locked
        assert back.to_bytes() == rig.to_bytes()


def test_a_mesh_of_polygons_comes_back(rig):
    mesh = pliant.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0.5, 1 / 3]], [[0, 1, 2, 3], [1, 4, 2]], name="two")
    back = pickle.loads(pickle.dumps(mesh))
    assert back.faces == mesh.faces and back.name == "two" and np.array_equal(back.positions, mesh.positions)


def test_a_clip_comes_back(bumpy):
    frames = bumpy.positions + np.linspace(0, 1, 3)[:, None, None] / 3
    clip = pliant.Clip(bumpy, frames, name="take", frame_names=["a", "b", "c"], frames_per_second=29.97)
    back = pickle.loads(pickle.dumps(clip))
    assert np.array_equal(back.frames, clip.frames) and back.frame_names == clip.frame_names
    assert (back.name, back.frames_per_second) == ("take", 29.97)


def test_results_can_be_pickled(rig, bumpy):
    pose = rig.poser().grab([0, 5], solver="pinv").solve([[0, 0, 0.1], [0, 0, 0]])
    back = pickle.loads(pickle.dumps(pose))
    assert np.array_equal(back.weights, pose.weights) and np.array_equal(back.positions(), pose.positions())
    assert (back.method, back.active, back.at_limit) == (pose.method, pose.active, pose.at_limit)

    pin = pickle.loads(pickle.dumps(pliant.Pin(3, [0, 1, 0], along=[0, 0, 1], stiffness=2.0)))
    assert repr(pin) == repr(pliant.Pin(3, [0, 1, 0])) and pin.stiffness == 2.0

    matrix = pliant.laplacian(bumpy)[0]
    assert np.array_equal(pickle.loads(pickle.dumps(matrix)).data, matrix.data)

    frames = bumpy.positions + np.linspace(0, 1, 4)[:, None, None] * [0, 0, 1]
    bones = pliant.Bones(pliant.Clip(bumpy, frames), bones=2)
    back = pickle.loads(pickle.dumps(bones))
    assert np.allclose(back.weights, bones.weights, atol=1e-15) and np.array_equal(back.transforms, bones.transforms)
    assert back.rms == bones.rms and np.allclose(back.reconstruction(), bones.reconstruction(), atol=1e-14)

    inverse = pliant.Inverter(rig).invert(pliant.Clip(rig.neutral, rig.evaluate(np.full((4, 5), 0.3))))
    back = pickle.loads(pickle.dumps(inverse))
    assert np.array_equal(back.weights, inverse.weights) and back.report() == inverse.report()

    half = pliant.Blend([bumpy, bumpy.posed(bumpy.positions * [1.2, 1, 1])]).at([0.5, 0.5])
    back = pickle.loads(pickle.dumps(half))
    assert np.array_equal(back.positions, half.positions) and (back.area, back.converged) == (half.area, half.converged)


def test_another_process_uses_what_was_pickled(tmp_path, rig):
    path = tmp_path / "rig.pickle"
    path.write_bytes(pickle.dumps(rig))
    text = f"import pickle; print(pickle.load(open({str(path)!r}, 'rb')).evaluate([0.5] * 5).sum())"
    shown = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    assert float(shown) == rig.evaluate(np.full(5, 0.5)).sum()


def test_bytes_of_another_kind_are_declined(rig, bumpy):
    with pytest.raises(pliant.InputError, match="a mesh"):
        pliant.Mesh.from_bytes(rig.to_bytes())
    with pytest.raises(pliant.InputError, match="a rig"):
        pliant.Rig.from_bytes(b"something else")
