"""A mesh or a clip in a notebook: a small viewer in one piece of HTML, without any network."""

from __future__ import annotations

import base64
import html
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _pliant

if TYPE_CHECKING:
    from . import Clip, Mesh, Rig

MOST_BYTES = 12_000_000
"""A clip is shown with every second, third … frame where all frames would need more."""


def html_of(content: Mesh | Clip | Rig, *, width: int = 640, height: int = 480, title: str = "") -> str:
    """The viewer of ``pliant.view``."""
    mesh, frames, rate = _parts(content)
    stride = max(1, -(-frames.shape[0] * mesh.vertex_count * 6 // MOST_BYTES))
    shown = frames[::stride]

    # Sixteen bits for each coordinate: a part in 65536 of the size, below a pixel.
    low = np.nanmin(shown, axis=(0, 1)) if shown.size else np.zeros(3)
    high = np.nanmax(shown, axis=(0, 1)) if shown.size else np.ones(3)
    size = float(max(np.max(high - low), 1e-30))
    steps = np.nan_to_num((shown - (low + high) / 2) / size * 65534).round().clip(-32767, 32767).astype("<i2")

    notes = [f"{mesh.vertex_count:,} vertices, {mesh.face_count:,} faces"]
    if len(frames) > 1:
        notes.append(f"{len(frames)} frames at {rate:g} per second" + (f", every {stride}th shown" if stride > 1 else ""))
    data = {
        "frames": _base64(steps),
        "triangles": _base64(mesh.triangles.astype("<u4")),
        "vertices": mesh.vertex_count,
        "count": len(shown),
        "rate": rate / stride,
    }
    caption = html.escape(", ".join([title or mesh.name or type(content).__name__.lower(), *notes]))
    page = _pliant.viewer_page().replace("/*data*/", json.dumps(data)).replace("<!--caption-->", caption)
    return f'<iframe srcdoc="{html.escape(page)}" width="{width}" height="{height}" style="border:0" title="{caption}"></iframe>'


def _parts(content: Any) -> tuple[Mesh, NDArray[np.float64], float]:
    from . import Clip, InputError, Mesh, Rig

    if isinstance(content, Clip):
        mesh = content.reference
        return mesh, content.frames if len(content) else mesh.positions[None], content.frames_per_second
    if isinstance(content, Rig):
        content = content.neutral
    if isinstance(content, Mesh):
        return content, content.positions[None], 1.0
    raise InputError(f"view: {type(content).__name__} has no shape to show; give a Mesh, Clip or Rig")


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
