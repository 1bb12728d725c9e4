"""Expressions of drivers that are affine in their variables.

Problem. A driven shape key has the value `f(p₁ … pₙ)`. To move the key, its variables have to move,
which needs `f` in the form `a₁ p₁ + … + aₙ pₙ + b`.

Method. The expression is parsed; sums, products and quotients with a constant are followed, and all
else is declined.
"""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Affine:
    """`constant + Σ gains[name] · name`."""

    constant: float = 0.0
    gains: Mapping[str, float] = field(default_factory=dict)

    def scaled(self, factor: float) -> "Affine":
        return Affine(self.constant * factor, {name: gain * factor for name, gain in self.gains.items()})

    def plus(self, other: "Affine") -> "Affine":
        gains = dict(self.gains)
        for name, gain in other.gains.items():
            gains[name] = gains.get(name, 0.0) + gain
        return Affine(self.constant + other.constant, gains)

    def at(self, values: Mapping[str, float]) -> float:
        return self.constant + sum(gain * values[name] for name, gain in self.gains.items())


CONSTANTS = {"pi": math.pi, "e": math.e, "True": 1.0, "False": 0.0}


def affine_of(expression: str, variables: set[str]) -> Affine | None:
    """The affine function that `expression` is; `None` if it is none."""
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
        found = _follow(tree, variables)
    except (SyntaxError, ValueError, RecursionError, ZeroDivisionError, OverflowError):
        return None
    if found is None or not math.isfinite(found.constant):
        return None
    if not all(math.isfinite(gain) for gain in found.gains.values()):
        return None
    return Affine(found.constant, {name: gain for name, gain in found.gains.items() if gain != 0.0})


def _follow(node: ast.expr, variables: set[str]) -> Affine | None:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return Affine(float(value))
        case ast.Name(id=name):
            if name in variables:
                return Affine(0.0, {name: 1.0})
            return Affine(CONSTANTS[name]) if name in CONSTANTS else None
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            inner = _follow(operand, variables)
            return inner and inner.scaled(-1.0 if isinstance(sign, ast.USub) else 1.0)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combine(operator, _follow(left, variables), _follow(right, variables))
        case _:
            return None


def _combine(operator: ast.operator, left: Affine | None, right: Affine | None) -> Affine | None:
    if left is None or right is None:
        return None
    match operator:
        case ast.Add():
            return left.plus(right)
        case ast.Sub():
            return left.plus(right.scaled(-1.0))
        case ast.Mult():
            if not right.gains:
                return left.scaled(right.constant)
            return right.scaled(left.constant) if not left.gains else None
        case ast.Div():
            return left.scaled(1.0 / right.constant) if not right.gains else None
        case _:
            return None
