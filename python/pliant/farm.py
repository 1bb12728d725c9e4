"""Commands in pieces: on the cores of one machine, or on the workers of Ray and Dask.

The pieces, and how they are joined, are those of ``pliant COMMAND --frames`` and ``pliant join``; scheduling is left to
processes of this machine, to Ray or to Dask. What works on them is this file alone: a piece is a command line, so
nothing but its words travels.

    from pliant import farm

    report = farm.map(["transfer", "--source", "walk.glb", "--target", "camel.obj"], out="camel.glb", workers=2)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from .errors import DefectError, Error, InputError

__all__ = ["frame_count", "map", "run_piece"]

#: Exit codes of a process that was stopped from outside; signals have negative ones.
STOPPED = (130, 143)


def run_piece(words: Sequence[str], retries: int = 2) -> dict[str, Any]:
    """Runs one command line and returns its report; a process that was killed is started again.

    ``words`` begin with the program. A plain function of plain values, so that every scheduler can send it.
    """
    attempts = 0
    while True:
        done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=False)
        attempts += 1
        if done.returncode == 0:
            report: dict[str, Any] = json.loads(done.stdout)
            return report
        was_stopped = done.returncode < 0 or done.returncode in STOPPED
        if not was_stopped or attempts > retries:
            break
    lines = done.stderr.strip().splitlines()
    message = lines[-1].removeprefix("error: ") if lines else f"the process ended with {done.returncode}"
    kind = {1: InputError, 2: InputError, 70: DefectError}.get(done.returncode, Error)
    raise kind(message)


def frame_count(arguments: Sequence[str], *, program: Sequence[str] | None = None) -> int:
    """The number of frames of the whole result of a command, or of the poses of a validation."""
    with tempfile.TemporaryDirectory() as folder:
        words = [*_program(program), "job", *arguments, "--out", str(Path(folder, "whole.npy")), "--bundle", folder]
        if arguments[0] == "validate":
            words[words.index("--out") + 1] = str(Path(folder, "whole.json"))
        frames = run_piece(words)["frames"]
    if frames is None:
        raise InputError(f"'{arguments[0]}' with these arguments is not divided into frames")
    return int(frames)


def map(
    arguments: Sequence[str],
    *,
    out: str | os.PathLike[str],
    frames: int | None = None,
    chunk: int | None = None,
    workers: int | None = None,
    on: Any = None,
    folder: str | os.PathLike[str] | None = None,
    retries: int = 2,
    program: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Runs a command in pieces and joins them to ``out``, to the bit of an undivided run. Returns the report of the join.

    ``arguments`` are those of the command line without ``--out``, the command first. ``frames`` is the number of
    frames of the whole [default: asked of the command], ``chunk`` that of a piece [default: four pieces for each
    worker].

    ``on`` decides where the pieces run: nothing for ``workers`` processes of this machine [default: all cores], the
    module ``ray`` (after ``ray.init``), or a ``dask.distributed.Client``. Workers must see the same files.

    Pieces are kept in ``folder`` [default: beside ``out``, with ``-pieces`` after its name], and finished ones are not
    made again: what was killed continues by the same call.
    """
    count = frame_count(arguments, program=program) if frames is None else frames
    processes = workers or os.cpu_count() or 1
    size = chunk or max(1, -(-count // (4 * processes)))
    target = Path(out)
    place = Path(folder) if folder is not None else target.with_name(target.name + "-pieces")
    place.mkdir(parents=True, exist_ok=True)

    start = _program(program)
    lines = []
    pieces = []
    ending = "json" if arguments[0] in ("invert", "validate") else "npy"
    for first in range(0, count, size):
        last = min(first + size, count) - 1
        text = f"{first}-{last}" if last > first else str(first)
        if arguments[0] == "render":
            # The pictures of all pieces lie in one folder, each piece with its manifest.
            piece = place
            pieces.append(str(place / f"frames.{text}.piece.json"))
        else:
            piece = place / f"piece.{text}.{ending}"
            pieces.append(str(piece))
        line = [*start, *arguments, "--frames", text, "--resume", "--out", str(piece)]
        if on is None:
            # The workers share the cores.
            line += ["--threads", str(max(1, (os.cpu_count() or 1) // processes))]
        lines.append(line)

    _run_all(lines, retries, processes, on)
    return run_piece([*start, "join", *pieces, "--out", str(target)], retries)


def _program(program: Sequence[str] | None) -> list[str]:
    return [sys.executable, "-m", "pliant"] if program is None else list(program)


def _run_all(lines: Sequence[list[str]], retries: int, processes: int, on: Any) -> None:
    if on is None:
        with ThreadPoolExecutor(processes) as pool:
            running = [pool.submit(run_piece, line, retries) for line in lines]
            finished, others = wait(running, return_when=FIRST_EXCEPTION)
            for future in others:
                future.cancel()
            for future in finished:
                future.result()
        return
    for _ in _results(lines, retries, on):
        pass


def _results(lines: Sequence[list[str]], retries: int, on: Any) -> Iterator[Any]:
    if hasattr(on, "remote") and hasattr(on, "get"):
        task: Callable[..., Any] = on.remote(run_piece).remote
        yield from on.get([task(line, retries) for line in lines])
    elif hasattr(on, "map") and hasattr(on, "gather"):
        yield from on.gather(on.map(run_piece, lines, [retries] * len(lines), pure=False))
    else:
        raise InputError("'on' is neither the module ray nor a client of dask.distributed")
