"""The files of a run folder that hold explanations, and what else it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from dignn.core.errors import RunFolderError
from dignn.core.files import read_json, write_json
from dignn.core.run_folder import CONFIG, TIMINGS, read_timings
from dignn.graphs.batch import GraphBatch
from dignn.report.reference import Reference
from dignn.report.told_contrasts import told_pairs, told_undecided

EXPLANATIONS_FORMAT = "dignn.Explanations.2"
EXPLANATIONS, GRAPHS = "explanations.json", "explanations.safetensors"
# What a report shows beside explanations; folders of earlier versions lack both.
NEAREST, REFERENCE = "nearest.safetensors", "backdrop.safetensors"
# The graphs of counterfactual pairs, and those that the model cannot decide.
CONTRASTS = "counterfactuals.safetensors"
METRICS_FILE, GENERATION_FILE, REPORT_FILE = "metrics.json", "generation.json", "report.html"
# What the model goes by, as far as it was found.
STUDIED = ("goes_by", "studied", "counterfactuals", "undecided")
# Parts of ``about`` that no other file of a run folder holds.
TOLD = ("call", "from_preset", "validity", "sampling", "dropped", "agreement", "difference", "marks", *STUDIED)
Item = TypeVar("Item")


def save(
    folder: Path,
    summaries: Mapping[str, Sequence[dict[str, Any]]],
    graphs: Sequence[GraphBatch],
    examples: Sequence[GraphBatch],
    about: Mapping[str, Any],
    reference: Reference | None,
    contrasts: GraphBatch | None = None,
) -> None:
    """Writes the graphs, the nearest real ones, the reference, and what people and programs read, last.

    Args:
        folder: where to.
        summaries: by class, what is told of each explanation, ranked.
        graphs: of all explanations, in this order.
        examples: the nearest real ones likewise; kept only where every explanation has one.
        about: what is told of the run.
        reference: what explanations are seen against, where it is known.
        contrasts: the graphs that counterfactuals and undecided graphs name by number, where there are some.
    """
    (folder / EXPLANATIONS).unlink(missing_ok=True)  # it tells of the other files, so it is there only with them
    for name, several in ((GRAPHS, graphs), (NEAREST, examples if len(examples) == len(graphs) else ())):
        if several:
            GraphBatch.cat(several).save(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    for name, kept in ((REFERENCE, reference), (CONTRASTS, contrasts)):
        if kept is not None:
            kept.save(folder / name)
        else:
            (folder / name).unlink(missing_ok=True)
    told = {name: about[name] for name in TOLD if name in about}
    write_json(folder / EXPLANATIONS, {"format": EXPLANATIONS_FORMAT, **told, "classes": summaries})


def load(
    folder: Path, restore: Callable[[str, dict[str, Any], GraphBatch, GraphBatch | None], Item]
) -> tuple[dict[str, list[Item]], dict[str, Any], Reference | None, GraphBatch | None]:
    """Reads what :func:`save` wrote, and what else a run folder tells: explanations, ``about``, reference, contrasts.

    Args:
        folder: the run folder.
        restore: makes an explanation of its class, summary, graph and nearest real one (None where none was kept).

    Raises:
        RunFolderError: there are no explanations, or a file is damaged or of another version.
    """
    path = folder / EXPLANATIONS
    if not path.exists():
        raise RunFolderError(f"{folder} holds no {EXPLANATIONS}; give the folder of a finished run")
    content = read_json(path, "format", "classes")
    if content["format"] != EXPLANATIONS_FORMAT:
        raise RunFolderError(
            f"{path} has the format {content['format']}, not {EXPLANATIONS_FORMAT}: if it is older, "
            f"`dignn evaluate {folder}` makes it anew; if it is newer, update dignn"
        )
    try:
        items = [(name, item) for name, several in content["classes"].items() for item in several]
        graphs = _graphs(folder / GRAPHS, len(items))
        examples = _graphs(folder / NEAREST, len(items)) if (folder / NEAREST).exists() else [None] * len(items)
        by_class: dict[str, list[Item]] = {name: [] for name in content["classes"]}
        for (name, item), graph, example in zip(items, graphs, examples, strict=True):
            by_class[name].append(restore(name, item, graph, example))
        about = _about(folder) | {name: content[name] for name in TOLD if name in content}
    except RunFolderError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        told = f"it lacks {error}" if isinstance(error, KeyError) else str(error)  # its text is the key alone
        raise RunFolderError(f"{path} is damaged ({told}); `dignn evaluate {folder}` makes it anew") from error
    reference = Reference.load(folder / REFERENCE) if (folder / REFERENCE).exists() else None
    return by_class, about, reference, _contrasts(folder, about)


def read_metrics(path: Path) -> dict[str, Any]:
    """``metrics.json``."""
    return read_json(path, "paper", "sound", "floor", "control")


def _graphs(path: Path, number: int) -> list[GraphBatch]:
    if not number:
        return []
    if not path.exists():
        raise RunFolderError(f"{path} is missing; `dignn evaluate {path.parent}` makes it anew")
    graphs = GraphBatch.load(path)
    if len(graphs) != number:
        raise RunFolderError(
            f"{path} holds {len(graphs)} graphs and {EXPLANATIONS} tells of {number}; `dignn evaluate {path.parent}` "
            "makes both anew"
        )
    return [graphs[position] for position in range(number)]


def _contrasts(folder: Path, about: Mapping[str, Any]) -> GraphBatch | None:
    """The graphs of counterfactuals and undecided graphs; None where none were kept."""
    path = folder / CONTRASTS
    if not path.exists():
        return None
    graphs = GraphBatch.load(path)
    wanted = [number for told in told_pairs(about) for number in told.graphs]
    wanted += [told.graph for told in told_undecided(about)]
    if wanted and max(wanted) >= len(graphs):
        raise RunFolderError(
            f"{path} holds {len(graphs)} graphs and {EXPLANATIONS} names number {max(wanted)}; "
            f"`dignn evaluate {folder}` makes both anew"
        )
    return graphs


def _about(folder: Path) -> dict[str, Any]:
    """What a run folder tells beside the graphs; nothing where only explanations were saved."""
    words = "mend the file or delete it: only the words about settings need it"
    about = read_json(folder / CONFIG, remedy=words) if (folder / CONFIG).exists() else {}
    if (folder / METRICS_FILE).exists():
        about["metrics"] = read_metrics(folder / METRICS_FILE)
    if (folder / GENERATION_FILE).exists():
        about["generation"] = read_json(folder / GENERATION_FILE)
    if (folder / TIMINGS).exists():
        about["timings"] = read_timings(folder / TIMINGS)
    return about
