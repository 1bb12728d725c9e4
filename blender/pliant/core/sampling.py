"""Frames, and curves that switch from one shape to the next."""

import numpy as np


def sampled_frames(first: int, last: int, step: int = 1) -> list[int]:
    """Frames from `first` to `last`, always with the last one."""
    frames = list(range(first, last + 1, max(step, 1)))
    if frames and frames[-1] != last:
        frames.append(last)
    return frames


def hat_keys(frames: list[float], shape: int) -> list[tuple[float, float]]:
    """Keys of the weight of one shape of a sequence: 1 in its own frame, 0 in the neighbours'.

    With straight curves between keys, the sequence is exact in its frames and linear between them.
    """
    keys = []
    if shape > 0:
        keys.append((float(frames[shape - 1]), 0.0))
    keys.append((float(frames[shape]), 1.0))
    if shape + 1 < len(frames):
        keys.append((float(frames[shape + 1]), 0.0))
    return keys


def capture_frames(times_secs: np.ndarray, start: float, scene_rate: float) -> np.ndarray:
    """The scene frame of each frame of a capture."""
    times = np.asarray(times_secs, float)
    return start + (times - (times[0] if len(times) else 0.0)) * scene_rate


def reduced(values: np.ndarray, tolerance: float) -> np.ndarray:
    """Which samples a polyline within `tolerance` of all samples keeps (Ramer, Douglas, Peucker).

    The distance is that of values at the same sample, as on a curve over time.
    """
    values = np.asarray(values, float)
    count = len(values)
    keep = np.zeros(count, bool)
    if count == 0:
        return keep
    keep[0] = keep[-1] = True
    pending = [(0, count - 1)]
    while pending:
        first, last = pending.pop()
        if last - first < 2:
            continue
        inner = np.arange(first + 1, last)
        line = values[first] + (values[last] - values[first]) * (inner - first) / (last - first)
        off = np.abs(values[inner] - line)
        worst = int(np.argmax(off))
        if off[worst] > tolerance:
            split = first + 1 + worst
            keep[split] = True
            pending += [(first, split), (split, last)]
    return keep
