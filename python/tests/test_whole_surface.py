"""What the command line does beyond meshes and poses: rig blends, maps, markers, live packets, inverse kinematics."""

import itertools
import json
import math

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, octahedron_sphere, sheet


def lowest_in_box(hessian, linear, lower, upper, penalties):
    """The minimum over all ways to fix variables at limits or zero, and to choose signs for the others."""
    size = len(linear)
    best, best_value = None, np.inf
    for choice in itertools.product(["low", "zero", "high", "+", "-"], repeat=size):
        x = np.zeros(size)
        free = [k for k in range(size) if choice[k] in "+-"]
        x[[k for k in range(size) if choice[k] == "low"]] = lower[[k for k in range(size) if choice[k] == "low"]]
        x[[k for k in range(size) if choice[k] == "high"]] = upper[[k for k in range(size) if choice[k] == "high"]]
        if free:
            signs = np.array([1.0 if choice[k] == "+" else -1.0 for k in free])
            rhs = (linear - hessian @ x)[free] - penalties[free] * signs
            x[free] = np.linalg.solve(hessian[np.ix_(free, free)], rhs)
        if np.any(x < lower - 1e-12) or np.any(x > upper + 1e-12):
            continue
        value = 0.5 * x @ hessian @ x - linear @ x + penalties @ np.abs(x)
        if value < best_value:
            best, best_value = x, value
    return best


@pytest.mark.parametrize("seed", range(6))
def test_a_box_quadratic_is_solved_as_by_trying_all_active_sets(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 6))
    hessian = root @ root.T + 0.1 * np.eye(4)
    linear, penalties = rng.normal(size=4) * 3, rng.uniform(0, 0.5, 4)
    lower, upper = np.array([0.0, -0.2, -1.0, 0.0]), np.array([1.0, 0.3, 1.0, 0.5])
    x, kkt = pliant.BoxQuadratic(hessian).solve(linear, lower=lower, upper=upper, penalties=penalties)
    assert np.allclose(x, lowest_in_box(hessian, linear, lower, upper, penalties), atol=1e-10) and kkt < 1e-9


def test_a_box_quadratic_without_limits_is_a_linear_system():
    rng = np.random.default_rng(2)
    root = rng.normal(size=(5, 9))
    hessian, linear = root @ root.T, rng.normal(size=5)
    x, _ = pliant.BoxQuadratic(hessian).solve(linear)
    assert np.allclose(x, np.linalg.solve(hessian, linear))


@pytest.mark.parametrize("hessian", [[[1, 2], [0, 1]], [[1, 0]], [[-1, 0], [0, 1]], [[np.nan]], "x"])
def test_what_is_no_quadratic_is_declined(hessian):
    with pytest.raises(pliant.InputError):
        pliant.BoxQuadratic(hessian)


@pytest.mark.parametrize("options", [{"lower": [1, 1], "upper": [0, 2]}, {"penalties": [-1, 0]}, {"lower": [np.nan, 0]}, {"upper": [1]}])
def test_limits_that_are_none_are_declined(options):
    with pytest.raises(pliant.InputError):
        pliant.BoxQuadratic(np.eye(2)).solve([1.0, 1.0], **options)


def neighbours(mesh):
    around = [set() for _ in range(mesh.vertex_count)]
    for a, b, c in mesh.triangles:
        around[a] |= {b, c}
        around[b] |= {a, c}
        around[c] |= {a, b}
    return around


@pytest.mark.parametrize("step", [0.5, 0.2])
def test_smoothing_moves_vertices_to_the_mean_of_their_neighbours(step):
    mesh = pliant.Mesh(*octahedron_sphere(2))
    rng = np.random.default_rng(1)
    positions = mesh.positions + rng.normal(size=mesh.positions.shape) * 0.05
    expected = positions
    for _ in range(3):
        means = np.array([expected[sorted(around)].mean(axis=0) for around in neighbours(mesh)])
        expected = expected + step * (means - expected)
    assert np.allclose(pliant.Smoother(mesh, iterations=3, step=step).smooth(positions), expected, atol=1e-12)


def test_a_pass_band_keeps_the_volume():
    mesh = pliant.Mesh(*octahedron_sphere(4))
    volumes = [
        mesh.posed(pliant.Smoother(mesh, iterations=20, pass_band=band).smooth(mesh.positions)).signed_volume()
        for band in (None, 0.1)
    ]
    before = mesh.signed_volume()
    assert abs(volumes[1] - before) < 0.05 * abs(volumes[0] - before)


def test_an_edge_path_is_as_short_as_dijkstras():
    mesh = pliant.Mesh(*bumpy_sheet(6))
    positions, around = mesh.positions, neighbours(mesh)
    distance = np.full(mesh.vertex_count, np.inf)
    distance[0] = 0.0
    left = set(range(mesh.vertex_count))
    while left:
        v = min(left, key=lambda k: distance[k])
        left.remove(v)
        for w in around[v]:
            distance[w] = min(distance[w], distance[v] + np.linalg.norm(positions[v] - positions[w]))
    for end in (3, 27, 48):
        path = pliant.edge_path(mesh, 0, end)
        assert path[0] == 0 and path[-1] == end
        length = np.linalg.norm(np.diff(positions[path], axis=0), axis=1).sum()
        assert np.isclose(length, distance[end], rtol=1e-12)


def test_there_is_no_edge_path_between_components():
    positions, faces = sheet(1)
    both = pliant.Mesh(np.concatenate([positions, positions + 5]), np.concatenate([faces, faces + 4]))
    assert pliant.edge_path(both, 0, 5) is None
    with pytest.raises(pliant.InputError, match="vertex 8"):
        pliant.edge_path(both, 0, 8)


@pytest.fixture(scope="module")
def bending():
    rest = pliant.load("specimen:bar:coarse").mesh()
    bent = pliant.load("specimen:bar:coarse#bend@24").mesh()
    return pliant.Rig(rest.positions, rest.faces, [bent.positions - rest.positions], ["bend"])


def test_a_rig_blend_is_the_blend_of_neutral_and_targets(bending):
    rest = bending.neutral
    full = rest.posed(bending.evaluate([1.0]))
    blend = pliant.RigBlend(bending)
    assert np.allclose(blend.at([1.0]).positions, full.positions, atol=1e-6)
    assert np.allclose(blend.at({}).positions, rest.positions, atol=1e-9)
    of_shapes = pliant.Blend([rest, full]).at([0.6, 0.4]).positions
    assert np.allclose(blend.at({"bend": 0.4}).positions, of_shapes, atol=1e-6 * np.ptp(rest.positions))
    linear = rest.posed(bending.evaluate([0.5])).signed_volume()
    assert abs(blend.at([0.5]).volume - rest.signed_volume()) < abs(linear - rest.signed_volume())


def test_a_rig_blend_of_some_poses_ignores_other_shapes(bending):
    deltas = np.concatenate([bending.deltas, bending.deltas * 0.5])
    rig = pliant.Rig(bending.positions, bending.neutral.faces, deltas, ["bend", "other"])
    blend = pliant.RigBlend(rig, poses=[[0.3, 0.0]])
    assert np.allclose(blend.at([0.0, 0.7]).positions, rig.positions, atol=1e-6)
    with pytest.raises(pliant.InputError, match="poses"):
        pliant.RigBlend(rig, poses=[[0.3]])


def test_none_takes_the_interior_away(bending):
    shapes = [bending.neutral, bending.neutral.posed(bending.evaluate([1.0]))]
    assert len(pliant.Blend(shapes).at([0.5, 0.5]).interior) > 0
    assert len(pliant.Blend(shapes, interior=None).at([0.5, 0.5]).interior) == 0
    for wrong in ({"interior": "some"}, {"interior": -1.0}, {"cage": 1.5}, {"cage": []}):
        with pytest.raises(pliant.InputError):
            pliant.Blend(shapes, **wrong)


def test_pictures_show_weights_and_materials(head):
    asset = pliant.load("specimen:head")
    posed = head.neutral.posed(head.evaluate({"jawOpen": 1.0}))
    plain = {"size": (120, 100), "view": "front"}
    of_mesh = pliant.render(posed, **plain)
    assert np.array_equal(pliant.render(head, weights={"jawOpen": 1.0}, **plain), of_mesh)
    assert np.array_equal(pliant.render(asset, weights={"jawOpen": 1.0}, clay=True, **plain), of_mesh)
    assert not np.array_equal(of_mesh, pliant.render(head, **plain))
    for wrong in ({"content": 5}, {"content": posed, "weights": [1.0]}, {"content": posed, "isolines": 0.0}):
        with pytest.raises(pliant.InputError):
            pliant.render(**wrong)


def test_a_turntable_turns_once(tmp_path):
    bar = pliant.load("specimen:bar:coarse")
    frames = pliant.turntable(bar, frames=4, size=(80, 60), view="front")
    assert frames.shape == (4, 60, 80, 3) and len({frame.tobytes() for frame in frames}) == 4
    pliant.save_picture(tmp_path / "turn.png", frames, frames_per_second=10)
    assert b"acTL" in (tmp_path / "turn.png").read_bytes()[:100]
    with pytest.raises(pliant.InputError):
        pliant.turntable(bar, frames=0)


def textured_sheet(path, n=8):
    """A flat sheet whose texture coordinates are its x and y."""
    positions, faces = sheet(n)
    lines = [f"v {x} {y} {z}" for x, y, z in positions] + [f"vt {x} {y}" for x, y, _ in positions]
    lines += ["f " + " ".join(f"{v + 1}/{v + 1}" for v in face) for face in faces]
    path.write_text("\n".join(lines))
    return pliant.load(path)


def test_a_baked_ramp_is_a_ramp(tmp_path):
    asset = textured_sheet(tmp_path / "sheet.obj")
    base = asset.mesh().positions
    detailed = base + np.outer(0.3 * base[:, 0], [0, 0, 1])
    baker = pliant.Baker(asset, size=32, padding=0)
    heights, normals = baker.bake(base, detailed)
    u = (np.arange(32) + 0.5) / 32
    assert np.allclose(heights, np.broadcast_to(0.3 * u, (32, 32)), atol=1e-5) and baker.coverage == 1.0
    slope = np.array([-0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    assert np.abs(normals[8:24, 8:24] / 127.5 - 1.0 - slope).max() < 0.02


def test_baking_declines_meshes_without_coordinates_and_other_poses(tmp_path):
    with pytest.raises(pliant.InputError):
        pliant.Baker(pliant.Asset(pliant.Mesh(*sheet(2))), size=16)
    baker = pliant.Baker(textured_sheet(tmp_path / "sheet.obj"), size=16)
    with pytest.raises(pliant.InputError):
        baker.bake(np.zeros((3, 3)), np.zeros((3, 3)))


def test_the_weight_curves_of_an_asset_are_a_performance(tmp_path, head):
    wave = np.sin(np.linspace(0, 3, 20)) ** 2
    take = pliant.Performance({"jawOpen": wave, "browInnerUp": wave[::-1]}, frames_per_second=24)
    pliant.save(tmp_path / "talk.glb", pliant.load("specimen:head").play(take).asset)
    back = pliant.load(tmp_path / "talk.glb").performance()
    values = dict(zip(back.channels, back.values.T))
    assert np.allclose(values["jawOpen"], wave, atol=1e-6) and np.allclose(values["browInnerUp"], wave[::-1], atol=1e-6)
    with pytest.raises((pliant.FileError, pliant.InputError)):
        pliant.load("specimen:bar:coarse").performance()


def test_pruning_removes_short_displacements(head):
    lengths = np.linalg.norm(head.deltas, axis=2)
    shortest = float(np.quantile(lengths[lengths > 0], 0.5))
    pruned = pliant.load("specimen:head").pruned(shortest).rig().deltas
    expected = np.where((lengths < shortest)[..., None], 0.0, head.deltas)
    assert np.allclose(pruned, expected, atol=1e-12)
    with pytest.raises(pliant.InputError):
        pliant.load("specimen:head").pruned(-1.0)


def test_a_clip_becomes_few_shapes_within_the_tolerance():
    walk = pliant.load("specimen:hound#walk")
    frames = walk.clip().frames
    baked = walk.with_clip_as_shapes(tolerance=1e-3)
    weights = baked.performance()
    rig = baked.rig()
    columns = [weights.channels.index(name) for name in rig.names]
    found = rig.evaluate(weights.values[:, columns])
    diagonal = np.linalg.norm(np.ptp(rig.positions, axis=0))
    assert len(rig) <= len(frames) and np.linalg.norm(found - frames, axis=2).max() <= 1.01e-3 * diagonal


def test_a_skin_reproduces_its_clip_in_numpy(tmp_path):
    bend = pliant.load("specimen:bar:coarse#bend").clip()
    bones = pliant.Bones(bend, bones=4)
    pliant.save(tmp_path / "bar.glb", bones.to_asset(bend))
    back = pliant.load(tmp_path / "bar.glb")
    skin = back.skin(back.objects[0])
    assert len(skin["names"]) == len(skin["parents"]) == len(skin["bind"])
    assert np.allclose(skin["weights"].sum(axis=1), 1.0, atol=1e-6)

    points = np.concatenate([bend.reference.positions, np.ones((bend.reference.vertex_count, 1))], axis=1)
    posed = np.einsum("vb,fbij,vj->fvi", bones.weights, bones.transforms, points)[..., :3]
    assert np.allclose(posed, bones.reconstruction(), atol=1e-9)
    assert np.allclose(posed, back.clip().frames, atol=1e-4)
    assert pliant.load("specimen:bar:coarse").skin(pliant.load("specimen:bar:coarse").objects[0]) is None
    with pytest.raises(pliant.InputError, match="nothing"):
        back.skin("nothing")


def test_methods_are_compared_on_the_same_frames_with_an_exact_sign_test():
    bend = pliant.load("specimen:bar:coarse#bend").clip()
    clip = pliant.Clip(bend.reference, bend.frames[::6])
    found = pliant.Model.compare(clip, 6, ["arap", "meshik"])
    for method in ("arap", "meshik"):
        assert np.allclose(found["errors"][method], pliant.Model.validate(clip, 6, method=method), rtol=1e-9)
    first, second = found["errors"]["arap"], found["errors"]["meshik"]
    test = found["tests"]["meshik"]
    assert np.isclose(test["mean_difference"], (first - second).mean())
    n, lower = np.count_nonzero(first != second), np.count_nonzero(first < second)
    tail = sum(math.comb(n, k) for k in range(min(lower, n - lower) + 1)) / 2**n
    assert np.isclose(test["sign_p"], min(1.0, 2 * tail))
    with pytest.raises(pliant.InputError):
        pliant.Model.compare(clip, 6, [])


@pytest.fixture(scope="module")
def reach():
    """A bar with three control points along it, as a chain of two bones."""
    bend = pliant.load("specimen:bar:coarse#bend").clip()
    rest = bend.reference.positions
    along = int(np.argmax(np.ptp(rest, axis=0)))
    order = rest[:, along]
    ends = [int(np.argmin(np.abs(order - place))) for place in np.linspace(order.min(), order.max(), 3)]
    model = pliant.Model.train(pliant.Clip(bend.reference, bend.frames[::6]), ends, method="arap")
    joints = [
        {"name": "root", "control": 0},
        {"name": "middle", "parent": "root", "control": 1},
        {"name": "tip", "parent": "middle", "control": 2, "effector": True},
    ]
    return model, joints, rest[model.control_vertices]


def test_inverse_kinematics_reaches_goals_and_keeps_lengths(reach):
    model, joints, rest = reach
    ik = pliant.IkSolver(model, {"joints": joints, "natural": "rest"})
    lengths = np.linalg.norm(np.diff(rest, axis=0), axis=1)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    goal = rest[0] + 0.8 * (rest[2] - rest[0]) @ turn.T
    found = ik.solve([goal])
    assert np.allclose(found[2], goal, atol=1e-4) and np.allclose(found[0], rest[0])
    assert np.allclose(np.linalg.norm(np.diff(found, axis=0), axis=1), lengths, rtol=1e-6)
    assert np.allclose(ik.solve_all([[rest[2]], [goal]])[1][2], goal, atol=1e-4)
    assert model.drive(found).shape == model.reference.positions.shape


@pytest.mark.parametrize(
    "skeleton",
    [{"joints": []}, {"joints": [{"name": "a"}]}, {}, {"joints": [{"name": "a", "control": 99, "effector": True}]}, 5],
)
def test_skeletons_that_do_not_fit_are_declined(reach, skeleton):
    with pytest.raises(pliant.InputError):
        pliant.IkSolver(reach[0], skeleton)
    with pytest.raises(pliant.InputError):
        pliant.IkSolver(reach[0], {"joints": reach[1]}).solve([[0, 0, 0], [1, 1, 1]])


def test_markers_on_a_head_give_the_weights_that_moved_them(head):
    rng = np.random.default_rng(4)
    moving = np.linalg.norm(head.deltas, axis=2).max(axis=0)
    vertices = rng.choice(np.flatnonzero(moving > 0.2 * moving.max()), 60, replace=False)
    still = np.argsort(moving)[:6]
    vertices = np.concatenate([vertices, still])
    weights = np.zeros((8, len(head)))
    weights[:, head.names.index("jawOpen")] = np.linspace(0, 0.8, 8)
    weights[:, head.names.index("browInnerUp")] = np.linspace(0.5, 0, 8)
    weights[0] = 0.0
    poses = head.evaluate(weights)
    names = [f"m{k}" for k in range(len(vertices))]
    track = pliant.MarkerTrack(names, poses[:, vertices] * 10.0, frames_per_second=60)
    found = track.performance(head, dict(zip(names, vertices.tolist())), rest_frame=0)
    values = dict(zip(found.channels, found.values.T))
    assert np.abs(values["jawOpen"] - weights[:, head.names.index("jawOpen")]).max() < 0.05
    reached = head.evaluate(np.array([values[name] for name in head.names]).T)
    error = np.linalg.norm(reached[:, vertices] - poses[:, vertices], axis=2)
    assert error.mean() < 0.05 * np.linalg.norm(poses - head.positions, axis=2).max()


def test_markers_become_control_points_and_gaps_are_filled(reach):
    model, _, rest = reach
    t = np.linspace(0, 1, 9)[:, None, None]
    frames = rest + t * [0.0, 0.3, 0.0]
    seen = frames.copy()
    seen[4, 1] = np.nan
    track = pliant.MarkerTrack(["a", "b", "c"], seen, frames_per_second=30)
    assert np.isnan(track.frames[4, 1]).all() and len(track) == 9
    assert np.allclose(track.control_points(model), frames, atol=1e-6)
    swapped = pliant.MarkerTrack(["c", "a", "b"], frames[:, [2, 0, 1]])
    assert np.allclose(swapped.control_points(model, markers=["a", "b", "c"]), frames, atol=1e-9)
    with pytest.raises(pliant.InputError):
        track.control_points(model, markers=["a", "nobody", "c"])
    with pytest.raises(pliant.InputError):
        track.control_points(model, align="twice")


def test_a_marker_file_is_read(tmp_path):
    frames = np.random.default_rng(0).normal(size=(4, 3, 3))
    np.save(tmp_path / "take.npy", frames)
    assert np.allclose(pliant.MarkerTrack.load(tmp_path / "take.npy").frames, frames)
    with pytest.raises(pliant.FileError):
        pliant.MarkerTrack.load(tmp_path / "none.c3d")


def test_live_packets_move_sliders(head):
    session = pliant.LiveSession(head)
    jaw = head.names.index("jawOpen")
    for k in range(5):
        time, weights = session.receive(json.dumps({"time": k / 60, "jawOpen": 0.1 * k, "tail": 1.0}).encode(), k / 60)
        assert np.isclose(time, k / 60) and np.isclose(weights[jaw], 0.1 * k) and weights.shape == (len(head),)
    assert session.unmapped == ["tail"] and np.isclose(session.channels["jawOpen"], 0.4)
    assert session.receive(b"\x00nonsense", 1.0) is None and session.counts["unreadable"] == 1


def test_a_symmetric_rig_moves_both_sides_alike(head):
    symmetric = head.symmetric("left")
    left, right = symmetric.deltas[[symmetric.names.index(f"mouthSmile{side}") for side in ("Left", "Right")]]
    mirrored = pliant.Rig(head.positions, head.neutral.faces, left[None], ["x"]).mirror().deltas[0]
    assert np.allclose(mirrored, right, atol=1e-6) and np.allclose(left, head.deltas[head.names.index("mouthSmileLeft")])
    with pytest.raises(pliant.InputError):
        head.symmetric("up")


def test_a_detailed_model_drives_its_detail():
    hand = pliant.load("specimen:hand").clip()
    model = pliant.Model.train_detailed(hand, 24, method="arap", smoothing=3)
    control = hand.frames[2][model.control_vertices]
    smooth, fine = model.drive(control), model.drive(control, detailed=True)
    assert fine.shape == model.detailed_reference.positions.shape and not np.allclose(smooth, fine)
    error = [np.linalg.norm(found - hand.frames[2], axis=1).mean() for found in (smooth, fine)]
    assert error[1] < error[0]
    plain = pliant.Model.train(hand, 24, method="arap")
    assert plain.detailed_reference is None
    with pytest.raises(pliant.InputError):
        plain.drive(control, detailed=True)


def test_the_frames_of_a_clip_are_those_that_were_given():
    rng = np.random.default_rng(1)
    mesh = pliant.Mesh(*sheet(3))
    frames = rng.normal(size=(5, mesh.vertex_count, 3))
    assert np.array_equal(pliant.Clip(mesh, frames).frames, frames)
    assert pliant.Clip(mesh, np.empty((0, mesh.vertex_count, 3))).frames.shape == (0, mesh.vertex_count, 3)
    assert np.array_equal(pliant.Clip(mesh, list(frames.astype(np.float32))).frames, frames.astype(np.float32))
    with pytest.raises(pliant.InputError, match="16"):
        pliant.Clip(mesh, frames[:, :-1])
