"""Tools in the toolbar of the 3D view."""

import bpy


class PliantDragTool(bpy.types.WorkSpaceTool):
    """Press on the face and pull"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = "pliant.drag_tool"
    bl_label = "Pliant Drag"
    bl_description = (
        "Press on the face and pull: shape keys follow.\n"
        "Ctrl click: hold a point. Alt click: release it. Esc: restore"
    )
    bl_icon = "ops.transform.vertex_random"
    bl_widget = None
    bl_keymap = (
        ("pliant.pin_add", {"type": "LEFTMOUSE", "value": "PRESS", "ctrl": True}, None),
        ("pliant.pin_remove", {"type": "LEFTMOUSE", "value": "PRESS", "alt": True}, None),
        ("pliant.drag", {"type": "LEFTMOUSE", "value": "PRESS"}, None),
    )

    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, tool: object) -> None:  # noqa: N805
        settings = context.scene.pliant
        layout.prop(settings, "symmetric")
        layout.prop(settings, "hold_pins")
        layout.prop(settings, "depth")


class PliantDrawTool(bpy.types.WorkSpaceTool):
    """Draw a brow, a lid or a lip"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = "pliant.draw_tool"
    bl_label = "Pliant Draw"
    bl_description = "Draw how a brow, a lid or a lip should bend: shape keys follow the stroke"
    bl_icon = "ops.gpencil.draw"
    bl_widget = None
    bl_keymap = (("pliant.draw", {"type": "LEFTMOUSE", "value": "PRESS"}, None),)

    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, tool: object) -> None:  # noqa: N805
        layout.prop(context.scene.pliant, "symmetric")


class PliantTouchTool(bpy.types.WorkSpaceTool):
    """Brush a soft patch"""

    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = "pliant.touch_tool"
    bl_label = "Pliant Touch"
    bl_description = "Brush over the skin that becomes soft; Touch in the panel presses on it with an object"
    bl_icon = "ops.sculpt.mask_by_color"
    bl_widget = None
    bl_keymap = (("pliant.touch_brush", {"type": "LEFTMOUSE", "value": "PRESS"}, None),)

    def draw_settings(context: bpy.types.Context, layout: bpy.types.UILayout, tool: object) -> None:  # noqa: N805
        layout.prop(context.scene.pliant, "brush_radius")


TOOLS = (PliantDragTool, PliantDrawTool, PliantTouchTool)
_attached: list[type] = []


def attach() -> None:
    after = "builtin.measure"
    for tool in TOOLS:
        bpy.utils.register_tool(tool, after={after}, separator=after == "builtin.measure")
        after = tool.bl_idname
        _attached.append(tool)


def detach() -> None:
    for tool in reversed(_attached):
        bpy.utils.unregister_tool(tool)
    _attached.clear()
