"""The viewer of notebooks: one piece of HTML without network, with the right numbers in it."""

import base64
import html
import json
import re

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig


def content_of(text):
    """The data of the viewer, as numpy reads it back."""
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', text).group(1))
    data = json.loads(re.search(r"const data = (\{.*?\}),", page).group(1))
    frames = np.frombuffer(base64.b64decode(data["frames"]), "<i2").reshape(data["count"], data["vertices"], 3)
    triangles = np.frombuffer(base64.b64decode(data["triangles"]), "<u4").reshape(-1, 3)
    return page, data, frames, triangles


def test_a_mesh_is_shown_with_its_own_shape(bumpy):
    page, _, frames, triangles = content_of(bumpy._repr_html_())
    assert np.array_equal(triangles, bumpy.triangles)
    positions = bumpy.positions
    size = np.ptp(positions, axis=0).max()
    middle = (positions.min(axis=0) + positions.max(axis=0)) / 2
    assert np.allclose(frames[0] / 65534 * size + middle, positions, atol=size / 60000)
    assert "http" not in page and "src=" not in page and "81 vertices" in page


def test_a_clip_has_all_its_frames(bumpy):
    frames = bumpy.positions + np.linspace(0, 1, 7)[:, None, None] * [0, 0, 1]
    _, data, shown, _ = content_of(pliant.view(pliant.Clip(bumpy, frames, frames_per_second=12)))
    assert len(shown) == 7 and data["rate"] == 12
    assert np.allclose(np.diff(shown[:, 0, 2] / 65534.0), np.diff(frames[:, 0, 2]) / np.ptp(frames, axis=(0, 1)).max(), atol=1e-4)


def test_a_long_clip_is_thinned(bumpy, monkeypatch):
    monkeypatch.setattr("pliant.notebook.MOST_BYTES", 81 * 6 * 3)
    frames = np.repeat(bumpy.positions[None], 10, axis=0)
    page, data, shown, _ = content_of(pliant.view(pliant.Clip(bumpy, frames, frames_per_second=24)))
    assert len(shown) == 3 and data["rate"] == 6 and "every 4th" in page


def test_rigs_empty_and_broken_meshes_are_shown():
    positions, faces, deltas, names = random_rig()
    assert "<iframe" in pliant.Rig(positions, faces, deltas, names)._repr_html_()
    assert "<iframe" in pliant.Mesh(np.zeros((0, 3)), [])._repr_html_()
    positions[3] = np.nan
    assert "<iframe" in pliant.Mesh(positions, faces)._repr_html_()
    with pytest.raises(pliant.InputError):
        pliant.view(np.zeros(3))


def test_a_title_cannot_break_out():
    mesh = pliant.Mesh(*bumpy_sheet(2), name='"><script>alert(1)</script>/*data*/')
    page, *_ = content_of(pliant.view(mesh))
    assert "<script>alert" not in page
