"""The expressions of one head on another head. Writes long_head.glb and long_head.png."""

import numpy as np

import pliant

head = pliant.load("specimen:head").rig()
few = [head.names.index(name) for name in ("jawOpen", "mouthSmileLeft", "browInnerUp", "eyeBlinkLeft")]
source = pliant.Rig(head.positions, head.neutral.faces, head.deltas[few], [head.names[k] for k in few])

# Another head: longer, and with a narrow chin.
x, y, z = source.positions.T
height = (y - y.min()) / np.ptp(y)
target = head.neutral.posed(np.stack([x * (0.7 + 0.3 * height), 1.2 * y, z], axis=1))

rig, reports = pliant.transfer_shapes(source, target)
pliant.save("long_head.glb", rig)
expression = {"jawOpen": 0.5, "mouthSmileLeft": 1.0, "browInnerUp": 1.0}
pictures = []
for one, look in ((source, head.neutral), (rig, target)):
    for weights in ({}, expression):
        pictures.append(pliant.render(look.posed(one.evaluate(weights)), view="front", size=(320, 400), rest=look))
pliant.save_picture("long_head.png", np.concatenate(pictures, axis=1))

closed = max(report["gap_after"] for report in reports)
print(f"{len(rig)} shapes on {rig.neutral.vertex_count} vertices; the largest gap of lids and lips is {closed:.1e} of the diagonal")
