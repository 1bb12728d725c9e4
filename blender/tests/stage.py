"""Objects, views and events for the tests."""

import types

import numpy as np


def mesh_object(name, positions, faces):
    """An object with a mesh, active and selected."""
    import bpy

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(positions, float).tolist(), [], np.asarray(faces).tolist() if isinstance(faces, np.ndarray) else faces)
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(ob)
    activate(ob)
    return ob


def activate(ob):
    import bpy

    for other in bpy.context.view_layer.objects:
        other.select_set(False)
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.context.view_layer.update()


def keyed_object(name, rig):
    """A rig of Pliant as an object with shape keys."""
    ob = mesh_object(name, rig.positions, rig.neutral.faces)
    basis = rig.positions.astype(np.float32)
    ob.shape_key_add(name="Basis", from_mix=False)
    for key, delta, (low, high) in zip(rig.names, rig.deltas, rig.limits):
        block = ob.shape_key_add(name=key, from_mix=False)
        block.points.foreach_set("co", (basis + delta).ravel())
        block.slider_max = max(high, 0.001)
        block.slider_min = low
        block.value = 0.0
    ob.active_shape_key_index = 0
    return ob


def in_single_precision(rig):
    """A rig with the positions that Blender can store."""
    import pliant

    basis = rig.positions.astype(np.float32)
    deltas = (basis + rig.deltas) - basis
    return pliant.Rig(basis, rig.neutral.faces, deltas, rig.names, limits=rig.limits.astype(np.float32))


def keyed_bar():
    """A small bar with some frames of its bend as shape keys."""
    import pliant

    clip = pliant.load("specimen:bar:coarse#bend").clip()
    frames = range(4, len(clip), 4)
    rest = clip.reference.positions
    deltas = clip.frames[list(frames)] - rest
    rig = pliant.Rig(rest, clip.reference.faces, deltas, [f"frame {k}" for k in frames], limits=[(0, 1)] * len(deltas))
    return keyed_object("bar", rig)


def values(ob):
    """The values of all shape keys but the basis."""
    return np.array([block.value for block in ob.data.shape_keys.key_blocks[1:]])


def key_points(ob, name):
    points = ob.data.shape_keys.key_blocks[name].points
    flat = np.empty(len(points) * 3, np.float32)
    points.foreach_get("co", flat)
    return flat.reshape(-1, 3).astype(float)


def shown(ob):
    """What Blender shows of an object, in its own space."""
    import bpy

    bpy.context.view_layer.update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", flat)
    evaluated.to_mesh_clear()
    return flat.reshape(-1, 3).astype(float)


def shown_in_world(ob):
    matrix = np.array(ob.matrix_world)
    return shown(ob) @ matrix[:3, :3].T + matrix[:3, 3]


def view(ob, *, eye=(0.0, 0.0, 40.0), size=(800, 600), orthographic=False, shift=(0.0, 0.0)):
    """A context as a 3D view gives it, seen along −z from `eye`."""
    import bpy
    from mathutils import Matrix, Vector

    width, height = size
    look = Matrix.Translation(Vector(eye)).inverted()
    near, far = 0.1, 1000.0
    if orthographic:
        scale = 0.06
        projection = Matrix((
            (scale * height / width, 0, 0, 0), (0, scale, 0, 0),
            (0, 0, -2 / (far - near), -(far + near) / (far - near)), (0, 0, 0, 1),
        ))  # fmt: skip
    else:
        f = 1.8
        projection = Matrix((
            (f * height / width, 0, shift[0], 0), (0, f, shift[1], 0),
            (0, 0, -(far + near) / (far - near), -2 * far * near / (far - near)), (0, 0, -1, 0),
        ))  # fmt: skip
    region_data = types.SimpleNamespace(
        view_matrix=look, window_matrix=projection, perspective_matrix=projection @ look, is_perspective=not orthographic
    )
    return types.SimpleNamespace(
        object=ob,
        scene=bpy.context.scene,
        region=types.SimpleNamespace(width=width, height=height),
        region_data=region_data,
        area=types.SimpleNamespace(tag_redraw=lambda: None),
        workspace=types.SimpleNamespace(status_text_set=lambda text: None),
        preferences=bpy.context.preferences,
        view_layer=bpy.context.view_layer,
        selected_objects=bpy.context.selected_objects,
        window_manager=bpy.context.window_manager,
        evaluated_depsgraph_get=bpy.context.evaluated_depsgraph_get,
    )


def pixel(context, place):
    """Where a place of the world is on the screen."""
    from bpy_extras import view3d_utils
    from mathutils import Vector

    return tuple(view3d_utils.location_3d_to_region_2d(context.region, context.region_data, Vector(place)))


def event(kind, value="NOTHING", at=(0.0, 0.0), **modifiers):
    return types.SimpleNamespace(type=kind, value=value, mouse_region_x=at[0], mouse_region_y=at[1], **modifiers)


def armature_for(ob, *, angle=0.7, axis="Z"):
    """An armature of one bone that turns the whole object."""
    import bpy

    data = bpy.data.armatures.new("rig")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.collection.objects.link(armature)
    activate(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    bone = data.edit_bones.new("head")
    # Along y: the axes of the bone are those of the armature.
    bone.head, bone.tail = (0, 0, 0), (0, 1, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    group = ob.vertex_groups.new(name="head")
    group.add(range(len(ob.data.vertices)), 1.0, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = armature
    pose = armature.pose.bones["head"]
    pose.rotation_mode = "XYZ"
    pose.rotation_euler = tuple(angle if letter == axis else 0.0 for letter in "XYZ")
    activate(ob)
    return armature


def message(error):
    """What an operator reported, from the exception of a script."""
    return str(error.value if hasattr(error, "value") else error)
