"""Pieces of work that are shared: processes take them from the front, whoever waits for all of them from the end."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from dignn.core.errors import DignnError

Result = TypeVar("Result")


class GivenUpError(DignnError):
    """Work that nobody waits for any more."""


class Pieces(Generic[Result]):
    """``function(*arguments[i])`` for every i, each to be done once by whoever takes it.

    Args:
        function: what is called.
        arguments: of each call; the longest piece of work should come first.
        found: called with the number and the result of a piece that whoever waits has done, in their thread.
    """

    def __init__(
        self,
        function: Callable[..., Result],
        arguments: Sequence[tuple[Any, ...]],
        found: Callable[[int, Result], None] = lambda number, result: None,
    ) -> None:
        self._function, self._arguments, self._tell = function, arguments, found
        self._left = deque(range(len(arguments)))
        self._changed = threading.Condition()
        self._helping, self._given_up = 0, False
        self._found: dict[int, Result] = {}

    def __iter__(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Numbers and arguments from the front, as long as there are any."""
        while True:
            with self._changed:
                if not self._left:
                    return
                number = self._left.popleft()
            yield number, self._arguments[number]

    def help(self) -> bool:
        """Does the last piece that nobody has taken, in this thread; False where there is none."""
        with self._changed:
            if not self._left:
                return False
            number = self._left.pop()
            self._helping += 1
        try:
            self._found[number] = self._function(*self._arguments[number])
            self._tell(number, self._found[number])
        except BaseException:
            self._given_up = True
            raise
        finally:
            with self._changed:
                self._helping -= 1
                self._changed.notify_all()
        return True

    def helped(self) -> dict[int, Result]:
        """What helpers have found, by number; waits for those that are at work, and leaves nothing to others.

        Raises:
            GivenUpError: a helper gave up.
        """
        with self._changed:
            self._left.clear()
            self._changed.wait_for(lambda: not self._helping)
        if self._given_up:
            raise GivenUpError("This work was given up; run again to do it")
        return self._found
