"""Times in words; loads nothing, so that the command line may use it before it loads torch."""

from __future__ import annotations

MINUTE, HOUR = 60, 3600


def duration(seconds: float, *, rough: bool = False) -> str:
    """A time as people say it: ``0.25 s``, ``25 s``, ``3 min 10 s``, ``2 h 10 min``.

    Args:
        seconds: how long.
        rough: as exact as a guess deserves: whole seconds, and from a minute and a half on minutes alone.
    """
    if rough and seconds < 1.5 * HOUR:
        return f"{max(1, round(seconds))} s" if seconds < 1.5 * MINUTE else f"{round(seconds / MINUTE)} min"
    if seconds < 0.995:
        return f"{max(seconds, 0.01):.2f} s"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    if seconds < HOUR - 0.5:
        minutes, rest = divmod(round(seconds), MINUTE)
        return f"{minutes} min {rest} s"
    minutes = round(seconds / MINUTE)
    return f"{minutes // 60} h {minutes % 60} min"
