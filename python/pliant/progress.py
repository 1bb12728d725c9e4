"""Progress of long work."""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable, cast


def watcher(progress: Any) -> Callable[[str, float], Any] | None:
    """The function that long work calls, for what a caller gave as ``progress``."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _Bar()
    if not callable(progress):
        raise TypeError(f"progress is True or a function of (stage, done), not {type(progress).__name__}")
    return cast(Callable[[str, float], Any], progress)


class _Bar:
    """A bar of tqdm where it is installed, else one line on stderr."""

    _bar: Any

    def __init__(self) -> None:
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            self._bar = None
        else:
            self._bar = tqdm(total=100.0, bar_format="{l_bar}{bar}| {elapsed}", leave=False)

    def __call__(self, stage: str, done: float) -> None:
        percent = 100.0 * min(max(done, 0.0), 1.0)
        if self._bar is None:
            print(f"\r{stage}: {percent:3.0f} %\033[K", end="", file=sys.stderr, flush=True)
        else:
            self._bar.set_description(stage, refresh=False)
            self._bar.update(percent - self._bar.n)

    def close(self) -> None:
        if self._bar is None:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        else:
            self._bar.close()
