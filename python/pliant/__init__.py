"""Pose, touch, blend, transfer and learn the deformation of a character mesh from examples.

Arrays in, arrays out: positions are float64 arrays of shape (n, 3), faces arrays of vertex indices
counted from 0. Everything that numpy can view as such an array is accepted.
"""

from __future__ import annotations

from ._pliant import *  # noqa: F403
from ._pliant import Clip as Clip
from ._pliant import Mesh as Mesh
from ._pliant import Rig as Rig
from .errors import DefectError as DefectError
from .errors import Error as Error
from .errors import FileError as FileError
from .errors import InputError as InputError
from .errors import Stopped as Stopped


def view(content: Mesh | Clip | Rig, *, width: int = 640, height: int = 480, title: str = "") -> str:
    """A viewer of a mesh, a clip or the neutral of a rig, as HTML in one piece.

    Drag to turn it, scroll to zoom, press Shift and drag to move it; a clip has a slider and a button. Notebooks
    show meshes, rigs and clips with it; ``width`` and ``height`` are in pixels. It uses no network.

    >>> pliant.view(pliant.load("specimen:bar").mesh())[:15]
    '<iframe srcdoc='
    """
    # Imported where a notebook asks for it.
    from .notebook import html_of

    return html_of(content, width=width, height=height, title=title)
