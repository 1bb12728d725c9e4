"""Code that a type checker accepts; the lines that it must not are marked."""

import numpy as np

import pliant

rig: pliant.Rig = pliant.Rig([[0.0, 0.0, 0.0]], [[0, 0, 0]], np.zeros((1, 1, 3)), ["a"])
grab: pliant.Grab = rig.poser().grab([pliant.Pin(0, [0, 0, 1]), 3], {"a": 0.5}, solver="pinv")
weights: np.ndarray = grab.solve([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]).weights
clip: pliant.Clip = pliant.Blend([rig.neutral, rig.neutral]).clip(steps=3, progress=lambda stage, done: done < 0.5)
found, reports = pliant.transfer_shapes(rig, rig.neutral, markers=[[0, 0]])
gap: float = reports[0]["gap_after"]

rig.poser().grab([0], solver="best")  # type: ignore[arg-type]
