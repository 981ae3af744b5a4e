"""One thread for NumPy, SciPy and scikit-learn: torch's own is in :mod:`dignn.core.threads`, and is not loaded here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, or in a function that it decorates, their libraries (BLAS, OpenMP) compute on one thread.

    That gives the same bits everywhere, and small pieces of work on several threads mostly wait for each other.
    """
    from threadpoolctl import threadpool_limits  # late, as all that only some uses of the library need

    with threadpool_limits(1):
        yield
