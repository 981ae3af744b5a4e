"""``dignn metrics``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from dignn.cli.console import say_json, table
from dignn.cli.options import File, Flag
from dignn.cli.working import working
from dignn.core.errors import DignnError

TableKind = Literal["binary", "count", "categorical", "identity", "continuous"]


def metrics(
    real: Path,
    generated: Path,
    /,
    *,
    motifs: File = None,
    features: Flag = False,
    kind: TableKind | None = None,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Measure any two sets of graphs, or two feature tables, whichever tool made them.

    Example: dignn metrics real.json generated.json --motifs motifs.json --json

    Feature tables: dignn metrics --features real.npz generated.npz --json

    Args:
        real: real graphs, {"graphs": [{"n": 2, "edges": [[0, 1]], "types": [0, 1]}]}, or with --features an npz file
            with the array x.
        generated: generated ones, in the same format.
        motifs: graphs that the generated ones should contain, for GF.
        features: the files are feature tables.
        kind: what the feature columns hold; by default guessed from the real rows.
        quiet: show only the result.
        json: print one JSON object with the names of metrics.json, and nothing else.
    """
    if features and motifs is not None:
        raise DignnError("Feature tables contain no motifs; leave out --motifs or --features")
    if not features and kind is not None:
        raise DignnError("--kind says what feature columns hold; add --features, or leave it out")
    with working(quiet, json) as progress, progress.stage("Measuring"):
        found = _tables(real, generated, kind) if features else _graphs(real, generated, motifs)
    if json:
        say_json(found)
        return
    rows = [row for layer in ("paper", "sound") for row in _rows(found[layer], (layer,))]
    table(("layer", "metric", "value"), rows, title=f"{generated.name} against {real.name}")


def _graphs(real: Path, generated: Path, motifs: Path | None) -> dict[str, Any]:
    from dignn.metrics.graph_files import read_graphs

    one, other = read_graphs(real), read_graphs(generated)
    wanted = None if motifs is None else read_graphs(motifs)
    for path, graphs in ((real, one), (motifs, wanted)):
        if graphs is not None and not any(len(graph) for graph in graphs):
            raise DignnError(f"{path} holds no graph with nodes, so there is nothing to compare with; add some")
    from dignn.metrics.two_sets import compare_graphs

    return compare_graphs(one, other, wanted)


def _tables(real: Path, generated: Path, kind: TableKind | None) -> dict[str, Any]:
    from dignn.metrics.graph_files import read_tables

    tables = read_tables(real, generated)
    from dignn.metrics.two_sets import compare_tables

    try:
        return compare_tables(*tables, kind)
    except DignnError as error:
        if kind is None:
            raise
        raise DignnError(f"{generated} against {real} as {kind}: {error}") from error


def _rows(values: dict[str, Any], path: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """Every value that is there as (layer, metric, number)."""
    found = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _rows(value, (*path, name))
        elif value is not None:
            found.append((path[0], " ".join((*path[1:], name)).replace("_", " "), f"{value:.6f}"))
    return found
