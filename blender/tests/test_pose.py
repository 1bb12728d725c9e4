"""Drag, pins, locks, drivers: on real heads, against the Python package."""

import bpy
import numpy as np
import pytest
from stage import activate, armature_for, event, keyed_object, mesh_object, message, pixel, shown, values, view

import pliant

MOUTH, CHIN = 4480, 855
SMIRK = "4480:0.7,1.1,0; 855"


def session(context, ob, at, **options):
    from bl_ext.user_default.pliant.operators.drag import DragSession

    return DragSession(context, ob, event("LEFTMOUSE", "PRESS", at), symmetric=False, **options)


def by_package(rig, pins, displacements, **options):
    return rig.poser().grab(pins, **options).solve(displacements)


def test_a_scripted_drag_gives_the_weights_of_the_package(head, head_rig):
    assert bpy.ops.pliant.drag(pins=SMIRK) == {"FINISHED"}
    expected = by_package(head_rig, [MOUTH, CHIN], [[0.7, 1.1, 0.0], [0.0, 0.0, 0.0]])
    assert np.abs(values(head) - expected.weights).max() < 1e-6
    assert np.abs(shown(head) - expected.positions()).max() < 1e-5
    assert np.count_nonzero(np.abs(values(head)) > 0.02) > 0


def test_mirror_moves_both_sides(head, head_rig):
    bpy.ops.pliant.drag(pins="4480:0.7,1.1,0", symmetric=True)
    expected = by_package(head_rig, [MOUTH], [[0.7, 1.1, 0.0]], symmetric=True)
    assert np.abs(values(head) - expected.weights).max() < 1e-6
    one_sided = by_package(head_rig, [MOUTH], [[0.7, 1.1, 0.0]]).weights
    asymmetry = lambda weights: np.abs(weights - head_rig.mirror_weights(weights)).max()  # noqa: E731
    assert asymmetry(values(head)) < 0.1 * asymmetry(one_sided)


def test_a_locked_key_keeps_its_value(head, head_rig):
    bpy.ops.pliant.drag(pins=SMIRK)
    moved = head_rig.names[int(np.argmax(np.abs(values(head))))]
    bpy.ops.pliant.reset_pose()
    assert np.abs(values(head)).max() == 0.0
    bpy.ops.pliant.lock(key=moved)
    bpy.ops.pliant.drag(pins=SMIRK)
    assert head.data.shape_keys.key_blocks[moved].value == 0.0
    expected = by_package(head_rig.with_locked([moved]), [MOUTH, CHIN], [[0.7, 1.1, 0.0], [0.0, 0.0, 0.0]])
    assert np.abs(values(head) - expected.weights).max() < 1e-6


def test_muted_keys_do_not_move_and_do_not_count(head, head_rig):
    keys = head.data.shape_keys.key_blocks
    keys["jawOpen"].value = 1.0
    keys["jawOpen"].mute = True
    bpy.ops.pliant.drag(pins="855:0,-0.5,0")
    assert keys["jawOpen"].value == 1.0
    names = [name for name in head_rig.names if name != "jawOpen"]
    kept = [head_rig.names.index(name) for name in names]
    rig = pliant.Rig(head_rig.positions, head_rig.neutral.faces, head_rig.deltas[kept], names, limits=head_rig.limits[kept])
    expected = by_package(rig, [CHIN], [[0.0, -0.5, 0.0]])
    assert np.abs(values(head)[kept] - expected.weights).max() < 1e-6
    assert np.abs(shown(head) - expected.positions()).max() < 1e-5


def test_the_limits_of_sliders_are_kept_also_negative_ones(scene):
    positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    rig = pliant.Rig(positions, [[0, 1, 2]], [[[0, 0, 1]] * 3, [[0, 1, 0]] * 3], ["up", "side"], limits=[(-1.0, 0.5), (-2.0, 2.0)])
    ob = keyed_object("card", rig)
    bpy.ops.pliant.drag(pins="0:0,-1.5,3")
    assert values(ob)[0] == pytest.approx(0.5) and values(ob)[1] < -0.1
    assert np.abs(values(ob) - by_package(rig, [0], [[0, -1.5, 3]]).weights).max() < 1e-6
    bpy.ops.pliant.drag(pins="0:0,0,-9")
    assert values(ob)[0] == pytest.approx(-1.0)


def test_keys_relative_to_other_keys_and_masked_by_groups_mix_as_blender_mixes_them(scene):
    rng = np.random.default_rng(7)
    positions = rng.normal(size=(30, 3))
    faces = [[k, k + 1, k + 2] for k in range(28)]
    ob = mesh_object("cloud", positions, faces)
    ob.shape_key_add(name="Basis", from_mix=False)
    for name in ("a", "b", "c"):
        block = ob.shape_key_add(name=name, from_mix=False)
        block.points.foreach_set("co", (positions + rng.normal(size=positions.shape)).astype(np.float32).ravel())
        block.slider_min, block.value = -1.0, 0.0
    keys = ob.data.shape_keys.key_blocks
    keys["b"].relative_key = keys["a"]
    group = ob.vertex_groups.new(name="part")
    for vertex in range(0, 30, 2):
        group.add([vertex], float(rng.uniform()), "REPLACE")
    keys["c"].vertex_group = "part"
    keys["a"].value, keys["b"].value, keys["c"].value = 0.3, -0.6, 0.9

    from bl_ext.user_default.pliant.scene.shape_keys import key_rig

    found = key_rig(ob)
    assert np.abs(found.rig.evaluate(found.weights) - shown(ob)).max() < 1e-5
    bpy.ops.pliant.drag(pins="4:0.4,0.1,-0.2; 9")
    expected = by_package(found.rig, [4, 9], [[0.4, 0.1, -0.2], [0, 0, 0]], weights=[0.3, -0.6, 0.9])
    assert np.abs(values(ob) - expected.weights).max() < 1e-6


def test_a_made_up_drag_follows_the_pointer_and_esc_restores(head, head_rig):
    context = view(head)
    start = pixel(context, head_rig.positions[MOUTH])
    drag = session(context, head, start)
    assert drag.hit.vertex == MOUTH or np.linalg.norm(head_rig.positions[drag.hit.vertex] - head_rig.positions[MOUTH]) < 0.5
    picked = drag.hit.vertex
    for step in range(1, 31):
        answer = drag.handle(context, event("MOUSEMOVE", at=(start[0] + 0.3 * step, start[1] + 0.9 * step)))
        assert answer == {"RUNNING_MODAL"}
    before, after = pixel(context, head_rig.positions[picked]), pixel(context, shown(head)[picked])
    assert after[1] - before[1] > 10.0
    held = values(head)
    assert drag.handle(context, event("LEFTMOUSE", "RELEASE")) == {"FINISHED"}

    # The operator keeps the pins as text, and gives the same again from the same start.
    from bl_ext.user_default.pliant.core.pins import pins_text

    text, free = pins_text(drag.view_drag.goals), drag.view_drag.free.tolist()
    drag.restore()
    assert np.abs(values(head)).max() == 0.0
    bpy.ops.pliant.drag(pins=text, free=free)
    assert np.abs(values(head) - held).max() < 2e-3

    # Esc restores the pose before the drag, whatever it was.
    for block in head.data.shape_keys.key_blocks[1:]:
        block.value = 0.3 if block.name == "browInnerUp" else 0.0
    head.pliant.pins.clear()
    drag = session(context, head, start)
    before = values(head)
    for step in range(1, 31):
        drag.handle(context, event("MOUSEMOVE", at=(start[0] + 0.3 * step, start[1] + 0.9 * step)))
    assert np.abs(values(head) - before).max() > 0.0
    assert drag.handle(context, event("ESC", "PRESS")) == {"CANCELLED"}
    assert np.abs(values(head) - before).max() < 1e-6


def test_a_click_without_motion_only_adds_a_pin(head, head_rig):
    context = view(head)
    drag = session(context, head, pixel(context, head_rig.positions[MOUTH]))
    drag.handle(context, event("MOUSEMOVE", at=(drag.pressed[0] + 1, drag.pressed[1])))
    drag.handle(context, event("LEFTMOUSE", "RELEASE"))
    drag.keep_pin()
    assert np.abs(values(head)).max() == 0.0
    assert [pin.vertex for pin in head.pliant.pins] == [drag.hit.vertex]
    # The next press near the handle takes the same pin.
    assert session(context, head, (drag.pressed[0] + 6, drag.pressed[1])).hit.vertex == drag.hit.vertex


def test_held_pins_stay_in_a_drag(head, head_rig):
    bpy.ops.pliant.pin_add(vertex=CHIN)
    context = view(head)
    # The lower lip goes down with the jaw, and with it the chin.
    lip, _ = pliant.landmarks(head_rig)["lip lower"]
    start = pixel(context, head_rig.positions[lip])

    def chin_motion(hold):
        context.scene.pliant.hold_pins = hold
        drag = session(context, head, start)
        for step in range(1, 31):
            drag.handle(context, event("MOUSEMOVE", at=(start[0], start[1] - step)))
        motion = np.linalg.norm(shown(head)[CHIN] - head_rig.positions[CHIN])
        drag.restore()
        return motion

    free = chin_motion(False)
    assert free > 0.05 and chin_motion(True) < 0.3 * free


def test_a_drag_on_a_turned_head_moves_what_is_on_screen(head, head_rig):
    armature_for(head, angle=0.6, axis="Y")
    place = shown(head)[MOUTH]
    context = view(head)
    start = pixel(context, place)
    drag = session(context, head, start)
    drag.handle(context, event("MOUSEMOVE", at=(start[0] + 12, start[1] + 20)))
    picked = drag.hit.vertex
    moved = shown(head)
    to = np.array(pixel(context, moved[picked]))
    bpy.context.view_layer.update()
    drag.restore()
    frm = np.array(pixel(context, shown(head)[picked]))
    assert np.linalg.norm((to - frm) - [12, 20]) < 0.35 * np.linalg.norm([12, 20])

    # The same in the package: the displacement through the inverse of the bone's rotation.
    c, s = np.cos(0.6), np.sin(0.6)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    assert np.allclose(turn, drag.view_drag.to_deformed, atol=1e-5)


def test_a_drag_respects_the_transform_of_the_object(head, head_rig):
    head.location, head.rotation_euler, head.scale = (5, 1, -3), (0.1, 0.2, 0.3), (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    matrix = np.array(head.matrix_world)
    place = matrix[:3, :3] @ head_rig.positions[MOUTH] + matrix[:3, 3]
    context = view(head, eye=(5, 1, 20))
    start = pixel(context, place)
    drag = session(context, head, start)
    drag.handle(context, event("MOUSEMOVE", at=(start[0] + 5, start[1] + 9)))
    displacement = drag.view_drag.displacement
    world = matrix[:3, :3] @ displacement
    assert abs(world[2]) < 1e-4 and world[1] > 0


def test_subdivision_does_not_hinder_a_drag_but_other_modifiers_say_so(head, head_rig):
    context = view(head)
    start = pixel(context, head_rig.positions[MOUTH])
    head.modifiers.new("Smooth it", "SUBSURF").levels = 1
    bpy.context.view_layer.update()
    drag = session(context, head, start)
    assert np.linalg.norm(head_rig.positions[drag.hit.vertex] - head_rig.positions[MOUTH]) < 1.0
    head.modifiers.clear()
    head.modifiers.new("Fewer", "DECIMATE").ratio = 0.5
    bpy.context.view_layer.update()
    with pytest.raises(Exception, match="Fewer"):
        session(context, head, start)
    assert np.abs(values(head)).max() == 0.0


def test_auto_key_sets_keyframes_for_what_moved_only(head):
    from bl_ext.user_default.pliant.scene.curves import curve_count

    bpy.context.scene.frame_set(5)
    bpy.ops.pliant.drag(pins=SMIRK)
    assert curve_count(head.data.shape_keys) == 0
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    # Blender 5.2 begins with this preference on: only curves that exist get keys.
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    bpy.ops.pliant.drag(pins="4480:0.3,0.4,0; 855")
    assert curve_count(head.data.shape_keys) == 0
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    bpy.ops.pliant.drag(pins="4480:0.2,-0.4,0; 855")
    moved = curve_count(head.data.shape_keys)
    assert 0 < moved < 51
    bpy.ops.pliant.key_pose()
    assert curve_count(head.data.shape_keys) == 51


def drive(key, expression, **variables):
    """A driver on the value of a key; variables are (object, path)."""
    curve = key.driver_add("value")
    curve.driver.type = "SCRIPTED"
    for name, (owner, path) in variables.items():
        variable = curve.driver.variables.new()
        variable.name = name
        variable.targets[0].id = owner
        variable.targets[0].data_path = path
    curve.driver.expression = expression
    return curve


def test_a_driven_key_moves_the_property_of_its_driver(head, head_rig):
    keys = head.data.shape_keys.key_blocks
    head["open"] = 0.0
    head.id_properties_ui("open").update(min=0.0, max=2.0)
    drive(keys["jawOpen"], "open * 0.5", open=(head, '["open"]'))
    bpy.context.view_layer.update()
    opening = 0.6 * head_rig.deltas[head_rig.names.index("jawOpen"), CHIN]
    bpy.ops.pliant.drag(pins=f"855:{','.join(repr(float(c)) for c in opening)}")
    bpy.context.view_layer.update()
    assert head["open"] > 0.3
    assert keys["jawOpen"].value == pytest.approx(0.5 * head["open"], abs=1e-6)


def test_one_property_that_drives_two_keys_is_one_slider(scene):
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(12, 3))
    deltas = rng.normal(size=(2, 12, 3)).astype(np.float32)
    rig = pliant.Rig(positions, [[k, k + 1, k + 2] for k in range(10)], deltas, ["a", "b"], limits=[(-1, 1), (-1, 1)])
    ob = keyed_object("pair", rig)
    ob["smile"] = 0.0
    ob.id_properties_ui("smile").update(min=-1.0, max=1.0)
    keys = ob.data.shape_keys.key_blocks
    drive(keys["a"], "s", s=(ob, '["smile"]'))
    drive(keys["b"], "-0.5 * s", s=(ob, '["smile"]'))
    bpy.context.view_layer.update()
    both = deltas[0] - 0.5 * deltas[1]
    bpy.ops.pliant.drag(pins=f"3:{','.join(repr(float(c)) for c in 0.4 * both[3])}")
    expected = pliant.Rig(positions, rig.neutral.faces, [both], ["smile"], limits=[(-1, 1)])
    weight = by_package(expected, [3], [0.4 * both[3]]).weights[0]
    assert ob["smile"] == pytest.approx(weight, abs=1e-5)
    assert ob["smile"] == pytest.approx(0.4, abs=0.02)


def test_a_face_board_bone_is_moved(scene):
    rig = pliant.Rig([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], [[[0, 0, 1]] * 3], ["up"], limits=[(0, 1)])
    ob = keyed_object("card", rig)
    armature = armature_for(ob, angle=0.0)
    ob.modifiers.clear()
    curve = ob.data.shape_keys.key_blocks["up"].driver_add("value")
    curve.driver.type = "SCRIPTED"
    variable = curve.driver.variables.new()
    variable.name, variable.type = "bone", "TRANSFORMS"
    target = variable.targets[0]
    target.id, target.bone_target, target.transform_type, target.transform_space = armature, "head", "LOC_Y", "LOCAL_SPACE"
    curve.driver.expression = "bone * 2"
    bpy.context.view_layer.update()
    bpy.ops.pliant.drag(pins="0:0,0,0.5")
    bpy.context.view_layer.update()
    assert armature.pose.bones["head"].location[1] == pytest.approx(0.25, abs=0.01)
    assert ob.data.shape_keys.key_blocks["up"].value == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("expression", ["min(open, 0.5)", "open * open", "sin(frame)"])
def test_other_drivers_keep_their_values_and_say_why(head, expression):
    keys = head.data.shape_keys.key_blocks
    head["open"] = 0.3
    drive(keys["jawOpen"], expression, open=(head, '["open"]'))
    bpy.context.view_layer.update()
    before = keys["jawOpen"].value

    from bl_ext.user_default.pliant.scene.shape_keys import key_rig

    assert "jawOpen" in key_rig(head).kept["jawOpen"]
    bpy.ops.pliant.drag(pins="855:0,-1.5,0")
    bpy.context.view_layer.update()
    assert keys["jawOpen"].value == pytest.approx(before) and head["open"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    "pins, said",
    [("999999:1,0,0", "999999"), ("", "no pins"), ("4480:1,0", "no pin"), ("4480; 4480", "two pins"), ("855:nan,0,0", "no pin")],
)
def test_bad_pins_are_a_report_and_change_nothing(head, pins, said):
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.drag(pins=pins)
    assert said in message(error)
    assert np.abs(values(head)).max() == 0.0


def test_the_key_rig_is_made_once(head):
    from bl_ext.user_default.pliant.scene.shape_keys import key_rig

    first = key_rig(head).rig
    assert key_rig(head).rig is first
    block = head.data.shape_keys.key_blocks["jawOpen"]
    block.points[10].co.x += 1.0
    assert key_rig(head).rig is not first
    activate(head)
