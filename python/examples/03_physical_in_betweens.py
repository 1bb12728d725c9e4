"""Shapes between a straight and a bent bar, which keep their volume. Writes bend.glb and bend.png."""

import numpy as np

import pliant

straight = pliant.load("specimen:bar").mesh()
bent = pliant.load("specimen:bar#bend@24").mesh()

blend = pliant.Blend([straight, bent])
half = blend.at([0.5, 0.5])
linear = straight.posed((straight.positions + bent.positions) / 2)
pliant.save("bend.glb", blend.clip(steps=12, frames_per_second=24))

shapes = [straight.posed(half.positions), linear, straight, bent]
shapes = [shape.posed(shape.positions - shape.positions.mean(axis=0)) for shape in shapes]
pictures = [pliant.render(shape, view="front", size=(280, 160), rest=straight) for shape in (shapes[2], shapes[1], shapes[0], shapes[3])]
pliant.save_picture("bend.png", np.concatenate(pictures, axis=1))  # Straight, linear, physical, bent.

volumes = np.array([half.volume, linear.signed_volume()]) / straight.signed_volume()
print(f"half way, the springs keep {volumes[0]:.1%} of the volume and the linear blend {volumes[1]:.1%}")
