"""Pins as text, for operator properties and scripts."""

import math
from dataclasses import dataclass

import numpy as np

from .problem import Problem


@dataclass(frozen=True)
class PinGoal:
    """A vertex and how far it goes, in the space of the shape keys. A held vertex stays."""

    vertex: int
    displacement: tuple[float, float, float] = (0.0, 0.0, 0.0)
    held: bool = True


def parse_pins(text: str) -> list[PinGoal]:
    """`"88:0,-1,0; 12"`: vertex 88 moves down by 1, vertex 12 is held."""
    goals: list[PinGoal] = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        number, colon, vector = part.partition(":")
        try:
            vertex = int(number)
            numbers = [float(n) for n in vector.split(",")] if colon else [0.0, 0.0, 0.0]
        except ValueError:
            raise Problem(f"'{part}' is no pin; write it as VERTEX or VERTEX:dx,dy,dz") from None
        if vertex < 0 or len(numbers) != 3 or not all(map(math.isfinite, numbers)):
            raise Problem(f"'{part}' is no pin; write it as VERTEX or VERTEX:dx,dy,dz")
        if any(goal.vertex == vertex for goal in goals):
            raise Problem(f"vertex {vertex} has two pins; keep one of them")
        goals.append(PinGoal(vertex, (numbers[0], numbers[1], numbers[2]), held=not colon))
    return goals


def pins_text(goals: list[PinGoal]) -> str:
    parts = []
    for goal in goals:
        numbers = ",".join(repr(float(c)) for c in goal.displacement)
        parts.append(str(goal.vertex) if goal.held else f"{goal.vertex}:{numbers}")
    return "; ".join(parts)


def parse_vertices(text: str) -> list[int]:
    """`"4, 8, 12"` as numbers."""
    try:
        return [int(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        raise Problem(f"'{text}' is no list of vertices; write it as 4, 8, 12") from None


def parse_discs(text: str) -> list[tuple[int, float]]:
    """`"2134:4; 80:2.5"`: discs of a soft patch, as a vertex and a radius."""
    discs = []
    for part in filter(None, (part.strip() for part in text.split(";"))):
        vertex, _, radius = part.partition(":")
        try:
            disc = int(vertex), float(radius)
        except ValueError:
            raise Problem(f"'{part}' is no disc; write it as VERTEX:RADIUS") from None
        if not (disc[1] > 0.0 and math.isfinite(disc[1])):
            raise Problem(f"the radius of '{part}' is not above 0")
        discs.append(disc)
    return discs


def view_plane_goal(
    displacement: np.ndarray, normal: np.ndarray, to_deformed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A displacement in the view plane as a pin of the undeformed surface: goal and free direction.

    With the linear map `A` from the undeformed to the visible surface, the pin asks for
    `A d = g + t n`, any `t`; so `d = A⁻¹ g + t A⁻¹ n`, and `A⁻¹ n` is free.
    """
    inverse = np.linalg.inv(to_deformed)
    free = inverse @ normal
    return inverse @ displacement, free / np.linalg.norm(free)
