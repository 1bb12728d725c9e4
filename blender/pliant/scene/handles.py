"""Objects that are found again after other things happened in Blender, such as undo."""

from typing import Any

import bpy

from ..core.problem import Problem


class Handle:
    """An object, by its identity in this session."""

    def __init__(self, ob: bpy.types.Object) -> None:
        self._uid = ob.session_uid
        self._name = ob.name
        self._vertices = len(ob.data.vertices) if ob.type == "MESH" else 0

    def get(self) -> Any:
        """The object, if it is still there with the same vertices."""
        for ob in bpy.data.objects:
            if ob.session_uid == self._uid:
                if ob.type == "MESH" and len(ob.data.vertices) != self._vertices:
                    break
                return ob
        raise Problem(f"'{self._name}' changed while Pliant worked; nothing was written, run it again")
