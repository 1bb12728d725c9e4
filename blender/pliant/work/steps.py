"""Work in steps: a generator that yields to Blender between them.

A task is a generator. It yields `Tick` where Blender may draw and hear Esc, and `Background(work)`
for work in a thread, whose result comes back from the `yield`. The same task runs at once in a script,
and step by step from a timer in the window:

    def steps(self, context):
        clip = yield from sampled_clip(context, ob, frames)
        found = yield Background("transferring", lambda progress: pliant.transfer_clip(clip, mesh, progress=progress))
        write(found)

Closing the generator is how it is cancelled; its `finally` blocks restore what it changed.
"""

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from ..core.problem import Cancelled
from .job import Job, Progress


@dataclass(frozen=True)
class Tick:
    """A place where Blender may do something else."""

    stage: str
    share: float


@dataclass(frozen=True)
class Background:
    """Work for a thread; it must not touch Blender's data."""

    stage: str
    work: Callable[[Progress], Any]


Steps = Generator[Tick | Background, Any, None]


def run_now(steps: Steps, progress: Progress | None = None) -> None:
    """All steps at once, for scripts and for Adjust Last Operation."""
    report = progress or (lambda stage, share: True)
    answer = None
    try:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration:
                return
            answer = None
            if not report(step.stage, getattr(step, "share", 0.0)):
                raise Cancelled
            if isinstance(step, Background):
                answer = step.work(report)
    finally:
        steps.close()


class Running:
    """Steps that advance a little at a time."""

    def __init__(self, steps: Steps) -> None:
        self.stage, self.share = "", 0.0
        self._steps = steps
        self._job: Job | None = None
        self._answer: Any = None

    def advance(self, seconds: float = 0.02) -> bool:
        """Continues for about `seconds`; whether everything is done."""
        until = time.perf_counter() + seconds
        while True:
            if self._job is not None:
                self.stage, self.share = self._job.stage, self._job.share
                if not self._job.is_done():
                    return False
                job, self._job = self._job, None
                self._answer = job.result()
            try:
                step = self._steps.send(self._answer)
            except StopIteration:
                return True
            self._answer = None
            self.stage = step.stage
            if isinstance(step, Background):
                self.share = 0.0
                self._job = Job(step.work, step.stage).start()
                return False
            self.share = step.share
            if time.perf_counter() >= until:
                return False

    def cancel(self) -> None:
        """Stops the work and restores what it changed. A thread ends at its next report."""
        if self._job is not None:
            self._job.cancel()
            self._job = None
        self._steps.close()
