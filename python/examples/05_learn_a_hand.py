"""A hand that follows 24 points, trained on half of its poses. Writes hand.glb and hand.png, an animation."""

import time

import numpy as np

import pliant

examples = pliant.load("specimen:hand").clip()
frames = examples.frames
trained_on = pliant.Clip(examples.reference, frames[: len(frames) // 2 * 2 : 2])
unseen = frames[1::2]

model = pliant.Model.train(trained_on, 24)
control = model.control_vertices
size = np.ptp(examples.reference.positions, axis=0).max()

began = time.perf_counter()
errors = [np.linalg.norm(model.drive(frame[control]) - frame, axis=1).mean() / size for frame in unseen]
ms = (time.perf_counter() - began) / len(unseen) * 1e3
pliant.save("hand.glb", model.drive_clip(unseen[:, control], frames_per_second=24))
driven = model.drive_clip(unseen[:, control], frames_per_second=24)
pictures = []
for truth, frame in zip(unseen, driven.frames):
    pair = [pliant.render(examples.reference.posed(shape), size=(320, 360), rest=examples.reference) for shape in (truth, frame)]
    pictures.append(np.concatenate(pair, axis=1))
pliant.save_picture("hand.png", np.array(pictures), frames_per_second=4)  # The truth, and the driven mesh.
print(f"{len(trained_on)} examples, {len(unseen)} unseen poses: mean error {np.mean(errors):.2%} of the size, {ms:.1f} ms a pose")
