"""Drag the corner of a mouth: slider weights from pins. Writes smile.obj and smile.png."""

import time

import numpy as np

import pliant

rig = pliant.load("specimen:head").rig()
grab = rig.poser().grab([pliant.Pin(4480), 855])  # The corner of the mouth, and the chin, which is held.

# The pointer moves; each answer takes a fraction of a millisecond.
times = []
for share in np.linspace(0.0, 1.0, 60):
    began = time.perf_counter()
    pose = grab.solve([[0.7 * share, 1.1 * share, 0.0], [0.0, 0.0, 0.0]])
    times.append(time.perf_counter() - began)

smile = rig.neutral.posed(rig.evaluate(pose.weights))
pliant.save("smile.obj", smile)
pictures = [pliant.render(mesh, view="front", size=(400, 480), rest=rig.neutral) for mesh in (rig.neutral, smile)]
pliant.save_picture("smile.png", np.concatenate(pictures, axis=1))

sliders = ", ".join(f"{name} {weight:.2f}" for name, weight in pose.active.items())
print(f"{np.median(times) * 1e6:.0f} µs a move; {sliders}; the pin misses its goal by {pose.errors[0]:.2g} cm")
