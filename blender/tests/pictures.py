"""Renders the pictures of docs/blender.md with the extension in the Blender of PyPI.

    PLIANT_EXTENSION=target/dist/pliant-0.1.0-linux-x64.zip python blender/tests/pictures.py docs/pictures

The handles are painted where the extension's own overlay places them.
"""

import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import conftest  # noqa: E402  (installs the extension)
import numpy as np  # noqa: E402

if conftest.EXTENSION is None:
    raise SystemExit("PLIANT_EXTENSION names no zip, or there is no bpy")

import bpy  # noqa: E402
import stage  # noqa: E402
from mathutils import Matrix, Vector  # noqa: E402

import pliant  # noqa: E402

SIZE = (440, 420)
SAMPLES = 12
OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
SKIN = (0.62, 0.42, 0.33, 1.0)


def clear():
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    for mesh in list(bpy.data.meshes):
        bpy.data.meshes.remove(mesh)
    scene = bpy.context.scene
    scene.pliant.markers.clear()
    scene.pliant.source = scene.pliant.collider = None
    bpy.context.view_layer.update()


def material(name, color, roughness=0.5):
    found = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    found.use_nodes = True
    shader = next(node for node in found.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = color
    shader.inputs["Roughness"].default_value = roughness
    return found


def dress(ob, color=SKIN, roughness=0.5):
    ob.data.materials.clear()
    ob.data.materials.append(material(f"{color}", color, roughness))
    ob.data.polygons.foreach_set("use_smooth", [True] * len(ob.data.polygons))
    ob.data.update()


def studio(center, size, direction=(0.25, 0.05, 1.0), up=(0, 1, 0)):
    """A camera that sees `size` around a place from a direction, and lights."""
    scene = bpy.context.scene
    forward = Vector(direction).normalized()
    right = Vector(up).cross(forward).normalized()
    above = forward.cross(right)
    data = bpy.data.cameras.new("camera")
    data.lens = 85
    camera = bpy.data.objects.new("camera", data)
    distance = size * 85 / 36 * 1.05
    turn = Matrix((right, above, forward)).transposed().to_4x4()
    camera.matrix_world = Matrix.Translation(Vector(center) + forward * distance) @ turn
    scene.collection.objects.link(camera)
    scene.camera = camera
    for offset, energy in (((-0.9, 0.9, 0.9), 14.0), ((1.2, 0.2, 0.6), 3.0), ((0.2, 0.8, -1.2), 8.0)):
        light = bpy.data.lights.new("light", "AREA")
        light.energy, light.size = energy * size * size, size
        ob = bpy.data.objects.new("light", light)
        x, y, z = offset
        place = Vector(center) + (right * x + above * y + forward * z) * size * 1.4
        ob.matrix_world = Matrix.Translation(place) @ (Vector(center) - place).to_track_quat("-Z", "Y").to_matrix().to_4x4()
        scene.collection.objects.link(ob)
    world = bpy.data.worlds.get("paper") or bpy.data.worlds.new("paper")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.85, 0.87, 0.9, 1.0)
    world.node_tree.nodes["Background"].inputs[1].default_value = 0.3
    scene.world = world
    bpy.context.view_layer.update()


def picture():
    """The scene as an array (height, width, 3), upper row first."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = SAMPLES, True
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.view_settings.view_transform = "Standard"
    path = pathlib.Path(bpy.app.tempdir) / "picture.png"
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(path), check_existing=False)
    pixels = np.array(image.pixels[:], np.float32).reshape(SIZE[1], SIZE[0], 4)[::-1, :, :3]
    bpy.data.images.remove(image)
    return pixels.copy()


def camera_context(ob):
    """What the extension needs of a view, from the camera."""
    scene, camera = bpy.context.scene, bpy.context.scene.camera
    depsgraph = bpy.context.evaluated_depsgraph_get()
    projection = camera.calc_matrix_camera(depsgraph, x=SIZE[0], y=SIZE[1])
    look = camera.matrix_world.inverted()
    context = stage.view(ob, size=SIZE)
    context.region_data = types.SimpleNamespace(
        view_matrix=look, window_matrix=projection, perspective_matrix=projection @ look, is_perspective=True
    )
    context.scene = scene
    return context


def paint(pixels, centers, color, radius):
    """Round handles with a dark rim."""
    y, x = np.mgrid[: pixels.shape[0], : pixels.shape[1]]
    for cx, cy in np.atleast_2d(centers):
        distance = np.hypot(x - cx, (SIZE[1] - cy) - y)
        for grow, shade in ((1.6, (0.05, 0.05, 0.05)), (0.0, color)):
            share = np.clip(radius + grow - distance + 0.5, 0, 1)[..., None]
            pixels[:] = pixels * (1 - share) + np.array(shade) * share
    return pixels


def with_handles(pixels, ob, extra=()):
    """The overlay of the extension on a rendered picture."""
    from bl_ext.user_default.pliant.ui.overlay import marks

    for mark in marks(camera_context(ob), ob):
        paint(pixels, mark.pixels, mark.color[:3], mark.radius + 1.5)
    for points, color, radius in extra:
        paint(pixels, points, color, radius)
    return pixels


def save(name, *pictures):
    """Pictures side by side."""
    gap = np.ones((SIZE[1], 10, 3), np.float32)
    row = []
    for pixels in pictures:
        row += [pixels.astype(np.float32), gap]
    wide = np.concatenate(row[:-1], axis=1)[::-1]
    rgba = np.concatenate([wide, np.ones((*wide.shape[:2], 1), np.float32)], axis=2)
    image = bpy.data.images.new(name, wide.shape[1], wide.shape[0])
    image.pixels.foreach_set(np.clip(rgba, 0, 1).ravel())
    image.filepath_raw, image.file_format = str((OUT / f"blender-{name}.png").resolve()), "PNG"
    image.save()
    print("wrote", image.filepath_raw)


def face(size=26.0, direction=(0.35, 0.05, 1.0)):
    clear()
    rig = pliant.load("specimen:head").rig()
    head = stage.keyed_object("head", rig)
    dress(head)
    middle = rig.positions.mean(axis=0)
    studio(middle, size, direction)
    return head, rig


def drag():
    head, rig = face()
    before = with_handles(picture(), head)
    bpy.ops.pliant.pin_add(vertex=855)
    bpy.ops.pliant.drag(pins="4480:0.7,1.1,0; 855")
    bpy.ops.pliant.pin_add(vertex=4480)
    save("drag", before, with_handles(picture(), head))


def draw():
    from bl_ext.user_default.pliant.operators.draw import StrokeSession

    from test_draw import mouth_line

    head, rig = face(direction=(0.0, 0.0, 1.0))
    context = camera_context(head)
    points = [stage.pixel(context, place) for place in mouth_line(rig)]
    drawing = StrokeSession(context, head, stage.event("LEFTMOUSE", "PRESS", points[0]))
    for point in points[1:]:
        drawing.handle(context, stage.event("MOUSEMOVE", at=point))
    before = with_handles(picture(), head, [(np.array(drawing.points), (1.0, 0.55, 0.1), 2.0)])
    bpy.ops.pliant.draw(stroke=drawing.stroke(context), strength=1.5)
    save("draw", before, picture())


def touch():
    head, rig = face(direction=(0.9, 0.15, 1.0))
    cheek = rig.positions[2134]
    outward = np.array([0.7, 0.2, 1.35]) / np.linalg.norm([0.7, 0.2, 1.35])
    bpy.ops.mesh.primitive_uv_sphere_add(radius=1.5, location=cheek + 2.6 * outward, segments=48, ring_count=24)
    ball = bpy.context.object
    dress(ball, (0.1, 0.25, 0.6, 1.0), 0.25)
    ball.keyframe_insert("location", frame=1)
    ball.location = cheek + 0.7 * outward
    ball.keyframe_insert("location", frame=16)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 16
    scene.pliant.collider = ball
    stage.activate(head)
    bpy.ops.pliant.touch_brush(discs="2134:3.6")
    scene.frame_set(1)
    before = with_handles(picture(), head)
    bpy.ops.pliant.touch()
    scene.frame_set(16)
    during = picture()
    head.pliant.discs.clear()
    ball.hide_render = True
    save("touch", before, during, picture())


def in_between():
    clear()
    straight = pliant.load("specimen:bar").mesh()
    clip = pliant.load("specimen:bar#bend").clip()
    bent = clip.mesh_at(len(clip) - 1)
    ob = stage.mesh_object("bar", straight.positions, straight.faces)
    ob.shape_key_add(name="Basis", from_mix=False)
    key = ob.shape_key_add(name="Bend", from_mix=False)
    key.points.foreach_set("co", bent.positions.astype(np.float32).ravel())
    key.value = 0.0
    dress(ob, (0.55, 0.35, 0.2, 1.0))
    both = np.concatenate([straight.positions, bent.positions])
    center = 0.5 * (both.max(axis=0) + both.min(axis=0))
    studio(center, 1.15 * np.ptp(both, axis=0).max(), (0.4, 0.35, 1.0))
    keys = ob.data.shape_keys.key_blocks
    keys["Bend"].value = 0.5
    linear = picture()
    keys["Bend"].value = 0.0
    bpy.ops.pliant.in_between(second_key="Bend", count=1)
    keys["Basis-Bend 50%"].value = 1.0
    save("in-between", linear, picture())


def transfer():
    head, rig = face()
    coarse = pliant.Decimation(rig.neutral, vertices=2200).mesh
    positions = coarse.positions * [0.86, 1.06, 0.95]
    target = stage.mesh_object("target", positions, coarse.triangles)
    dress(target, (0.35, 0.45, 0.55, 1.0))
    head.hide_render = True
    bpy.context.scene.pliant.source = head
    before = picture()
    bpy.ops.pliant.transfer_shapes()
    keys = target.data.shape_keys.key_blocks
    for name, value in (("mouthSmileLeft", 0.9), ("mouthSmileRight", 0.9), ("browInnerUp", 0.8), ("jawOpen", 0.25)):
        keys[name].value = value
    save("transfer", before, picture())


def learn():
    clear()
    clip = pliant.load("specimen:hand").clip()
    reference = clip.reference
    names = [f"pose {k}" for k in range(len(clip))]
    rig = pliant.Rig(reference.positions, reference.faces, clip.frames - reference.positions, names)
    hand = stage.keyed_object("hand", rig)
    dress(hand)
    studio(reference.positions.mean(axis=0), 1.25 * np.ptp(reference.positions, axis=0).max(), (0.3, 0.9, 0.5), up=(0, 0, 1) if np.ptp(reference.positions[:, 1]) < 1 else (0, 1, 0))
    bpy.ops.pliant.learn(count=16)
    from bl_ext.user_default.pliant.scene.picking import screen_places

    def shown():
        context = camera_context(hand)
        places = np.array([point.empty.matrix_world.translation for point in hand.pliant.control_points])
        return with_handles(picture(), hand, [(screen_places(context, places), (1.0, 0.55, 0.1), 5.0)])

    before = shown()
    from bl_ext.user_default.pliant.scene.live_model import model_of

    goal = clip.frames[6][model_of(hand).control_vertices]
    for point, place in zip(hand.pliant.control_points, goal):
        point.empty.location = place
    bpy.context.view_layer.update()
    save("learn", before, shown())


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = sys.argv[2:] or ["drag", "draw", "touch", "in_between", "transfer", "learn"]
    for name in chosen:
        globals()[name]()
    import os

    sys.stdout.flush()
    os._exit(0)
