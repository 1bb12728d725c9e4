"""Every argument of every call with input that cannot be used: one clear line, never a defect, nothing changed."""

import inspect

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig

N = 49
POSITIONS, FACES = bumpy_sheet(6)
_, _, DELTAS, NAMES = random_rig(4)
MESH = pliant.Mesh(POSITIONS, FACES)
RIG = pliant.Rig(POSITIONS, FACES, DELTAS, NAMES)
OTHER = MESH.posed(POSITIONS * [1.2, 1, 1])
FRAMES = POSITIONS + np.linspace(0, 1, 5)[:, None, None] * DELTAS[0]
CLIP = pliant.Clip(MESH, FRAMES)
TRIANGLES = len(FACES)
PAIRS = np.array([[0, 0], [6, 6], [42, 42], [48, 48]])
LAPLACIAN, MASS = pliant.laplacian(MESH)
SPD = pliant.SparseMatrix([2.0] * N, np.arange(N), np.arange(N + 1), N)
MODEL = pliant.Model.train(CLIP, [0, 6, 42, 48], method="arap")
SHARED = {
    "heat": pliant.HeatGeodesics(MESH),
    "exact": pliant.ExactGeodesics(MESH),
    "index": pliant.SurfaceIndex(MESH),
    "gradient": pliant.SurfaceGradient(MESH),
    "deformation": pliant.DeformationGradients(MESH),
    "subdivision": pliant.LoopSubdivision(MESH, 1),
    "coarse": pliant.Decimation(MESH, vertices=20),
    "poser": RIG.poser(),
    "grab": RIG.poser().grab([0, 48], solver="pinv"),
    "solver": pliant.SpdSolver(SPD),
    "fit": pliant.LeastSquares(SPD, soft={0: 1.0}),
    "layer": pliant.ResidualLayer(MESH, [24]),
    "map": pliant.Correspondence(MESH, OTHER, method="identity"),
    "sphere": pliant.Obstacle.sphere([0, 0, 1], 0.2),
    "blend": pliant.Blend([MESH, OTHER]),
    "prior": pliant.PosePrior(np.eye(4), NAMES),
    "camera": pliant.SketchCamera([0.5, 0.5, 3], [0.5, 0.5, 0]),
    "touch": pliant.Touch(MESH, [(24, 0.3)], colliders=[pliant.Obstacle.sphere([0.5, 0.5, 1], 0.1)]),
}
JOINTS = [{"name": str(k), "control": k, **({"parent": str(k - 1)} if k else {}), "effector": k == 3} for k in range(4)]
SHARED |= {
    "quadratic": pliant.BoxQuadratic(np.eye(4) + 0.1),
    "smoother": pliant.Smoother(MESH),
    "rig blend": pliant.RigBlend(RIG),
    "ik": pliant.IkSolver(MODEL, {"joints": JOINTS, "natural": "rest"}),
    "track": pliant.MarkerTrack(list("abcd"), FRAMES[:, [0, 6, 42, 48]]),
}
RESIDUAL = SHARED["layer"].solve([[0, 0, 0.1]])
STROKE = np.array([[200.0, 240.0], [320.0, 260.0], [420.0, 240.0]])

# The call, and the kind of each argument that is an array: its good value decides its shape.
CALLS = {
    "Mesh": (lambda **a: pliant.Mesh(**a), {"positions": POSITIONS, "faces": FACES}),
    "Mesh.posed": (MESH.posed, {"positions": POSITIONS}),
    "Mesh.vertex_means": (MESH.vertex_means, {"of_triangles": np.ones(TRIANGLES)}),
    "Clip": (lambda **a: pliant.Clip(MESH, **a), {"frames": FRAMES}),
    "Rig": (lambda **a: pliant.Rig(names=NAMES, **a), {"positions": POSITIONS, "faces": FACES, "deltas": DELTAS}),
    "Rig.limits": (RIG.with_limits, {"limits": np.tile([0.0, 1.0], (4, 1))}),
    "Rig.evaluate": (RIG.evaluate, {"weights": np.full(4, 0.5)}),
    "Rig.evaluate frames": (RIG.evaluate, {"weights": np.full((3, 4), 0.5)}),
    "Rig.mirror_weights": (RIG.mirror_weights, {"weights": np.full(4, 0.5)}),
    "Pin": (lambda **a: pliant.Pin(0, **a), {"displacement": np.array([0.0, 0, 0.1])}),
    "Pin across": (lambda **a: pliant.Pin(0, **a), {"across": np.array([0.0, 0, 1])}),
    "Pin curve": (lambda **a: pliant.Pin(0, **a), {"curve": POSITIONS[:4]}),
    "Poser.grab": (lambda **a: SHARED["poser"].grab([0], **a), {"weights": np.zeros(4), "protected": np.array([5, 6])}),
    "Grab.solve": (SHARED["grab"].solve, {"displacements": np.array([[0, 0, 0.1], [0, 0, 0]])}),
    "Grab.step": (lambda **a: SHARED["grab"].step(step=0.1, **a), {"displacements": np.array([[0, 0, 0.1], [0, 0, 0]])}),
    "PosePrior": (lambda **a: pliant.PosePrior(names=NAMES, **a), {"weights": np.eye(4)}),
    "PosePrior.energy": (SHARED["prior"].energy, {"weights": np.zeros(4)}),
    "SketchCamera": (pliant.SketchCamera, {"eye": np.array([0.0, 0, 3]), "target": np.zeros(3), "up": np.array([0.0, 1, 0])}),
    "SketchCamera.project": (SHARED["camera"].project, {"point": np.zeros(3)}),
    "SketchedPose": (lambda **a: pliant.SketchedPose(RIG, **a), {"weights": np.zeros(4)}),
    "SketchedPose.draw": (lambda **a: pliant.SketchedPose(RIG).draw(camera=SHARED["camera"], **a), {"stroke": STROKE}),
    "ResidualLayer": (lambda **a: pliant.ResidualLayer(MESH, **a), {"pins": np.array([24])}),
    "ResidualLayer.solve": (SHARED["layer"].solve, {"residuals": np.array([[0, 0, 0.1]])}),
    "Residual.apply": (RESIDUAL.apply, {"positions": POSITIONS}),
    "HeatGeodesics": (SHARED["heat"].distances, {"sources": np.array([0, 5])}),
    "ExactGeodesics": (SHARED["exact"].distances, {"sources": np.array([0, 5])}),
    "ExactGeodesics.disc": (lambda **a: SHARED["exact"].disc(radius=0.3, **a), {"sources": np.array([0, 5])}),
    "SurfaceIndex.closest_points": (SHARED["index"].closest_points, {"queries": POSITIONS + 0.1}),
    "SurfaceIndex.winding_numbers": (SHARED["index"].winding_numbers, {"queries": POSITIONS + 0.1}),
    "SurfaceIndex.cast_rays": (SHARED["index"].cast_rays, {"origins": POSITIONS + [0, 0, 1], "directions": np.tile([0.0, 0, -1], (N, 1))}),
    "SurfaceGradient.gradient": (SHARED["gradient"].gradient, {"function": np.ones(N)}),
    "SurfaceGradient.divergence": (SHARED["gradient"].divergence, {"field": np.ones((TRIANGLES, 3))}),
    "DeformationGradients.at": (SHARED["deformation"].at, {"positions": POSITIONS}),
    "LoopSubdivision.apply": (SHARED["subdivision"].apply, {"positions": POSITIONS}),
    "Decimation": (lambda **a: pliant.Decimation(MESH, vertices=20, **a), {"poses": FRAMES, "kept": np.array([0, 6])}),
    "Decimation.prolong": (SHARED["coarse"].prolong, {"coarse": SHARED["coarse"].mesh.positions}),
    "SparseMatrix": (
        lambda **a: pliant.SparseMatrix(columns=N, **a),
        {"data": np.full(N, 2.0), "indices": np.arange(N), "indptr": np.arange(N + 1)},
    ),
    "SparseMatrix @": (lambda x: LAPLACIAN @ x, {"x": np.ones(N)}),
    "SpdSolver.solve": (SHARED["solver"].solve, {"rhs": np.ones(N)}),
    "LeastSquares": (lambda **a: pliant.LeastSquares(SPD, **a), {"hard": np.array([3, 4])}),
    "LeastSquares.solve": (SHARED["fit"].solve, {"b": np.ones(N), "soft_targets": np.ones(1)}),
    "Obstacle.sphere": (lambda **a: pliant.Obstacle.sphere(radius=0.1, **a), {"center": np.zeros(3)}),
    "Obstacle.capsule": (lambda **a: pliant.Obstacle.capsule(radius=0.1, **a), {"start": np.zeros(3), "end": np.ones(3)}),
    "Obstacle.cuboid": (pliant.Obstacle.cuboid, {"center": np.zeros(3), "sides": np.ones(3)}),
    "Obstacle.contacts": (SHARED["sphere"].contacts, {"positions": POSITIONS}),
    "Blend": (lambda **a: pliant.Blend([MESH, OTHER], **a), {"anchor": np.array([0, 1, 2]), "fixed": np.array([0, 1, 2]), "stiffness": np.ones(N)}),
    "Blend.at": (SHARED["blend"].at, {"weights": np.array([0.5, 0.5])}),
    "Blend.clip": (SHARED["blend"].clip, {"weights": np.array([[0.5, 0.5], [0.25, 0.75]])}),
    "Touch": (lambda **a: pliant.Touch(MESH, [(24, 0.3)], **a), {"gravity": np.array([0.0, 0, -9.81]), "pins": np.array([24])}),
    "Touch.step": (lambda **a: SHARED["touch"].step(1 / 60, **a), {"shape": POSITIONS, "colliders": np.eye(4)[None]}),
    "Correspondence": (lambda **a: pliant.Correspondence(MESH, OTHER, **a), {"markers": PAIRS}),
    "Correspondence.carry": (SHARED["map"].carry, {"values": np.ones(TRIANGLES)}),
    "transfer_shapes": (lambda **a: pliant.transfer_shapes(RIG, OTHER, **a), {"markers": PAIRS}),
    "transfer_clip": (lambda **a: pliant.transfer_clip(CLIP, OTHER, **a), {"markers": PAIRS}),
    "check_markers": (lambda **a: pliant.check_markers(MESH, OTHER, **a), {"markers": PAIRS}),
    "Model.train": (lambda **a: pliant.Model.train(CLIP, method="arap", **a), {"control": np.array([0, 6, 42, 48])}),
    "Model.drive": (MODEL.drive, {"control": POSITIONS[[0, 6, 42, 48]]}),
    "Model.drive_clip": (MODEL.drive_clip, {"control": FRAMES[:, [0, 6, 42, 48]]}),
    "BoxQuadratic": (pliant.BoxQuadratic, {"hessian": np.eye(4) + 0.1}),
    "BoxQuadratic.solve": (
        SHARED["quadratic"].solve,
        {"linear": np.ones(4), "lower": np.zeros(4), "upper": np.ones(4), "penalties": np.full(4, 0.1)},
    ),
    "Smoother.smooth": (SHARED["smoother"].smooth, {"positions": POSITIONS}),
    "RigBlend": (lambda **a: pliant.RigBlend(RIG, **a), {"poses": np.full((2, 4), 0.5)}),
    "RigBlend.at": (SHARED["rig blend"].at, {"weights": np.full(4, 0.1)}),
    "IkSolver.solve": (SHARED["ik"].solve, {"goals": POSITIONS[[48]]}),
    "IkSolver.solve_all": (SHARED["ik"].solve_all, {"goals": FRAMES[:, [48]]}),
    "MarkerTrack": (lambda **a: pliant.MarkerTrack(list("abcd"), **a), {"frames": FRAMES[:, [0, 6, 42, 48]]}),
    "Model.compare": (lambda **a: pliant.Model.compare(CLIP, methods=["arap"], **a), {"control": np.array([0, 6, 42, 48])}),
    "render weights": (lambda **a: pliant.render(RIG, size=(32, 24), **a), {"weights": np.full(4, 0.5)}),
    "render": (lambda **a: pliant.render(MESH, size=(32, 24), **a), {"values": np.ones(N)}),
}

ARGUMENTS = [(name, argument) for name, (_, good) in CALLS.items() for argument in good]
DECLINED = (pliant.InputError, TypeError, ValueError, OverflowError)


def call(name, **changed):
    function, good = CALLS[name]
    optional = {"Poser.grab", "Decimation", "Blend", "Touch"} if changed else set()
    # Arguments that exclude or hide each other are given one at a time.
    given = {k: v for k, v in good.items() if name not in optional or k in changed}
    return function(**{**given, **changed})


# Polygons may have any number of corners, and a solver takes several columns.
OTHER_SHAPES_ARE_GOOD = {("Mesh", "faces"), ("Rig", "faces"), ("SpdSolver.solve", "rhs"), ("Rig.evaluate", "weights")}


def wrong_shapes(good, other_shapes_are_good):
    """Arrays that have another shape than any good value of the argument could have."""
    yield np.zeros((2, 2, 2, 2))
    if not other_shapes_are_good:
        yield np.zeros((*good.shape, 2))
        yield [[1, 2], [3]]
    if good.ndim > 1 and not other_shapes_are_good:
        yield np.zeros((*good.shape[:-1], good.shape[-1] + 1)).astype(good.dtype)
        yield np.zeros((*good.shape[:-1], good.shape[-1] - 1)).astype(good.dtype)
    yield "text"
    yield object()
    yield {"a": 1}
    yield np.array(["a"] * len(good))
    yield np.full(good.shape, None)
    yield good.astype(complex)
    yield np.full(good.shape, "2020-01-01", dtype="datetime64[D]")


def hostile_values(good):
    """Values that no type forbids."""
    if good.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320):
            changed = good.copy()
            changed[(0,) * good.ndim] = value
            yield changed
            yield np.full(good.shape, value)
    else:
        for value in (-1, N, 2**31, 2**32, 2**63 - 1, -(2**63)):
            changed = good.astype(np.int64)
            changed[(0,) * good.ndim] = value
            yield changed
        yield np.array([2**64 - 1] * good.size, dtype=np.uint64).reshape(good.shape)
        yield good + 0.5
    yield good[:0]
    yield np.concatenate([good, good])
    yield good[: len(good) - 1]


def test_the_good_values_are_good():
    for name in CALLS:
        for argument in CALLS[name][1]:
            call(name, **{argument: CALLS[name][1][argument]})


@pytest.mark.parametrize("name, argument", ARGUMENTS)
def test_a_wrong_shape_or_type_is_declined_in_one_line(name, argument):
    for wrong in wrong_shapes(CALLS[name][1][argument], (name, argument) in OTHER_SHAPES_ARE_GOOD):
        with pytest.raises(DECLINED) as error:
            call(name, **{argument: wrong})
        assert not isinstance(error.value, pliant.DefectError), (wrong, error.value)
        assert "\n" not in str(error.value) and str(error.value), wrong


@pytest.mark.parametrize("name, argument", ARGUMENTS)
def test_hostile_values_give_a_result_or_one_line_and_never_a_defect(name, argument):
    for hostile in hostile_values(CALLS[name][1][argument]):
        before = hostile.copy()
        try:
            call(name, **{argument: hostile})
        except DECLINED as error:
            assert not isinstance(error, pliant.DefectError), (hostile, error)
            assert "\n" not in str(error) and str(error), hostile
        assert np.array_equal(before, hostile, equal_nan=hostile.dtype.kind == "f"), "the argument was changed"


def results(value):
    """The arrays in a result, however it holds them."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return [array for one in value.values() for array in results(one)]
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in results(one)]
    for attribute in ("positions", "weights", "frames"):
        if hasattr(value, attribute):
            found = getattr(value, attribute)
            return results(found() if callable(found) else found)
    return []


@pytest.mark.parametrize("name, argument", [one for one in ARGUMENTS if one[0] not in ("Touch.step", "Grab.step")])
def test_every_layout_of_an_array_gives_the_same_result(name, argument):
    good = CALLS[name][1][argument]
    expected = results(call(name, **{argument: good}))
    wide = np.zeros((*good.shape[:-1], 2 * good.shape[-1]), dtype=good.dtype)
    wide[..., ::2] = good
    read_only = good.copy()
    read_only.flags.writeable = False
    unaligned = np.frombuffer(b"x" + good.tobytes(), dtype=good.dtype, offset=1).reshape(good.shape)
    layouts = [np.asfortranarray(good), wide[..., ::2], read_only, unaligned, good[::-1].copy()[::-1], good.tolist()]
    layouts += [good.astype(good.dtype.newbyteorder(">"))]
    for layout in layouts:
        for a, b in zip(expected, results(call(name, **{argument: layout})), strict=True):
            assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def test_objects_of_other_classes_are_declined():
    for wrong in (None, 5, "mesh", [1], np.zeros(3), RIG):
        for function in (pliant.HeatGeodesics, pliant.laplacian, pliant.Blend, pliant.SurfaceIndex, pliant.flexibility):
            with pytest.raises(DECLINED):
                function(wrong)
    with pytest.raises(DECLINED):
        pliant.transfer_shapes(MESH, RIG)
    with pytest.raises(DECLINED):
        pliant.Inverter(RIG).invert(MESH)


def test_numbers_out_of_range_are_declined():
    attempts = [
        lambda: pliant.LoopSubdivision(MESH, 40),
        lambda: pliant.Decimation(MESH, vertices=-1),
        lambda: pliant.HeatGeodesics(MESH, time_factor=-1.0),
        lambda: pliant.HeatGeodesics(MESH, time_factor=float("nan")),
        lambda: pliant.Bones(CLIP, bones=0),
        lambda: pliant.Bones(CLIP, bones=10**9),
        lambda: pliant.Model.train(CLIP, 10**6),
        lambda: pliant.Model.train(CLIP, 4, beta=-1.0),
        lambda: pliant.Touch(MESH, [(24, -0.3)]),
        lambda: pliant.Touch(MESH, [(10**6, 0.3)]),
        lambda: pliant.Touch(MESH, [(24, float("nan"))]),
        lambda: pliant.Obstacle.sphere([0, 0, 0], -1),
        lambda: pliant.ResidualLayer(MESH, [24], radius=-1.0),
        lambda: pliant.Inverter(RIG, ridge=-1.0),
        lambda: pliant.render(MESH, size=(0, 10)),
        lambda: pliant.render(MESH, size=(10**6, 10**6)),
        lambda: pliant.SketchCamera([0, 0, 0], [0, 0, 0]),
        lambda: CLIP.mesh_at(99),
        lambda: pliant.Pin(2**40),
        lambda: SHARED["poser"].grab([N]),
        lambda: SHARED["poser"].grab([]),
        lambda: SHARED["blend"].clip(steps=0) and SHARED["blend"].at([2.0, 2.0]),
    ]
    for attempt in attempts:
        with pytest.raises(DECLINED) as error:
            attempt()
        assert not isinstance(error.value, pliant.DefectError), inspect.getsource(attempt)
        assert "\n" not in str(error.value)


def test_damaged_bytes_are_declined():
    for content in (MESH, RIG, CLIP, MODEL):
        stored = content.to_bytes()
        for damaged in (b"", stored[:20], stored[:-1], stored + b"x", stored[::-1], b"\xff" * 200):
            with pytest.raises(pliant.InputError) as error:
                type(content).from_bytes(damaged)
            assert "\n" not in str(error.value)


MESSAGES = [
    (lambda: SHARED["heat"].distances(-1), r"^sources is -1; indices count from 0"),
    (lambda: SHARED["heat"].distances(4.0), r"^sources is an array of shape \(\) and dtype float64; give integers"),
    (lambda: SHARED["exact"].distances(True), r"dtype bool; give integers"),
    (lambda: RIG.evaluate(np.full(4, np.nan)), rf"slider '{NAMES[0]}' is not finite"),
    (lambda: RIG.evaluate([[0, 0, 0, 0], [0, 0, np.inf, 0]]), rf"slider '{NAMES[2]}' is not finite"),
    (lambda: RIG.evaluate({NAMES[1]: float("nan")}), rf"slider '{NAMES[1]}' is not finite"),
    (lambda: RIG.evaluate({NAMES[1]: "0.5"}), rf"the weight of '{NAMES[1]}' is a str; give a number"),
    (lambda: RIG.evaluate({3: 0.5}), r"weights has the key 3; keys are names of sliders"),
    (lambda: pliant.Rig(POSITIONS, FACES, DELTAS * np.nan, NAMES), rf"'{NAMES[0]}'"),
    (lambda: pliant.Rig(POSITIONS, FACES, DELTAS + 1e39, NAMES), rf"'{NAMES[0]}'"),
    (lambda: pliant.Rig(POSITIONS * np.inf, FACES, DELTAS, NAMES), r"vertex \d+ has a coordinate"),
    (lambda: pliant.check_markers(MESH, OTHER, [1, 2, 3]), r"^markers is an array of shape \(3,\).*give n × 2 indices"),
    (lambda: pliant.check_markers(MESH, OTHER, [[1.0, 2.0]]), r"^markers is an array.*float64; give integers"),
    (lambda: pliant.SpdSolver(np.eye(3)), r"^the matrix is a ndarray; give a SparseMatrix or a sparse matrix of scipy"),
]


@pytest.mark.parametrize("call, message", MESSAGES)
def test_messages_name_the_argument_and_what_to_give(call, message):
    with pytest.raises(pliant.InputError, match=message):
        call()


def test_messages_name_keywords_instead_of_options_of_the_command_line(tmp_path):
    path = tmp_path / "take.csv"
    path.write_text("Timecode,BlendshapeCount,JawOpen\n" + "".join(f"01:00:00:{k:02d}.000,1,0.5\n" for k in range(30)))
    take = pliant.Performance.load(path)
    assert any("(timecode_rate= sets it)" in note for note in take.notes), take.notes
    with pytest.raises(pliant.Error) as error:
        pliant.Performance.load(path, timecode_rate=24)
    assert "--" not in str(error.value) and "timecode_rate=" in str(error.value), error.value


def test_dashes_in_paths_stay(tmp_path):
    for name in ("a--b.obj", "--take-fps.obj", "a --- b.obj"):
        with pytest.raises(pliant.FileError) as error:
            pliant.load(tmp_path / name)
        assert name in str(error.value)
