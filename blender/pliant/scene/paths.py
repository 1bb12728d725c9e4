"""Properties that hold paths of files."""

import bpy

#: Options of a property whose path may begin with `//`, the folder of the .blend file. Before Blender 4.5, every property could.
RELATIVE = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
