"""Performances: reading, cleaning, names, retargeting."""

import numpy as np
import pytest

import pliant
from conftest import random_rig

HEADER = "Timecode,BlendShapeCount,JawOpen,EyeBlinkLeft,HeadYaw"


def csv(tmp_path, rows, fps=60):
    lines = [HEADER]
    for k, row in enumerate(rows):
        secs, frame = divmod(k, fps)
        lines.append(f"00:00:{secs:02}:{frame:02}.000,61," + ",".join("" if np.isnan(v) else repr(float(v)) for v in row))
    path = tmp_path / "take.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_comes_back_with_its_names_values_and_rotations(tmp_path):
    values = np.random.default_rng(0).uniform(size=(30, 3)).round(6)
    take = pliant.Performance.load(csv(tmp_path, values), frames_per_second=60)
    assert [name.lower() for name in take.channels] == ["jawopen", "eyeblinkleft"] and len(take) == 30
    assert np.allclose(take.values, values[:, :2]) and list(take.rotations) == ["HeadYaw"]
    assert np.allclose(np.diff(take.times_secs), 1 / take.frames_per_second) and take.timecode.startswith("00:00:00")


def test_channels_move_sliders_of_their_names():
    positions, faces, deltas, _ = random_rig(3)
    rig = pliant.Rig(positions, faces, deltas, ["jawOpen", "eyeBlinkLeft", "other"])
    jaw = np.linspace(0, 1, 10)
    take = pliant.Performance({"JawOpen": jaw, "EyeBlinkLeft": jaw / 2}, frames_per_second=30)
    assert np.allclose(take.weights(rig), np.stack([jaw, jaw / 2, 0 * jaw], axis=1))

    routes = take.guess_map(rig.names)
    assert {(r["from"], r["to"]) for r in routes["channels"]} == {("JawOpen", "jawOpen"), ("EyeBlinkLeft", "eyeBlinkLeft")}
    for route in routes["channels"]:
        route["gain"], route["offset"] = 0.5, 0.1
    assert np.allclose(take.weights(rig, map=routes)[:, 0], 0.5 * jaw + 0.1)
    with pytest.raises(pliant.InputError):
        take.weights(rig, map={"channels": [{"from": "Nothing", "to": "jawOpen"}]})
    with pytest.raises(pliant.InputError):
        take.weights(rig, map={"unknown key": 1})


def test_sides_are_mirrored():
    positions, faces, deltas, _ = random_rig(2)
    rig = pliant.Rig(positions, faces, deltas, ["eyeBlinkLeft", "eyeBlinkRight"])
    take = pliant.Performance({"eyeBlinkLeft": np.ones(4), "eyeBlinkRight": np.zeros(4)}, frames_per_second=30)
    assert take.weights(rig)[0].tolist() == [1, 0] and take.weights(rig, sides="mirrored")[0].tolist() == [0, 1]
    assert np.allclose(take.weights(rig, sides="symmetric"), 0.5)


def test_cleaning_fills_gaps_removes_spikes_and_lowers_noise():
    rng = np.random.default_rng(2)
    t = np.arange(240) / 60
    clean = 0.4 + 0.3 * np.sin(2 * np.pi * 0.5 * t)
    noisy = clean + rng.normal(scale=0.01, size=t.size)
    noisy[100] += 0.5
    noisy[150:155] = np.nan
    take = pliant.Performance({"jawOpen": noisy}, frames_per_second=60).cleaned()
    found = take.values[:, 0]
    assert np.isfinite(found).all() and abs(found[100] - clean[100]) < 0.05
    known = np.r_[10:95, 105:145, 160:230]
    assert np.std(found[known] - clean[known]) < 0.6 * 0.01

    untouched = pliant.Performance({"jawOpen": clean}, frames_per_second=60).cleaned(smoothing=0, spikes=False)
    assert np.allclose(untouched.values[:, 0], clean, atol=1e-6)


def test_resampling_keeps_a_line():
    take = pliant.Performance({"jawOpen": np.linspace(0, 1, 31)}, frames_per_second=30).resampled(60)
    assert take.frames_per_second == 60 and np.allclose(take.values[:, 0], take.times_secs, atol=1e-9)


def test_calibration_removes_rest_and_range():
    jaw = np.r_[np.full(10, 0.1), np.linspace(0.1, 0.6, 10)]
    take = pliant.Performance({"jawOpen": jaw}, frames_per_second=30)
    calibrated = take.calibrated(take, rest=range(10), extremes={"jawOpen": 19})
    assert np.allclose(calibrated.values[[0, 19], 0], [0, 1], atol=1e-6)


def test_a_capture_plays_on_an_asset_and_is_saved(tmp_path, head):
    jaw = np.linspace(0, 1, 12)
    take = pliant.Performance({"jawOpen": jaw}, frames_per_second=24)
    played = pliant.load("specimen:head").play(take)
    column = head.names.index("jawOpen")
    assert np.allclose(played.weights[:, column], jaw, atol=1e-6) and np.isclose(played.times_secs[-1], 11 / 24)
    pliant.save(tmp_path / "talk.glb", played.asset)
    back = pliant.load(tmp_path / "talk.glb").clip()
    assert len(back) == 12
    expected = head.evaluate({"jawOpen": 1.0})
    order = np.linalg.norm(back.frames[-1] / back.frames[-1].std() - expected / expected.std(), axis=1)
    assert order.max() < 0.1


def test_a_performance_of_a_rig_follows_on_another_with_the_same_surface(head):
    few = ["jawOpen", "mouthSmileLeft", "mouthSmileRight", "browInnerUp", "mouthPucker"]
    rows = [head.names.index(name) for name in few]
    small = pliant.Rig(head.positions, head.neutral.faces, head.deltas[rows], few)
    curves = np.random.default_rng(1).uniform(size=(5, 5))
    take = pliant.Performance(dict(zip(few, curves.T)), frames_per_second=30)
    retargeted = take.retargeted(small, small)
    assert retargeted.channels == few and np.allclose(retargeted.values, curves, atol=0.02)


def test_what_cannot_be_a_performance_is_declined(tmp_path):
    with pytest.raises(pliant.InputError, match="one for each frame"):
        pliant.Performance({"a": [1, 2], "b": [1]}, frames_per_second=30)
    with pytest.raises(pliant.InputError):
        pliant.Performance({"a": [1, 2]}, frames_per_second=0)
    with pytest.raises(pliant.FileError):
        pliant.Performance.load(tmp_path / "nothing.csv")
    with pytest.raises((pliant.InputError, pliant.FileError)):
        pliant.load("specimen:bar").play(pliant.Performance({"a": [1, 2]}, frames_per_second=30))
