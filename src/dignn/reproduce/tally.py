"""The page in four lines: how many claims hold, how ours stand beside the paper's values, how many targets are met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dignn.reproduce.claims import Judged
from dignn.reproduce.definition import STRONG
from dignn.reproduce.filled import BETTER, EQUAL, MET, MISSED, NOT_JUDGED, NOT_RUN, WORSE
from dignn.reproduce.table_files import FilledCell, FilledTable
from dignn.reproduce.verdicts import FAILING, HOLDING, IN_PART, OF_SINGLE_RUNS, SO_FAR, UNDECIDED, UNKNOWN

_STRONG_MODELS = "Of our method's values with the strong models"


def tally(tables: Mapping[str, FilledTable], claims: Sequence[Judged]) -> list[str]:
    """A line for the paper's claims, ours, the paper's values that bind, and our targets."""
    binding = [cell for table in tables.values() if table["binding"] for cell in _own(table)]
    targets = [cell for table in tables.values() for cell in table["cells"] if cell.get("target")]
    met = _count(targets, (MET, MISSED, NOT_JUDGED, NOT_RUN))
    return [
        f"Of the paper's {_of_claims([one for one in claims if not one.claim.ours])}",
        f"Of our own {_of_claims([one for one in claims if one.claim.ours])}",
        f"{_STRONG_MODELS} in Tables 1, 3 and 5, {_beside_the_paper(binding)}",
        f"Of our own {sum(met.values())} targets {_many(met[MET], 'is', 'are')} met, {met[MISSED]} missed, "
        f"{met[NOT_JUDGED]} cannot be judged, {_many(met[NOT_RUN], 'has', 'have')} no run.",
    ]


def beside_the_paper(table: FilledTable) -> str:
    """How ours stand beside the paper's in a table; nothing where it has no such values."""
    own = _own(table)
    whose = _STRONG_MODELS if table["ours"] else "Of all values"
    return f"{whose}, {_beside_the_paper(own)}" if sum(_count(own, _STANDS).values()) else ""


_STANDS = (BETTER, EQUAL, WORSE, NOT_RUN)


def _of_claims(claims: Sequence[Judged]) -> str:
    kinds = [one.verdict.kind for one in claims]
    holding, open_ = kinds.count(HOLDING) + kinds.count(SO_FAR), kinds.count(UNDECIDED) + kinds.count(UNKNOWN)
    alone = sum(one.verdict.text.endswith(OF_SINGLE_RUNS) for one in claims)
    more = [f"{kinds.count(SO_FAR)} of them with runs still missing"] if SO_FAR in kinds else []
    more += [f"{alone} {OF_SINGLE_RUNS}"] if alone else []
    remark = f" ({', '.join(more)})" if more else ""
    return (
        f"{len(kinds)} claims {_many(holding, 'holds', 'hold')}{remark}, "
        f"{_many(kinds.count(IN_PART), 'holds', 'hold')} in part, "
        f"{_many(kinds.count(FAILING), 'does', 'do')} not hold, "
        f"{_many(open_, 'is', 'are')} open (undecided, or not measured)."
    )


def _many(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}"


def _own(table: FilledTable) -> list[FilledCell]:
    """Of rows that are ours with the strong models, or of all where none is; what is one run and value once."""
    found: dict[tuple[str, str, float], FilledCell] = {}
    for cell in table["cells"]:
        if cell["paper"] and cell["model"] == STRONG and (not table["ours"] or cell["row"] in table["ours"]):
            found.setdefault((cell["run"], cell["figure"], cell["paper"]["value"]), cell)
    return list(found.values())


def _beside_the_paper(cells: Sequence[FilledCell]) -> str:
    of = _count(cells, _STANDS)
    are = "is" if of[BETTER] == 1 else "are"
    return (
        f"{of[BETTER]} of {sum(of.values())} {are} better than the paper's, {of[EQUAL]} equal, {of[WORSE]} worse, "
        f"{of[NOT_RUN]} not run."
    )


def _count(cells: Iterable[FilledCell], states: Sequence[str]) -> dict[str, int]:
    verdicts = [cell["verdict"] for cell in cells]
    return {state: verdicts.count(state) for state in states}
