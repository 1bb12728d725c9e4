"""A drag: pins of one object that are held and moved, without any event loop."""

from dataclasses import dataclass, field

import bpy
import numpy as np

import pliant

from ..core.pins import PinGoal, view_plane_goal
from ..core.places import moved_directions
from .meshes import require_vertices
from .shape_keys import KeyRig, key_rig, poser_of
from .space import deformation


@dataclass
class DragOptions:
    symmetric: bool = False
    #: Names of keys that keep their values.
    locked: set[str] = field(default_factory=set)


class Drag:
    """Pins on an object: the first one moves, and the others follow their goals or are held."""

    def __init__(self, ob: bpy.types.Object, goals: list[PinGoal], options: DragOptions, free: np.ndarray | None = None) -> None:
        require_vertices(ob, [goal.vertex for goal in goals])
        self.goals = goals
        self.keys: KeyRig = key_rig(ob, options.locked)
        self.start = self.keys.weights.copy()
        pins: list[pliant.Pin | int] = []
        for goal in goals:
            # The direction of the view is free for pins that move, not for held ones.
            across = free if free is not None and not goal.held else None
            pins.append(pliant.Pin(goal.vertex, across=across) if across is not None else goal.vertex)
        poser = poser_of(self.keys.rig)
        self.grab = poser.grab(pins, self.start, symmetric=options.symmetric)
        self.pose: pliant.Pose | None = None
        self.changed: set[int] = set()

    def move(self, displacements: np.ndarray) -> pliant.Pose:
        """Moves the pins by displacements (pins, 3) of the undeformed surface, and sets the keys."""
        self.pose = self.grab.solve(displacements)
        self.changed.update(self.keys.write(self.pose.weights))
        return self.pose

    def to_goals(self) -> pliant.Pose:
        return self.move(np.array([goal.displacement for goal in self.goals]))

    def restore(self) -> None:
        """Back to the values before the drag."""
        self.keys.write(self.start)
        self.changed.clear()

    def insert_keys(self, options: set[str]) -> tuple[int, list[str]]:
        """Keyframes for what changed: how many, and the controls that took none."""
        count, failed = 0, []
        for k in sorted(self.changed):
            control = self.keys.controls[k]
            if control is None or self.keys.weights[k] == self.start[k]:
                continue
            if "INSERTKEY_AVAILABLE" in options and not control.is_animated:
                continue
            try:
                count += control.insert_key(options)
            except (RuntimeError, TypeError) as error:
                failed.append(f"{control.name}: {error}")
        return count, failed


class ViewDrag:
    """A drag whose first pin follows the pointer in the view plane."""

    def __init__(
        self,
        ob: bpy.types.Object,
        vertex: int,
        held: list[int],
        normal: np.ndarray,
        context: bpy.types.Context,
        options: DragOptions,
        *,
        free_depth: bool = True,
    ) -> None:
        """`normal` is the direction of the view at the vertex, in the object's space."""
        require_vertices(ob, [vertex, *held])
        with deformation(ob, context.evaluated_depsgraph_get(), context.scene) as maps:
            self.to_deformed = maps.at(vertex)
        _, self.free = view_plane_goal(np.zeros(3), normal, self.to_deformed)
        if not free_depth:
            self.free = np.zeros(3)
        goals = [PinGoal(vertex, held=False)] + [PinGoal(v) for v in held if v != vertex]
        free = self.free if free_depth else None
        self.drag = Drag(ob, goals, options, free)
        self.displacement = np.zeros(3)

    def move(self, displacement: np.ndarray) -> pliant.Pose:
        """Moves the first pin by a displacement on screen, in the object's space."""
        self.displacement = np.linalg.solve(self.to_deformed, displacement)
        rows = np.zeros((len(self.drag.goals), 3))
        rows[0] = self.displacement
        return self.drag.move(rows)

    @property
    def goals(self) -> list[PinGoal]:
        """The pins with their present goals, as `Drag` takes them."""
        x, y, z = self.displacement.tolist()
        first = PinGoal(self.drag.goals[0].vertex, (x, y, z), held=False)
        return [first, *self.drag.goals[1:]]


def view_normal(ob: bpy.types.Object, direction: object) -> np.ndarray:
    """A direction of the world in the object's space, of length 1."""
    normal = moved_directions(ob.matrix_world.inverted_safe(), direction)
    return normal / max(np.linalg.norm(normal), 1e-30)
