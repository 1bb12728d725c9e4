"""Bones and skinning weights from a clip; beside py-dem-bones where it is installed. Writes bones.glb and bones.png."""

import time

import numpy as np

import pliant

clip = pliant.load("specimen:bar#bend").clip()
rest, frames = clip.reference.positions, clip.frames
size = np.linalg.norm(np.ptp(rest, axis=0))


def error(weights, transforms):
    """The root mean square distance of linear blend skinning from the clip, over the diagonal."""
    homogeneous = np.concatenate([rest, np.ones((len(rest), 1))], axis=1)
    skinned = np.einsum("vb,fbij,vj->fvi", weights, transforms, homogeneous, optimize=True)[..., :3]
    return np.sqrt(np.mean(np.sum((skinned - frames) ** 2, axis=-1))) / size


began = time.perf_counter()
bones = pliant.Bones(clip, bones=8)
secs = time.perf_counter() - began
print(f"pliant: {bones.transforms.shape[1]} bones, error {error(bones.weights, bones.transforms):.1e} of the diagonal, {secs:.2f} s")

pliant.save("bones.glb", bones.to_asset(clip))
# The clip, and bones that reproduce it, coloured by the largest weight of each vertex.
strongest = bones.weights.max(axis=1)
middle = len(frames) // 2
pictures = [
    pliant.render(clip.mesh_at(middle), size=(480, 320), rest=clip.reference),
    pliant.render(clip.reference.posed(bones.reconstruction()[middle]), size=(640, 320), rest=clip.reference, values=strongest, title="weight"),
]
pliant.save_picture("bones.png", np.concatenate(pictures, axis=1))

try:
    import py_dem_bones
except ImportError:
    print("py-dem-bones is not installed")
else:
    began = time.perf_counter()
    other = py_dem_bones.solve_skinning(rest, frames, 8, faces=clip.reference.triangles.tolist())
    secs = time.perf_counter() - began
    print(f"py-dem-bones: {len(other.weights)} bones, error {error(other.weights.T, other.transforms):.1e} of the diagonal, {secs:.2f} s")
