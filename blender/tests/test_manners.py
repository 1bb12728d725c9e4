"""What every operator owes an artist: clear refusals, no surprise, undo, saving, scripts, cancelling."""

import sys
import time
import tomllib
import types
import zipfile

import bpy
import numpy as np
import pytest
from stage import activate, event, keyed_bar, mesh_object, message, shown, values

import pliant


def all_operators():
    from bl_ext.user_default.pliant import operators

    return operators.CLASSES


def test_the_manifest_is_one_that_blender_accepts(installed):
    import os

    with zipfile.ZipFile(os.environ["PLIANT_EXTENSION"]) as archive:
        names = archive.namelist()
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert manifest["schema_version"] == "1.0.0" and manifest["type"] == "add-on" and manifest["id"] == "pliant"
    assert manifest["version"] == pliant.__version__
    assert 0 < len(manifest["tagline"]) <= 64 and manifest["tagline"][-1].isalnum()
    assert all(wheel[2:] in names for wheel in manifest["wheels"]) and len(manifest["platforms"]) == 1
    assert all(licence.startswith("SPDX:") for licence in manifest["license"])
    assert set(manifest["permissions"]) == {"files"} and all(len(why) <= 64 and why[-1] != "." for why in manifest["permissions"].values())
    assert not [name for name in names if "__pycache__" in name or name.endswith((".pyc", ".so"))]
    assert "LICENSE-MIT" in names and "LICENSE-APACHE" in names


def test_blenders_own_validation_accepts_the_zip(installed):
    import os
    import pathlib
    import subprocess

    scripts = pathlib.Path(bpy.utils.resource_path("LOCAL")) / "scripts"
    tool = next(scripts.rglob("blender_ext.py"), None)
    if tool is None:
        pytest.skip("this module comes without the validator")
    done = subprocess.run(
        [sys.executable, str(tool), "validate", os.path.abspath(os.environ["PLIANT_EXTENSION"])],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_operator_says_what_it_does(installed):
    classes = all_operators()
    assert len(classes) >= 28
    for cls in classes:
        assert cls.__doc__ and not cls.__doc__.strip().endswith("."), cls
        assert cls.bl_label and "REGISTER" in cls.bl_options, cls
        for name, annotation in cls.__annotations__.items():
            assert annotation.keywords.get("name"), (cls, name)


@pytest.mark.skipif(bpy.app.version < (4, 5, 0), reason="every path may be relative in this Blender")
def test_every_path_may_be_relative_to_the_file(installed):
    assert bpy.context.scene.pliant.bl_rna.properties["capture"].is_path_supports_blend_relative
    paths = []
    for cls in all_operators():
        for name, annotation in cls.__annotations__.items():
            if annotation.keywords.get("subtype") == "FILE_PATH":
                paths.append((cls, name))
                assert "PATH_SUPPORTS_BLEND_RELATIVE" in annotation.keywords["options"], (cls, name)
    assert len(paths) >= 6


def test_everything_that_changes_data_can_be_undone(installed):
    for cls in all_operators():
        assert "UNDO" in cls.bl_options or cls.bl_idname == "pliant.learn_validate", cls


class Layout:
    """Anything that looks like a layout."""

    def __init__(self, seen):
        self.seen = seen

    def row(self, **_):
        return self

    column = box = split = row

    def separator(self, **_):
        pass

    def label(self, **options):
        self.seen.append(options.get("text", ""))

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties, name
        self.seen.append(name)

    def prop_search(self, data, name, *_, **__):
        self.seen.append(name)

    def template_list(self, kind, *_, **__):
        assert hasattr(bpy.types, kind)
        self.seen.append(kind)

    def operator(self, name, **_):
        category, _, short = name.partition(".")
        getattr(getattr(bpy.ops, category), short).get_rna_type()
        self.seen.append(name)
        return types.SimpleNamespace()


def test_six_sections_in_the_order_of_work_draw_and_name_every_operator(head):
    from bl_ext.user_default.pliant.ui import panels

    sections = [cls for cls in panels.CLASSES if issubclass(cls, bpy.types.Panel)]
    assert [cls.bl_label[:2] for cls in sections] == ["1.", "2.", "3.", "4.", "5.", "6."]
    assert {cls.bl_category for cls in sections} == {"Pliant"}
    head["pliant_model"] = b"x"
    head.pliant.control_points.add()
    scene = bpy.context.scene
    scene.pliant.routes.add().channel = "JawOpen"
    scene.pliant.markers.add().note = "far off"
    scene.pliant.marker_index = scene.pliant.route_index = 0
    seen = []
    for cls in sections:
        cls.draw(types.SimpleNamespace(layout=Layout(seen)), bpy.context)
    named = {name for name in seen if name.startswith("pliant.")}
    # In the view by tools, or in scripts only.
    by_tools = {"pliant.drag", "pliant.draw", "pliant.touch_brush", "pliant.pin_add", "pliant.pin_remove", "pliant.marker_add"}
    assert named | by_tools == {cls.bl_idname for cls in all_operators()}
    for cls in (panels.PLIANT_UL_markers, panels.PLIANT_UL_routes):
        item = scene.pliant.markers[0] if cls is panels.PLIANT_UL_markers else scene.pliant.routes[0]
        cls.draw_item(None, bpy.context, Layout(seen), None, item, 0, None, "", 0)
    for cls in all_operators():
        if "draw" in cls.__dict__ or any("draw" in base.__dict__ for base in cls.__bases__ if base.__module__.startswith("bl_ext")):
            options = types.SimpleNamespace(layout=Layout([]))
            options.layout.prop = lambda data, name, **_: None
            for name, annotation in {**getattr(cls.__bases__[0], "__annotations__", {}), **cls.__annotations__}.items():
                if hasattr(annotation, "keywords"):
                    setattr(options, name, annotation.keywords.get("default"))
            cls.draw(options, bpy.context)


def test_the_overlay_marks_pins_patches_and_markers(head, head_rig):
    from bl_ext.user_default.pliant.ui.overlay import marks
    from stage import view

    context = view(head)
    assert marks(context, head) == []
    bpy.ops.pliant.pin_add(vertex=4480)
    bpy.ops.pliant.touch_brush(discs="2134:3")
    other = mesh_object("other", head_rig.positions + [20, 0, 0], head_rig.neutral.faces)
    activate(head)
    context.scene.pliant.source = other
    marker = context.scene.pliant.markers.add()
    marker.source, marker.target = 4480, 4480
    found = marks(context, head)
    assert len(found) == 4 and sorted(len(mark.pixels) for mark in found) == [1, 1, 1, 1]
    from stage import pixel

    pin = next(mark for mark in found if mark.color[0] == 1.0)
    assert np.abs(pin.pixels[0] - pixel(context, head_rig.positions[4480])).max() < 0.1


BAD_OBJECTS = {
    "nothing active": (lambda: None, "not set"),
    "a lamp": (lambda: bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "POINT")), "no mesh"),
    "no faces": (lambda: mesh_object("points", [[0, 0, 0], [1, 0, 0]], []), "no faces"),
}
NEEDS_MESH = ["pin_add", "pins_clear", "locks_clear", "touch_clear", "touch", "in_between", "learn", "bones", "learn_remove", "learn_bake"]


@pytest.mark.parametrize("what", BAD_OBJECTS)
@pytest.mark.parametrize("name", NEEDS_MESH)
def test_operators_decline_objects_that_are_no_mesh(scene, name, what):
    make, said = BAD_OBJECTS[what]
    bpy.context.view_layer.objects.active = None
    ob = make()
    if ob is not None and ob.name not in bpy.context.collection.objects:
        bpy.context.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    with pytest.raises(RuntimeError) as error:
        getattr(bpy.ops.pliant, name)()
    assert said in message(error)


@pytest.mark.parametrize("name", ["drag", "draw", "reset_pose", "key_pose", "lock", "capture", "capture_map"])
def test_operators_on_keys_decline_a_mesh_without_keys(scene, name):
    mesh_object("plain", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    options = {"pins": "0:1,0,0"} if name == "drag" else {}
    with pytest.raises(RuntimeError) as error:
        getattr(bpy.ops.pliant, name)(**options)
    assert "shape keys" in message(error) or "poll() failed" in message(error)


def test_edit_mode_absolute_keys_and_solo_are_declined(head):
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("drag", "in_between", "touch", "learn"):
        with pytest.raises(RuntimeError) as error:
            getattr(bpy.ops.pliant, name)(**({"pins": "1:1,0,0"} if name == "drag" else {}))
        assert "Edit Mode" in message(error) or "poll() failed" in message(error)
    bpy.ops.object.mode_set(mode="OBJECT")
    head.show_only_shape_key = True
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.drag(pins="855:0,-1,0")
    assert "pin" in message(error)
    head.show_only_shape_key = False
    head.data.shape_keys.use_relative = False
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.drag(pins="855:0,-1,0")
    assert "absolute" in message(error)
    head.data.shape_keys.use_relative = True
    assert np.abs(values(head)).max() == 0.0


def test_linked_data_is_declined_with_its_file(head, head_rig, tmp_path):
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {head})
    bpy.data.objects.remove(head)
    with bpy.data.libraries.load(str(path), link=True) as (source, wanted):
        wanted.objects = ["head"]
    linked = wanted.objects[0]
    bpy.context.collection.objects.link(linked)
    activate(linked)
    for call in (lambda: bpy.ops.pliant.drag(pins="855:0,-1,0"), lambda: bpy.ops.pliant.in_between()):
        with pytest.raises(RuntimeError) as error:
            call()
        assert "linked from" in message(error) and "library.blend" in message(error)
    assert np.abs(values(linked)).max() == 0.0
    bpy.data.objects.remove(linked)
    for library in list(bpy.data.libraries):
        bpy.data.libraries.remove(library)


def test_a_key_with_positions_that_are_no_numbers_is_named(head):
    head.data.shape_keys.key_blocks["jawOpen"].points[5].co.x = float("nan")
    with pytest.raises(RuntimeError) as error:
        bpy.ops.pliant.drag(pins="855:0,-1,0")
    assert "jawOpen" in message(error)


def test_everything_survives_saving_and_opening(head, head_rig, tmp_path):
    bpy.ops.pliant.drag(pins="4480:0.7,1.1,0; 855")
    bpy.ops.pliant.pin_add(vertex=855)
    bpy.ops.pliant.lock(key="jawOpen")
    bpy.ops.pliant.touch_brush(discs="2134:3")
    ob = keyed_bar()
    bpy.ops.pliant.in_between(second_key="frame 24", count=1)
    bpy.ops.pliant.learn(count=6)
    ob.pliant.control_points[0].empty.location.x += 0.5
    bpy.context.view_layer.update()
    before, driven = values(head), shown(ob)
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    head, ob = bpy.data.objects["head"], bpy.data.objects["bar"]
    assert np.abs(values(head) - before).max() == 0.0
    assert [pin.vertex for pin in head.pliant.pins] == [855] and head.pliant.locks[0].name == "jawOpen"
    assert [(disc.vertex, disc.radius) for disc in head.pliant.discs] == [(2134, 3.0)]
    assert "Basis-frame 24 50%" in ob.data.shape_keys.key_blocks
    assert np.abs(shown(ob) - driven).max() < 1e-6
    # The model is still alive.
    ob.pliant.control_points[0].empty.location.x += 0.5
    bpy.context.view_layer.update()
    assert np.abs(shown(ob) - driven).max() > 1e-3
    activate(head)
    assert bpy.ops.pliant.drag(pins="4480:0.1,0.2,0; 855") == {"FINISHED"}
    # A file without a name, for the next test.
    bpy.ops.wm.read_homefile(use_empty=True)


def test_one_drag_is_one_step_of_undo(head):
    bpy.context.preferences.edit.use_global_undo = True
    try:
        bpy.ops.ed.undo_push(message="before")
        bpy.ops.pliant.drag(pins="4480:0.7,1.1,0; 855")
        bpy.ops.ed.undo_push(message="drag")
        assert np.abs(values(bpy.data.objects["head"])).max() > 0.05
        bpy.ops.ed.undo()
    except RuntimeError as error:
        pytest.skip(f"this module has no undo: {error}")
    assert np.abs(values(bpy.data.objects["head"])).max() == 0.0
    bpy.ops.ed.redo()
    assert np.abs(values(bpy.data.objects["head"])).max() > 0.05


def fake_operator(cls, **options):
    """The operator without Blender around it: its methods on plain data."""
    reports = []
    fake = types.SimpleNamespace(report=lambda kind, text: reports.append((kind, text)), reports=reports)
    annotations = {}
    for base in reversed(cls.__mro__):
        annotations.update(getattr(base, "__annotations__", {}))
    for name, annotation in annotations.items():
        if hasattr(annotation, "keywords"):
            empty = {"StringProperty": "", "BoolProperty": False}.get(annotation.function.__name__, 0)
            setattr(fake, name, options.get(name, annotation.keywords.get("default", empty)))
    for name in dir(cls):
        member = getattr(cls, name)
        if callable(member) and not name.startswith("__") and isinstance(member, types.FunctionType):
            setattr(fake, name, types.MethodType(member, fake))
    return fake


class Window:
    """A window manager with its timer, for made-up events."""

    def __init__(self):
        self.timers, self.handlers, self.shares, self.status = 0, [], [], []

    def event_timer_add(self, *_, **__):
        self.timers += 1
        return object()

    def event_timer_remove(self, _):
        self.timers -= 1

    def modal_handler_add(self, handler):
        self.handlers.append(handler)

    def progress_begin(self, *_):
        pass

    progress_end = progress_begin

    def progress_update(self, share):
        self.shares.append(share)


def windowed(manager):
    return types.SimpleNamespace(
        window_manager=manager, window=object(), scene=bpy.context.scene, object=bpy.context.object,
        view_layer=bpy.context.view_layer, selected_objects=bpy.context.selected_objects,
        workspace=types.SimpleNamespace(status_text_set=manager.status.append),
        evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get, area=None,
    )  # fmt: skip


def run_modal(operator, context, *, stop_after=None, limit=60.0):
    assert operator.start(context) == {"RUNNING_MODAL"}
    began, turns = time.monotonic(), 0
    while True:
        turns += 1
        kind = event("ESC", "PRESS") if stop_after is not None and turns > stop_after else event("TIMER")
        answer = operator.modal(context, kind)
        if answer & {"FINISHED", "CANCELLED"}:
            return answer, turns
        assert time.monotonic() - began < limit
        time.sleep(0.01)


def test_work_in_a_thread_gives_what_a_script_gives(bar):
    from bl_ext.user_default.pliant.operators.blend import PLIANT_OT_in_between
    from stage import key_points

    bpy.ops.pliant.in_between(count=2, second_key="frame 24")
    expected = key_points(bar, "Basis-frame 24 33%")
    for name in ("Basis-frame 24 33%", "Basis-frame 24 67%"):
        bar.shape_key_remove(bar.data.shape_keys.key_blocks[name])
    manager = Window()
    context = windowed(manager)
    operator = fake_operator(PLIANT_OT_in_between, count=2, output="KEYS", second_key="frame 24")
    answer, turns = run_modal(operator, context)
    assert answer == {"FINISHED"} and turns > 1, operator.reports
    assert np.abs(key_points(bar, "Basis-frame 24 33%") - expected).max() == 0.0
    assert manager.timers == 0 and manager.status[-1] is None
    assert any(text and "Esc cancels" in text for text in manager.status)


def test_esc_stops_the_thread_and_changes_nothing(head):
    from bl_ext.user_default.pliant.operators.blend import PLIANT_OT_in_between

    manager = Window()
    operator = fake_operator(PLIANT_OT_in_between, count=60, output="KEYS", second_key="jawOpen")
    began = time.monotonic()
    answer, _ = run_modal(operator, windowed(manager), stop_after=3)
    assert answer == {"CANCELLED"} and time.monotonic() - began < 5.0
    assert len(head.data.shape_keys.key_blocks) == 52
    assert manager.timers == 0
    from bl_ext.user_default.pliant.work.operator import LongOperator

    assert LongOperator.running is None


def test_esc_while_frames_are_read_restores_the_frame(head):
    from bl_ext.user_default.pliant.operators.bones import PLIANT_OT_bones

    bpy.context.scene.frame_end = 400
    bpy.context.scene.frame_set(7)
    operator = fake_operator(PLIANT_OT_bones, bones=4, influences=4, step=1)
    answer, _ = run_modal(operator, windowed(Window()), stop_after=2)
    assert answer == {"CANCELLED"} and bpy.context.scene.frame_current == 7


def test_an_object_that_changes_meanwhile_is_left_alone(head):
    from bl_ext.user_default.pliant.operators.blend import PLIANT_OT_in_between

    operator = fake_operator(PLIANT_OT_in_between, count=2, output="KEYS", second_key="jawOpen")
    context = windowed(Window())
    operator.start(context)
    bpy.data.objects.remove(head)
    answer = {"RUNNING_MODAL"}
    while answer == {"RUNNING_MODAL"}:
        answer = operator.modal(context, event("TIMER"))
        time.sleep(0.01)
    assert answer == {"CANCELLED"} and "run it again" in operator.reports[-1][1]


def test_one_job_at_a_time(head):
    from bl_ext.user_default.pliant.operators.blend import PLIANT_OT_in_between

    context = windowed(Window())
    first = fake_operator(PLIANT_OT_in_between, count=20, output="KEYS", second_key="jawOpen")
    second = fake_operator(PLIANT_OT_in_between, count=20, output="KEYS", second_key="jawOpen")
    first.start(context)
    assert second.start(context) == {"CANCELLED"} and "still working" in second.reports[-1][1]
    assert first.modal(context, event("ESC", "PRESS")) == {"CANCELLED"}


def test_disabling_and_enabling_leaves_no_trace(installed, scene):
    bpy.ops.preferences.addon_disable(module="bl_ext.user_default.pliant")
    try:
        assert not hasattr(bpy.types, "PLIANT_OT_drag") and not hasattr(bpy.types.Object, "pliant")
        names = [function.__name__ for function in bpy.app.handlers.depsgraph_update_post]
        assert "follow" not in names
    finally:
        bpy.ops.preferences.addon_enable(module="bl_ext.user_default.pliant")
    assert hasattr(bpy.types, "PLIANT_OT_drag") and hasattr(bpy.types.Object, "pliant")


def test_no_module_of_the_extension_opens_a_connection(installed):
    import pathlib

    root = pathlib.Path(installed.__file__).parent
    for path in root.rglob("*.py"):
        for word in ("import socket", "urllib", "http.client", "requests"):
            assert word not in path.read_text(), path
