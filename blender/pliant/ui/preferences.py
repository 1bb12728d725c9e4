"""Preferences of the extension."""

import bpy
from bpy.props import FloatProperty, FloatVectorProperty

PACKAGE = __package__.rpartition(".")[0]


class PliantPreferences(bpy.types.AddonPreferences):
    """Looks of the handles in the view"""

    bl_idname = PACKAGE

    handle_size: FloatProperty(name="Handle Size", default=5.0, min=2.0, max=20.0, description="Radius of a handle in pixels")
    pin_color: FloatVectorProperty(name="Pins", subtype="COLOR", size=4, min=0.0, max=1.0, default=(1.0, 0.55, 0.1, 1.0))
    patch_color: FloatVectorProperty(name="Soft Patch", subtype="COLOR", size=4, min=0.0, max=1.0, default=(0.3, 0.7, 1.0, 0.8))
    marker_color: FloatVectorProperty(name="Markers", subtype="COLOR", size=4, min=0.0, max=1.0, default=(0.3, 0.9, 0.4, 1.0))
    wrong_color: FloatVectorProperty(name="Wrong Markers", subtype="COLOR", size=4, min=0.0, max=1.0, default=(1.0, 0.15, 0.15, 1.0))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        for name in ("handle_size", "pin_color", "patch_color", "marker_color", "wrong_color"):
            layout.prop(self, name)


def preferences(context: bpy.types.Context) -> PliantPreferences | None:
    addon = context.preferences.addons.get(PACKAGE)
    return addon.preferences if addon else None


CLASSES = (PliantPreferences,)
