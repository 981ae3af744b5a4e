"""Settings that every explainer takes: how many graphs, and which of them explain. Loads nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.core.checks import MAX_NODES, at_least, one_of, share, whole_number
from dignn.core.errors import DignnError
from dignn.selection.settings import Selection


@dataclass(frozen=True)
class RunSettings:
    """How many graphs a run looks at, and how explanations are chosen.

    Args:
        sizes: nodes per explanation graph. By default what the data set recommends, 10 to 15 for a graph of your
            own (fewer where its components are smaller), and the sizes of the data's graphs for graph classification.
        subgraphs_per_size: real subgraphs sampled per size; one in five is for measuring, not for learning.
        candidates: graphs to choose from in all, of all sizes; generated ones evenly.
        selection: how explanations are chosen: highest (the paper's rule: the highest probability), typical (inside the
            range of real members, nearly the highest, and nearest to members in the model's embedding space),
            representative (the same, but first the graph with the structure most typical of the class), covering
            (those that most real members are near to, however sure the model is) or proposed (as they come).
        tolerance: how far below the best probability that of the first explanation, and the mean of several, may be; a
            single one of several at most three times as far.
        top_k: explanations per class.
    """

    sizes: tuple[int, ...] | None = None
    subgraphs_per_size: int = 1250
    candidates: int = 1536
    selection: Selection = "representative"
    tolerance: float = 0.07
    top_k: int = 3

    def __post_init__(self) -> None:
        at_least(self, 1, "subgraphs_per_size", "candidates", "top_k")
        share(self, "tolerance")
        one_of(self, selection=Selection)
        if self.subgraphs_per_size < 5:
            raise DignnError(
                f"subgraphs_per_size is {self.subgraphs_per_size}; it must be at least 5, because one in five is held "
                "out for measuring"
            )
        if self.sizes is not None:
            object.__setattr__(self, "sizes", _checked_sizes(self.sizes))


def _checked_sizes(sizes: object) -> tuple[int, ...]:
    """Numbers of nodes; also a list or a range of them, and those of numpy."""
    try:
        several = tuple(whole_number("a size", size, 1, MAX_NODES) for size in sizes)  # type: ignore[attr-defined]
    except (DignnError, TypeError):
        several = ()
    if not several or isinstance(sizes, str | bytes | dict):
        found = list(sizes) if isinstance(sizes, tuple | range) else sizes
        raise DignnError(
            f"sizes is {found!r}; it must be one or more numbers of nodes from 1 to {MAX_NODES}, for example (8, 9, 10)"
        )
    return several
