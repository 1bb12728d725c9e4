"""Files, progress, Ctrl-C, threads."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import pliant
from conftest import bumpy_sheet, random_rig


@pytest.mark.parametrize("ending", ["obj", "ply", "glb", "gltf", "fbx", "usda", "abc", "npy"])
def test_a_mesh_comes_back_from_a_file(tmp_path, ending):
    positions, faces = bumpy_sheet(5)
    path = tmp_path / f"mesh.{ending}"
    pliant.save(path, pliant.Mesh(positions, faces))
    if ending == "npy":
        assert np.allclose(np.load(path).reshape(-1, 3), positions)
        return
    back = pliant.load(path).mesh()
    order = np.lexsort(back.positions.round(4).T)
    assert np.allclose(back.positions[order], positions[np.lexsort(positions.round(4).T)], atol=1e-5)
    assert np.isclose(back.area(), pliant.Mesh(positions, faces).area(), rtol=1e-4)


def test_a_rig_comes_back_from_a_glb(tmp_path):
    positions, faces, deltas, names = random_rig()
    left_out = pliant.save(tmp_path / "rig.glb", pliant.Rig(positions, faces, deltas, names))
    back = pliant.load(str(tmp_path / "rig.glb")).rig()
    assert back.names == names and np.allclose(back.deltas, deltas, atol=1e-6) and isinstance(left_out, list)


def test_a_clip_comes_back_from_a_file(tmp_path):
    positions, faces = bumpy_sheet(5)
    frames = positions + np.linspace(0, 1, 4)[:, None, None] * [0, 0, 1]
    clip = pliant.Clip(pliant.Mesh(positions, faces), frames, frames_per_second=24)
    pliant.save(tmp_path / "clip.glb", clip)
    back = pliant.load(tmp_path / "clip.glb").clip()
    assert np.allclose(back.frames, frames, atol=1e-5)
    assert np.isclose(clip.duration_secs, 3 / 24) and np.allclose(clip.positions_at(1.5 / 24), frames[1:3].mean(axis=0))
    assert np.array_equal(clip.mesh_at(2).positions, frames[2])


@pytest.mark.parametrize("frames", [np.zeros((2, 3, 3)), np.zeros((36, 3)), "x"])
def test_frames_of_another_mesh_are_declined(frames):
    with pytest.raises(pliant.InputError):
        pliant.Clip(pliant.Mesh(*bumpy_sheet(5)), frames)


@pytest.mark.parametrize("locator", ["nothing.obj", "specimen:nothing", "specimen:head#nothing", "specimen:bar@9999", "file.unknown", ""])
def test_what_cannot_be_opened_is_an_error_of_one_line(locator):
    with pytest.raises((pliant.FileError, pliant.InputError)) as error:
        pliant.load(locator).mesh()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", [5, None, b"bytes.obj", ["x"]])
def test_what_is_no_path_is_declined(path):
    with pytest.raises((TypeError, pliant.InputError)):
        pliant.load(path)


def test_what_cannot_be_saved_is_declined(tmp_path):
    with pytest.raises(pliant.InputError, match="list"):
        pliant.save(tmp_path / "x.obj", [1, 2])
    with pytest.raises((pliant.FileError, pliant.InputError)):
        pliant.save(tmp_path / "no" / "such" / "folder.obj", pliant.Mesh(*bumpy_sheet(2)))
    with pytest.raises((pliant.FileError, pliant.InputError)):
        pliant.save(tmp_path / "x.unknown", pliant.Mesh(*bumpy_sheet(2)))


def test_a_folder_of_targets_is_a_rig(tmp_path):
    positions, faces, deltas, _ = random_rig()
    pliant.save(tmp_path / "neutral.obj", pliant.Mesh(positions, faces))
    pliant.save(tmp_path / "smile.obj", pliant.Mesh(positions + deltas[0], faces))
    rig = pliant.load(pathlib.Path(tmp_path)).rig()
    assert rig.names == ["smile"] and np.allclose(rig.deltas[0], deltas[0], atol=1e-5)


def test_an_asset_names_what_it_holds():
    asset = pliant.load("specimen:head")
    assert asset.objects and asset.target_names == asset.rig().names and asset.meters_per_unit == 0.01
    assert "bar" in pliant.specimens()


@pytest.fixture(scope="module")
def long_work():
    """Work of some seconds that reports its progress."""
    head = pliant.load("specimen:head").rig()
    rig = pliant.Rig(head.positions, head.triangles, head.deltas[:12], head.names[:12])
    mesh = rig.neutral.posed(rig.positions * 1.1)
    return lambda progress=None: pliant.transfer_shapes(rig, mesh, progress=progress)


def test_progress_is_reported_with_stages_and_growing_shares(long_work):
    heard = []
    long_work(lambda stage, done: heard.append((stage, done)))
    shares = [done for _, done in heard]
    assert len(heard) > 5 and all(isinstance(stage, str) for stage, _ in heard) and max(shares) <= 1.0
    assert shares[-1] > shares[0]


def test_an_exception_of_the_progress_function_comes_through(long_work):
    def fail(stage, done):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        long_work(fail)


def test_false_stops_the_work(long_work):
    with pytest.raises(pliant.Stopped):
        long_work(lambda stage, done: done < 0.1)
    with pytest.raises(TypeError):
        long_work("not a function")


def test_a_bar_is_shown_on_request(long_work, capsys):
    calls = iter(range(3))
    long_work(True)
    assert "transferring" in capsys.readouterr().err


def test_ctrl_c_is_heard_and_other_threads_run_meanwhile(long_work):
    ticks, pressed = [], []

    def press():
        for _ in range(40):
            time.sleep(0.01)
            ticks.append(1)
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        long_work()
        time.sleep(2.0)
    heard = time.perf_counter()
    thread.join()
    assert len(ticks) == 40 and heard - pressed[0] < 1.5


def test_threads_may_share_objects(head):
    poser = head.poser()
    grab = poser.grab([4480, 855])
    moves = [np.array([[0.1 * k, 0.2, 0.0], [0.0, 0.0, 0.0]]) for k in range(8)]
    expected = [poser.grab([4480, 855]).solve(move).weights for move in moves]
    found = [None] * 8

    def solve(k):
        for _ in range(20):
            found[k] = grab.solve(moves[k]).weights

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    for a, b in zip(found, expected):
        assert np.allclose(a, b, atol=1e-6)


def test_a_progress_function_may_use_other_objects(long_work):
    mesh = pliant.Mesh(*bumpy_sheet(4))
    long_work(lambda stage, done: pliant.HeatGeodesics(mesh).distances(0).sum() > 0)


def test_an_asset_is_repaired(tmp_path):
    positions, faces = bumpy_sheet(4)
    # A face twice the wrong way round, and two vertices at one place.
    doubled = np.concatenate([positions, positions[:1]])
    faces = faces.copy()
    faces[0] = np.where(faces[0] == 0, len(positions), faces[0])
    repaired, repairs, warnings = pliant.Asset(pliant.Mesh(doubled, faces)).repaired(["twins"])
    assert repaired.mesh().vertex_count == len(positions) and [r["what"] for r in repairs] == ["twins"] and isinstance(warnings, list)
    with pytest.raises(pliant.InputError, match="kinds"):
        pliant.Asset(pliant.Mesh(positions, faces[1:])).repaired(["everything"])


def test_an_asset_changes_its_unit_and_axis():
    head = pliant.load("specimen:head")
    meters = head.in_space("y", 1.0)
    assert np.allclose(meters.mesh().positions, head.mesh().positions * 0.01) and meters.meters_per_unit == 1.0
    up = head.in_space("z", 0.01).mesh().positions
    x, y, z = head.mesh().positions.T
    assert np.allclose(up, np.stack([x, -z, y], axis=1))


def test_landmarks_of_a_face_are_found_on_a_rig_and_on_a_mesh(head):
    by_rig, by_mesh = pliant.landmarks(head), pliant.landmarks(head.neutral)
    size = np.ptp(head.positions, axis=0).max()
    for name in ("mouth corner left", "chin", "nose tip"):
        a, b = (head.positions[found[name][0]] for found in (by_rig, by_mesh))
        assert np.linalg.norm(a - b) < 0.05 * size and 0 <= by_mesh[name][1] <= 1


def test_the_command_runs_in_a_process_of_its_own(tmp_path):
    import subprocess
    import sys

    command = [sys.executable, "-m", "pliant"]
    done = subprocess.run([*command, "info", "specimen:bar", "--json"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and '"vertices"' in done.stdout
    assert subprocess.run([*command, "pose"], capture_output=True, cwd=tmp_path).returncode == 2
    failed = subprocess.run([*command, "info", "nothing.obj"], capture_output=True, text=True, cwd=tmp_path)
    assert failed.returncode == 1 and failed.stderr.count("\n") == 1


FORKED = """
import multiprocessing
import pliant

def total(_):
    mesh = pliant.load("specimen:head").mesh()
    distances = pliant.HeatGeodesics(mesh).distances(0)
    return float(distances[distances < float("inf")].sum())

expected = total(0)  # The libraries have threads now, which a forked process has not.
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map_async(total, range(2)).get(timeout=100) == [expected] * 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_works_and_gives_the_same_bits():
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=120)
