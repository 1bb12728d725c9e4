"""One piece of work in a thread, with progress and cancellation.

`pliant` releases the interpreter's lock while it works and calls back several times a second; the answer
`False` stops it.
"""

import threading
from collections.abc import Callable
from typing import Any

Progress = Callable[[str, float], bool]


class Job:
    def __init__(self, work: Callable[[Progress], Any], stage: str) -> None:
        self.stage = stage
        self.share = 0.0
        self._work = work
        self._cancelled = threading.Event()
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="pliant", daemon=True)

    def start(self) -> "Job":
        self._thread.start()
        return self

    def _run(self) -> None:
        try:
            self._result = self._work(self._report)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the main thread
            self._error = error

    def _report(self, stage: str, share: float) -> bool:
        self.stage, self.share = stage, share
        return not self._cancelled.is_set()

    def is_done(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def result(self) -> Any:
        """What the work gave; raises what it raised."""
        if self._error is not None:
            raise self._error
        return self._result
