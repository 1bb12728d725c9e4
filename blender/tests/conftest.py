"""The extension, installed from its zip as a user does, and scenes to try it on.

`PLIANT_EXTENSION` names the zip. Only `test_core.py` runs without `bpy`.
"""

import os
import pathlib
import sys
import tempfile

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# Blender reads this when it is imported: an empty home of its own.
os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="pliant-blender-")
MODULE = "bl_ext.user_default.pliant"


def install():
    """The zip, installed and enabled. The wheel inside gives the package `pliant`, which tests import."""
    path = os.environ.get("PLIANT_EXTENSION")
    if not path:
        return None
    # With a zip to try, a Blender that does not start is an error.
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Blender has one repository for what a user installs from disk.
    bpy.ops.extensions.package_install_files(
        filepath=os.path.abspath(path), repo="user_default", enable_on_install=True
    )
    return sys.modules[MODULE]


EXTENSION = install()
if EXTENSION is None:
    collect_ignore = [path.name for path in HERE.glob("test_*.py") if path.name != "test_core.py"]


@pytest.fixture(scope="session")
def installed():
    return EXTENSION


@pytest.fixture
def scene(installed):
    """An empty scene with the extension enabled."""
    import bpy

    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    for kind in (bpy.data.meshes, bpy.data.armatures, bpy.data.actions):
        for block in list(kind):
            kind.remove(block)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    scene.pliant.markers.clear()
    scene.pliant.routes.clear()
    scene.pliant.source = scene.pliant.collider = None
    scene.pliant.capture = ""
    scene.pliant.symmetric, scene.pliant.hold_pins, scene.pliant.depth = False, True, "FREE"
    scene.tool_settings.use_keyframe_insert_auto = False
    scene.frame_start, scene.frame_end, scene.frame_current = 1, 12, 1
    scene.render.fps, scene.render.fps_base = 24, 1.0
    return scene


@pytest.fixture(scope="session")
def head_rig(installed):
    import pliant

    from stage import in_single_precision

    return in_single_precision(pliant.load("specimen:head").rig())


@pytest.fixture
def head(scene, head_rig):
    """The built-in head as an object with shape keys, active and selected."""
    from stage import keyed_object

    return keyed_object("head", head_rig)


@pytest.fixture
def bar(scene):
    from stage import keyed_bar

    return keyed_bar()


def pytest_report_header():
    try:
        import bpy
    except ImportError:
        return "without Blender"
    return f"Blender {bpy.app.version_string}, numpy {np.__version__}"


def pytest_sessionfinish(session, exitstatus):
    session.config.exit_status = int(exitstatus)


def pytest_unconfigure(config):
    """Blender's module may hang when an interpreter with its data ends; nothing is left to do here."""
    if EXTENSION is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(getattr(config, "exit_status", 1))
