"""The panel in the sidebar of the 3D view: six sections in the order of work."""

from typing import Any

import bpy

from ..scene import live_model


class PliantPanel:
    """What all sections share."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Pliant"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "MESH"


class PLIANT_UL_markers(bpy.types.UIList):
    """Marker pairs"""

    def draw_item(self, context: Any, layout: Any, data: Any, item: Any, icon: Any, active_data: Any, active_property: Any, index: int = 0) -> None:
        row = layout.row(align=True)
        row.label(text=str(index + 1), icon="ERROR" if item.note else "BLANK1")
        row.prop(item, "source", text="", emboss=False)
        row.prop(item, "target", text="", emboss=False)


class PLIANT_UL_routes(bpy.types.UIList):
    """Channels and shape keys"""

    def draw_item(self, context: Any, layout: Any, data: Any, item: Any, icon: Any, active_data: Any, active_property: Any, index: int = 0) -> None:
        row = layout.row(align=True)
        row.label(text=item.channel)
        keys = context.object.data.shape_keys if context.object and context.object.type == "MESH" else None
        if keys is not None:
            row.prop_search(item, "key", keys, "key_blocks", text="", icon="SHAPEKEY_DATA")
        else:
            row.prop(item, "key", text="")


class PLIANT_PT_shapes(PliantPanel, bpy.types.Panel):
    """Shapes: give this head the shape keys of another"""

    bl_label = "1. Shapes"
    bl_order = 1

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.layout, context.scene.pliant
        layout.prop(settings, "source")
        layout.operator("pliant.transfer_shapes", icon="SHAPEKEY_DATA")
        layout.label(text="Marker pairs (optional)")
        row = layout.row()
        row.template_list("PLIANT_UL_markers", "", settings, "markers", settings, "marker_index", rows=3)
        column = row.column(align=True)
        column.operator("pliant.markers_pick", text="", icon="EYEDROPPER")
        column.operator("pliant.marker_remove", text="", icon="REMOVE").index = -1
        column.operator("pliant.markers_clear", text="", icon="X")
        if 0 <= settings.marker_index < len(settings.markers) and settings.markers[settings.marker_index].note:
            layout.label(text=settings.markers[settings.marker_index].note, icon="ERROR")
        row = layout.row(align=True)
        for name in ("markers_suggest", "markers_mirror", "markers_check"):
            row.operator(f"pliant.{name}")


class PLIANT_PT_pose(PliantPanel, bpy.types.Panel):
    """Pose: drag and draw, and shape keys follow"""

    bl_label = "2. Pose"
    bl_order = 2

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings, ob = self.layout, context.scene.pliant, context.object
        row = layout.row(align=True)
        for tool, text, icon in (("drag", "Drag Tool", "HAND"), ("draw", "Draw Tool", "GREASEPENCIL")):
            row.operator("wm.tool_set_by_id", text=text, icon=icon).name = f"pliant.{tool}_tool"
        row = layout.row(align=True)
        row.prop(settings, "symmetric", toggle=True)
        row.prop(settings, "hold_pins", toggle=True)
        layout.prop(settings, "depth")
        row = layout.row(align=True)
        row.operator("pliant.pins_clear", text=f"Clear {len(ob.pliant.pins)} Pins")
        row.operator("pliant.reset_pose")
        row = layout.row(align=True)
        row.operator("pliant.lock", text="Lock Active Key", icon="LOCKED")
        row.operator("pliant.locks_clear", text=f"Unlock {len(ob.pliant.locks)}", icon="UNLOCKED")
        layout.operator("pliant.key_pose", icon="KEY_HLT")


class PLIANT_PT_capture(PliantPanel, bpy.types.Panel):
    """Capture: a recorded face, or the animation of another mesh"""

    bl_label = "3. Capture"
    bl_order = 3
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings = self.layout, context.scene.pliant
        layout.prop(settings, "capture")
        layout.operator("pliant.capture_map", icon="FILE_REFRESH")
        if len(settings.routes):
            row = layout.row()
            row.template_list("PLIANT_UL_routes", "", settings, "routes", settings, "route_index", rows=4)
            column = row.column(align=True)
            column.operator("pliant.capture_route_add", text="", icon="ADD")
            column.operator("pliant.capture_route_remove", text="", icon="REMOVE")
            if 0 <= settings.route_index < len(settings.routes):
                route = settings.routes[settings.route_index]
                row = layout.row(align=True)
                row.prop(route, "gain")
                row.prop(route, "offset")
        layout.operator("pliant.capture", icon="ACTION")
        layout.separator()
        layout.prop(settings, "source")
        layout.operator("pliant.transfer_animation", icon="ARMATURE_DATA")


class PLIANT_PT_touch(PliantPanel, bpy.types.Panel):
    """Touch: press on soft skin with an object"""

    bl_label = "4. Touch"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, settings, ob = self.layout, context.scene.pliant, context.object
        layout.operator("wm.tool_set_by_id", text="Brush Tool", icon="BRUSH_DATA").name = "pliant.touch_tool"
        row = layout.row(align=True)
        row.prop(settings, "brush_radius")
        row.operator("pliant.touch_clear", text=f"Clear {len(ob.pliant.discs)}")
        layout.prop(settings, "collider")
        layout.operator("pliant.touch", icon="MOD_PHYSICS")


class PLIANT_PT_in_between(PliantPanel, bpy.types.Panel):
    """In-between: shapes between two shapes that keep their volume"""

    bl_label = "5. In-between"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, context.object
        active = ob.active_shape_key
        layout.label(text=f"From the basis to '{active.name}'" if active else "Select two shape keys or two meshes")
        layout.operator("pliant.in_between", icon="MOD_SIMPLEDEFORM")


class PLIANT_PT_learn(PliantPanel, bpy.types.Panel):
    """Learn: a mesh that follows a few points, and bones from an animation"""

    bl_label = "6. Learn"
    bl_order = 6
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        layout, ob = self.layout, context.object
        row = layout.row(align=True)
        row.operator("pliant.learn", icon="EMPTY_AXIS")
        row.operator("pliant.learn_validate")
        if live_model.has_model(ob):
            layout.prop(ob.pliant, "is_live")
            row = layout.row(align=True)
            row.operator("pliant.learn_reset")
            row.operator("pliant.learn_bake")
            layout.operator("pliant.learn_remove", icon="X")
        layout.separator()
        layout.operator("pliant.bones", icon="BONE_DATA")


CLASSES = (
    PLIANT_UL_markers,
    PLIANT_UL_routes,
    PLIANT_PT_shapes,
    PLIANT_PT_pose,
    PLIANT_PT_capture,
    PLIANT_PT_touch,
    PLIANT_PT_in_between,
    PLIANT_PT_learn,
)
