#!/usr/bin/env python3
"""Job bundles of `pliant job`, checked and run by openjd-cli (PyPI: the Open Job Description on one machine).

    python3 checks/farm.py --pliant target/debug/pliant [--openjd openjd] [NAME…]

Every command that can be divided is written as a bundle; `openjd check` must accept it, `openjd run` must succeed, and
what its last step wrote must equal the undivided run, byte for byte. Takes about half a minute.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Failed(Exception):
    """A claim that does not hold."""


def run(words: list[str], folder: Path) -> str:
    """The output of a command that succeeds."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        text = "\n".join((done.stdout + done.stderr).splitlines()[-25:])
        raise Failed(f"{' '.join(words)} ended with {done.returncode}:\n{text}")
    return done.stdout


class Farm:
    """Bundles in one folder."""

    def __init__(self, pliant: str, openjd: str, folder: Path) -> None:
        self.pliant = pliant
        self.openjd = openjd
        self.folder = folder

    def make(self, *words: str) -> None:
        run([self.pliant, *words, "--quiet"], self.folder)

    def job(self, *words: str) -> str:
        """Writes a bundle, checks it and runs all its tasks; returns the log."""
        self.make("job", *words, "--bundle", "bundle")
        template, values = "bundle/template.json", "file://bundle/parameters.json"
        run([self.openjd, "check", template], self.folder)
        run_words = [self.openjd, "run", template, "-p", values, "-p", f"Pliant={self.pliant}"]
        return run(run_words, self.folder)

    def same(self, first: str, second: str) -> None:
        if (self.folder / first).read_bytes() != (self.folder / second).read_bytes():
            raise Failed(f"{first} and {second} differ")

    def divided(self, words: list[str], ending: str, chunk: int, *options: str) -> None:
        """The bundle of a command gives what the command gives."""
        self.make(*words, *options, "--out", f"whole.{ending}")
        log = self.job(*words, "--out", f"joined.{ending}", "--chunk", str(chunk))
        self.same(f"whole.{ending}", f"joined.{ending}")
        tasks = log.count("Running Task") + log.count("Running Chunk")
        if tasks < 3:
            raise Failed(f"there were {tasks} tasks, and not pieces and a join")


def transfer(farm: Farm) -> None:
    farm.make("convert", "specimen:hound#walk", "walk.glb")
    log_words = ["transfer", "--source", "walk.glb", "--target", "specimen:hound"]
    farm.divided(log_words, "glb", 16)


def blend(farm: Farm) -> None:
    farm.divided(["blend", "specimen:bar:coarse", "specimen:bar:coarse#bend@24", "--steps", "7"], "glb", 4)


def render(farm: Farm) -> None:
    farm.divided(["render", "specimen:hound#walk", "--size", "80x60", "--play"], "png", 16)


def invert(farm: Farm) -> None:
    # Two tasks, although each solves the whole clip.
    farm.divided(["invert", "specimen:head", "specimen:head"], "glb", 48)


def recipe(farm: Farm) -> None:
    text = 'examples = "specimen:bar:coarse#bend"\ncontrol_points = 6\nmethod = "feng"\n'
    (farm.folder / "bar.toml").write_text(text)


def drive(farm: Farm) -> None:
    recipe(farm)
    farm.make("learn", "bar.toml", "--out", "bar.safetensors")
    farm.divided(["drive", "bar.safetensors", "--points", "specimen:bar:coarse#bend"], "glb", 10)


def validate(farm: Farm) -> None:
    recipe(farm)
    farm.divided(["validate", "bar.toml"], "json", 10)


def touch(farm: Farm) -> None:
    for name in ("a", "b"):
        farm.make("convert", "specimen:bar:coarse", f"{name}.glb")
    words = ["touch", "{}", "--center", "0", "--radius", "1", "--gravity", "0,-1,0", "--frames", "3"]
    farm.job(*words, "--out", "touched/{name}.npy", "--each", "a.glb", "b.glb")
    farm.same("touched/a.npy", "touched/b.npy")


def convert(farm: Farm) -> None:
    for name in ("bar", "hand"):
        farm.make("convert", f"specimen:{name}", f"{name}.obj")
    farm.job("convert", "bar.obj", "hand.obj", "--out-dir", "glb", "--to", "glb")
    for name in ("bar", "hand"):
        farm.make("convert", f"{name}.obj", f"{name}.glb")
        farm.same(f"{name}.glb", f"glb/{name}.glb")


def shapes(farm: Farm) -> None:
    farm.make("convert", "specimen:head", "head.obj")
    words = ["shapes", "--source", "specimen:head", "--no-closing"]
    farm.job(*words, "--targets", "head.obj", "--out-dir", "rigs")
    farm.make(*words, "--target", "head.obj", "--out", "head.glb")
    farm.same("head.glb", "rigs/head.glb")


def register(farm: Farm) -> None:
    farm.make("convert", "specimen:bar", "scan.ply")
    (farm.folder / "scans.toml").write_text(
        'reference = "specimen:bar:coarse"\nlevels = 1\n\n[[example]]\nname = "same"\nscan = "scan.ply"\n'
    )
    # The job is accepted; a registration takes minutes.
    farm.make("job", "register", "scans.toml", "--out", "scans", "--bundle", "bundle")
    run([farm.openjd, "check", "bundle/template.json"], farm.folder)


def reproduce(farm: Farm) -> None:
    farm.make("job", "reproduce", "--out", "papers", "--bundle", "bundle")
    run([farm.openjd, "check", "bundle/template.json"], farm.folder)
    summary = run([farm.openjd, "summary", "bundle/template.json", "-p", "file://bundle/parameters.json"], farm.folder)
    if "Total tasks: 6" not in summary:
        raise Failed(f"a task for each page is missing:\n{summary}")


CHECKS = [transfer, blend, render, invert, drive, validate, touch, convert, shapes, register, reproduce]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pliant", required=True)
    parser.add_argument("--openjd", default="openjd")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    pliant = str(Path(args.pliant).resolve())

    failures = 0
    for check in CHECKS:
        if args.names and check.__name__ not in args.names:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                check(Farm(pliant, args.openjd, Path(folder)))
                result = "passes"
            except Failed as failure:
                failures += 1
                result = f"FAILS: {failure}"
        print(f"{check.__name__:10} {time.monotonic() - began:5.1f} s  {result}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
