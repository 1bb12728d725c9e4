"""How every peer is timed: wall time of a call, several times over."""

import time


def times_ms(work, runs):
    """The milliseconds of each of several runs of `work`, and the result of the last."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        result = work()
        times.append(1e3 * (time.perf_counter() - start))
    return times, result
