"""What Pliant stores in a file: settings of the scene, and pins, patches and models of objects."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from .paths import RELATIVE


def _is_mesh(_self: object, ob: bpy.types.Object) -> bool:
    return ob.type == "MESH"


class PliantPin(bpy.types.PropertyGroup):
    """A point that drags hold"""

    vertex: IntProperty(name="Vertex", min=0)


class PliantLock(bpy.types.PropertyGroup):
    """A shape key that keeps its value; its name is that of the key"""


class PliantDisc(bpy.types.PropertyGroup):
    """A part of the soft patch"""

    vertex: IntProperty(name="Vertex", min=0)
    radius: FloatProperty(name="Radius", min=0.0, description="Along the surface, in the units of the mesh")


class PliantControlPoint(bpy.types.PropertyGroup):
    """An empty that drives a learned model"""

    empty: PointerProperty(name="Empty", type=bpy.types.Object)


class PliantMarker(bpy.types.PropertyGroup):
    """The same place on two meshes"""

    source: IntProperty(name="Source", min=-1, default=-1, description="Vertex of the source")
    target: IntProperty(name="Target", min=-1, default=-1, description="Vertex of the target")
    note: StringProperty(name="Note", description="What Check says about the pair")


class PliantRoute(bpy.types.PropertyGroup):
    """A channel of a capture that moves a shape key"""

    channel: StringProperty(name="Channel", description="The name in the capture")
    key: StringProperty(name="Shape Key", description="The shape key that follows; empty for none")
    gain: FloatProperty(name="Gain", default=1.0, soft_min=-2.0, soft_max=2.0, description="The factor of the channel")
    offset: FloatProperty(name="Offset", default=0.0, soft_min=-1.0, soft_max=1.0, description="A constant that is added")
    how: StringProperty(name="Found by", description="How the route was found")


class PliantObject(bpy.types.PropertyGroup):
    """Settings of one object"""

    pins: CollectionProperty(type=PliantPin)
    locks: CollectionProperty(type=PliantLock)
    discs: CollectionProperty(type=PliantDisc)
    control_points: CollectionProperty(type=PliantControlPoint)
    is_live: BoolProperty(
        name="Live",
        default=True,
        description="The mesh follows its control points at once",
    )


class PliantScene(bpy.types.PropertyGroup):
    """Settings of the panels"""

    # Pose
    symmetric: BoolProperty(name="Mirror", description="Left and right shape keys move together")
    hold_pins: BoolProperty(name="Hold Pins", default=True, description="Other pins stay in their places during a drag")
    depth: EnumProperty(
        name="Depth",
        items=[
            ("FREE", "Free", "The shape keys decide how far the point moves towards the viewer"),
            ("PLANE", "In View Plane", "The point stays in the plane that faces the viewer"),
        ],
        description="What a drag asks for in the direction of the view",
    )

    # Touch
    collider: PointerProperty(name="Collider", type=bpy.types.Object, poll=_is_mesh, description="The object that presses on the patch")
    brush_radius: FloatProperty(
        name="Radius",
        default=0.0,
        min=0.0,
        description="Radius of the brush along the surface, in the units of the mesh; 0: a twelfth of the mesh",
    )

    # Transfer
    source: PointerProperty(name="Source", type=bpy.types.Object, poll=_is_mesh, description="The mesh whose shapes or animation are transferred")
    markers: CollectionProperty(type=PliantMarker)
    marker_index: IntProperty()

    # Capture
    capture: StringProperty(name="Capture", subtype="FILE_PATH", options=RELATIVE, description="CSV of Live Link Face or another capture of a face")
    routes: CollectionProperty(type=PliantRoute)
    route_index: IntProperty()


CLASSES = (
    PliantPin,
    PliantLock,
    PliantDisc,
    PliantControlPoint,
    PliantMarker,
    PliantRoute,
    PliantObject,
    PliantScene,
)


def attach() -> None:
    bpy.types.Object.pliant = PointerProperty(type=PliantObject)
    bpy.types.Scene.pliant = PointerProperty(type=PliantScene)


def detach() -> None:
    del bpy.types.Object.pliant
    del bpy.types.Scene.pliant
