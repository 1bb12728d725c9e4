"""Commands in pieces, on processes of this machine."""

import sys

import pytest

import pliant
from pliant import farm

HOUND = ["transfer", "--source", "specimen:hound#walk", "--target", "specimen:hound"]
PLIANT = [sys.executable, "-m", "pliant"]

#: Kills itself at the first start of every command line, and is the program afterwards.
KILLED_ONCE = """
import hashlib, os, pathlib, runpy, signal, sys
mark = pathlib.Path(__file__).with_name(hashlib.sha256(repr(sys.argv[1:]).encode()).hexdigest())
if not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
sys.argv[0] = "pliant"
runpy.run_module("pliant", run_name="__main__")
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "walk.glb"
    farm.run_piece([*PLIANT, *HOUND, "--out", str(out)])
    return out.read_bytes()


def test_pieces_of_two_processes_are_the_whole_to_the_bit(tmp_path, whole):
    out = tmp_path / "walk.glb"
    report = farm.map(HOUND, out=out, workers=2, chunk=12)
    assert out.read_bytes() == whole
    assert report["command"] == "transfer"
    assert [piece["frames"] for piece in report["pieces"]] == ["0-11", "12-23", "24-31"]


def test_a_killed_process_is_started_again_and_loses_nothing(tmp_path, whole):
    script = tmp_path / "killed_once.py"
    script.write_text(KILLED_ONCE)
    out = tmp_path / "walk.glb"
    farm.map(HOUND, out=out, frames=32, workers=2, chunk=16, program=[sys.executable, str(script)])
    assert out.read_bytes() == whole
    marks = [path for path in tmp_path.iterdir() if len(path.name) == 64]
    assert len(marks) == 3, "two pieces and the join were killed once each"


def test_wrong_arguments_are_not_tried_again(tmp_path):
    with pytest.raises(pliant.InputError, match="specimen"):
        farm.map(["transfer", "--source", "specimen:no", "--target", "specimen:hound"], out=tmp_path / "a.glb", frames=4)
    with pytest.raises(pliant.InputError, match="not divided"):
        farm.frame_count(["blend", "specimen:head", "--weights", "jawOpen=1"])


def test_the_number_of_frames_is_asked_of_the_command():
    assert farm.frame_count(HOUND) == 32
