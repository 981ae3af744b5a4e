"""``dignn compare``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dignn.cli.compared_runs import LINES, NEEDED, record_lines, refuse_other_subject, refuse_others, run_all
from dignn.cli.console import err, say, say_json, say_path, table
from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.finished_run import explanations_of
from dignn.cli.options import EXPLAINER, File, Flag, Folder, Known, Own, Preset, settings_of
from dignn.cli.planned_runs import GCN_ROW, Compared, planned, unfinished
from dignn.cli.subject import is_file, refuse_options
from dignn.cli.summary import NO_VALUE
from dignn.cli.working import load_torch, working
from dignn.core.checks import whole_number
from dignn.core.errors import DignnError
from dignn.core.files import write_json
from dignn.core.presets import DEFAULT_PRESET
from dignn.core.run_folder import CONFIG
from dignn.core.suggestions import not_known
from dignn.explainers.registry import EXPLAINERS
from dignn.explainers.settings import RunSettings

if TYPE_CHECKING:
    from dignn.core.progress import Progress
    from dignn.metrics.over_seeds import ComparedFigure

COMPARISON, PAGE_FILE = "comparison.json", "comparison.html"
# Graphs that every method may score at the common budget: as many as are chosen from by default.
BUDGET = RunSettings.candidates
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
_Explainers = Annotated[
    tuple[str, ...],
    Parameter(metavar=f"{{{','.join((*EXPLAINERS, GCN_ROW))}}} ...", consume_multiple=1, show_default=False),
]


def compare(
    name: str,
    /,
    *,
    explainers: _Explainers = (),
    seeds: int = 3,
    budget: int = BUDGET,
    known: Known = Known(),  # noqa: B008 (frozen)
    own: Own = Own(),  # noqa: B008 (frozen)
    out: Folder = None,
    record: File = None,
    preset: Preset = DEFAULT_PRESET,
    jobs: int | None = None,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Compare explainers on one data set and model: a table, a page and comparison.json.

    Every explainer runs with every seed as `dignn explain` runs it, in a run folder EXPLAINER-SEED; with the first seed
    also at the common budget, in EXPLAINER-common-SEED. A comparison that was stopped goes on where it stopped, and one
    with more explainers or seeds makes what is missing; runs that are finished are not looked at again. A run that
    fails stops no other.

    Of a data set with its strong model and all columns, the paper's own way is compared, too: a GCN that knows only the
    types of nodes is trained on the graph converted to one kind of node, and explained in EXPLAINER-homogeneous-SEED
    and, by dignnexplainer, in dignnexplainer-gcn-SEED (of data with one kind of node, the paper's GCN).

    Example: dignn compare planted --explainers dignnexplainer prototypes random-tree --seeds 3

    Your own: dignn compare data.pt --model my_gnn.py:load --target author

    Args:
        name: data set, see `dignn datasets`, or data file.
        explainers: which ones; by default all. dignnexplainer-gcn is dignnexplainer on that GCN.
        seeds: how many runs of each, with the seeds 0, 1, ...; of a data set, the model is trained with the same seed.
        budget: graphs that every method may have scored at the common budget; 0 for no rows at it.
        out: folder of the comparison; by default runs/compare-NAME.
        record: file to which a line is added for every run, such as docs/benchmarks/comparison.jsonl.
        preset: settings of every explainer, fast or smoke; or paper, of explainers that have it.
        jobs: runs at a time; by default one per core. With 1, seconds are those that a run takes alone.
        quiet: show only the result.
        json: print comparison.json, one JSON object, and nothing else.
    """
    file = is_file(name)
    refuse_options(name, known, own, file=file)
    numbers = range(whole_number("seeds", seeds, 1))
    whole_number("budget", budget, 0)
    workers = None if jobs is None else whole_number("jobs", jobs, 1)
    if file and GCN_ROW in explainers:
        raise DignnError(f"{GCN_ROW} explains a GCN of a data set that dignn knows, and {name} is a file; leave it out")
    methods = _checked(explainers, preset)
    folder = out or Path("runs") / f"compare-{Path(name).stem}"
    compared = Compared(name, known, own if file else None, preset, budget, folder)
    if GCN_ROW in explainers and not compared.has_gcn:
        raise DignnError(
            f"{GCN_ROW} explains the GCN of a whole data set beside the strong model; leave out --form and --columns, "
            f"or {GCN_ROW}"
        )
    refuse_others(compared, _lines_of(folder))
    with working(quiet, json) as progress:
        failed = _run(compared, methods, numbers, workers, record, progress)
        lines = read_lines(folder / LINES, NEEDED)
        if lines:
            content = _written(folder, str(compared.about()["dataset"]), lines)
    if lines and json:
        say_json(content)
    elif lines:
        _print(lines)
        say_path("Comparison", folder / PAGE_FILE)
    if failed:
        raise DignnError(f"{len(failed)} of the runs failed ({', '.join(failed)}); the same command tries them again")


def _checked(explainers: Sequence[str], preset: str) -> list[str]:
    """The explainers, ours first by default; what is wrong is refused before anything is loaded."""
    for name in explainers:
        if name not in (*EXPLAINERS, GCN_ROW):
            raise DignnError(not_known("explainer", name, (*EXPLAINERS, GCN_ROW)))
    every = (EXPLAINER, GCN_ROW, *(name for name in EXPLAINERS if name != EXPLAINER))
    several = list(dict.fromkeys(explainers or every))
    for name in several:
        settings_of(EXPLAINER if name == GCN_ROW else name, preset)
    return several


def _lines_of(folder: Path) -> list[dict[str, Any]]:
    """Finished runs of a folder, which holds a comparison or nothing."""
    if folder.exists() and not folder.is_dir():
        raise DignnError(f"{folder} is a file; choose another folder for the comparison")
    if (folder / CONFIG).exists():
        raise DignnError(f"{folder} is a run of `dignn explain`; choose another folder for the comparison")
    return read_lines(folder / LINES, NEEDED)


def _run(
    compared: Compared,
    explainers: Sequence[str],
    seeds: Sequence[int],
    jobs: int | None,
    recorded: Path | None,
    progress: Progress,
) -> dict[str, str]:
    """Makes what is missing; why runs failed, by their titles."""
    load_torch(progress)
    lines = compared.folder / LINES
    finished_before = read_lines(lines, NEEDED)
    subject = refuse_other_subject(compared, finished_before, progress)
    schema = subject.schema
    heterogeneous = len(schema.node_types) > 1 and not schema.type_in_x
    everything = planned(compared, explainers, seeds, schema.num_classes, heterogeneous)
    runs = list(unfinished(everything, finished_before))
    for seed, converted in dict.fromkeys((run.seed, run.converted) for run in runs if compared.own is None):
        compared.subject(seed, progress, converted)  # models are trained once
    new: list[str] = []

    def finished(line: dict[str, Any]) -> None:
        append_line(lines, line)
        new.append(line["run"])
        if recorded is not None:
            record_lines(recorded, [line], new)

    failed: dict[str, str] = {}
    if runs:
        try:
            failed = run_all(compared, runs, jobs=jobs, progress=progress, finished=finished)
        except DignnError as error:  # a process was ended
            failed = {run.title: str(error) for run in runs if run.title not in new}
    for title, why in failed.items():
        err.print(f"{title}: {why}", style="red", markup=False, soft_wrap=True)
    if recorded is not None:
        record_lines(recorded, read_lines(lines, NEEDED), ())
    return failed


def _written(folder: Path, title: str, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Writes comparison.json and the page; the content of the first."""
    from dignn.metrics.over_seeds import by_row, over_seeds
    from dignn.report.comparison_page import write_comparison

    rows = by_row(lines)
    content = {name: over_seeds(runs) for name, runs in rows.items()}
    write_json(folder / COMPARISON, content)
    # A run that counts for two rows is shown once.
    own = {name: runs[0]["run"] for name, runs in rows.items() if runs[0]["names"][0] == name}
    shown = {name: explanations_of(folder / run) for name, run in own.items() if (folder / run).is_dir()}
    write_comparison(folder / PAGE_FILE, title, rows, shown)
    return content


def _print(lines: Sequence[Mapping[str, Any]]) -> None:
    """A row per explainer."""
    from dignn.metrics.over_seeds import PREDICTED, SAME_RULE_FIGURES, about_gcn, by_row, mean_and_spread, shown_figures

    rows = by_row(lines)
    figures, under_one_rule = shown_figures(rows), shown_figures(rows, SAME_RULE_FIGURES)
    cells = []
    for name, runs in rows.items():
        spread = mean_and_spread(runs, PREDICTED)[1]
        cells.append([name, *_values(runs, figures), NO_VALUE if spread is None else f"{spread:.3f}", str(len(runs))])
    titles = [figure.title for figure in figures]
    table(["explainer", *titles, "spread of PF", "seeds"], cells, title="Explainers, mean over seeds", wide=True)
    say("All of the candidates that explanations are chosen from; -common: every method scored at most as many graphs")
    if under_one_rule:
        cells = [[name, *_values(runs, under_one_rule)] for name, runs in rows.items()]
        titles = [figure.title for figure in under_one_rule]
        table(["explainer", *titles], cells, title="The same candidates, chosen from by one rule for all", wide=True)
        say("highest: the graph the model is surest of; representative: of the sure ones, the most typical structure")
    if any(about_gcn(runs) for runs in rows.values()):
        say("-homogeneous and dignnexplainer-gcn: of another model, a GCN that knows only the types of nodes")


def _values(runs: Sequence[Mapping[str, Any]], figures: Sequence[ComparedFigure]) -> list[str]:
    """Means of some figures."""
    from dignn.metrics.over_seeds import mean_and_spread

    values = [(figure, mean_and_spread(runs, figure)[0]) for figure in figures]
    return [NO_VALUE if value is None else f"{value:,.{figure.digits}f}" for figure, value in values]
