"""``dignn reproduce``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dignn.cli.console import err, say, say_json, say_path, table
from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.options import EXPLAINER, File, Flag, Folder, Preset, settings_of
from dignn.cli.recorded_runs import recorded_runs
from dignn.cli.reproduced_runs import NEEDED_OF_RUN, RUN_LINES, run_wanted, settings_for
from dignn.cli.working import load_torch, working
from dignn.core.checks import whole_number
from dignn.core.durations import duration
from dignn.core.errors import DignnError
from dignn.core.files import write_text
from dignn.core.presets import DEFAULT_PRESET
from dignn.core.run_folder import CONFIG
from dignn.core.suggestions import not_known
from dignn.reproduce.claims import Judged, judged
from dignn.reproduce.definition import Definition
from dignn.reproduce.filled import BETTER, EQUAL, MET, MISSED, NOT_JUDGED, NOT_RUN, WORSE, filled
from dignn.reproduce.planning import Wanted, expected_seconds, unfinished, wanted
from dignn.reproduce.registry import TABLES
from dignn.reproduce.results_page import results_page
from dignn.reproduce.runs import Finished
from dignn.reproduce.table_files import Cells, lost, read_tables, write_table
from dignn.reproduce.verdicts import UNKNOWN

if TYPE_CHECKING:
    from dignn.core.progress import Progress

ALL_TABLES = "all"
_Table = Annotated[str, Parameter(metavar=f"{{{','.join((*TABLES, ALL_TABLES))}}}")]
_Sets = Annotated[tuple[str, ...], Parameter(metavar="NAME ...", consume_multiple=1, show_default=False)]
_Files = Annotated[tuple[Path, ...], Parameter(metavar="FILE ...", consume_multiple=1, show_default=False)]
_Out = Annotated[Path, Parameter(metavar="FOLDER")]


def reproduce(
    what: _Table,
    /,
    *,
    dataset: _Sets = (),
    runs: int = 10,
    preset: Preset = DEFAULT_PRESET,
    out: _Out = Path("runs/reproduce"),
    folders: Folder = None,
    recorded: _Files = (),
    page: File = None,
    plan: Flag = False,
    render: Flag = False,
    jobs: int | None = None,
    download: Flag = False,
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Make the paper's tables again: its value, ours, what real graphs score and what noise scores, cell by cell.

    A run is made once, whatever the number of tables that it serves, and is a line of runs.jsonl as soon as it is
    finished. A command that was stopped goes on where it stopped, in the middle of a run as well; one with more tables
    or runs makes what is missing. Each run has a seed of its own for model, data and generators. First all runs of the
    first seed are made, then those of the next.

    Example: dignn reproduce table3 --dataset dblp imdb --runs 3

    What it would take: dignn reproduce all --preset fast --runs 3 --plan

    Args:
        what: table1 (distances), table2 (fewer columns), table3 (faithfulness), table4 (sizes), table5 (seconds),
            table6 (valid graphs), table7 (motifs), table8 (case study), extras (what the paper does not report),
            presets (the published hyperparameters; takes hours, so it is made only by its name), or all: the eight of
            the paper and extras.
        dataset: make runs of these data sets only; values of others are of the runs that there are.
        runs: how many of each kind, with the seeds 0, 1, ...
        preset: settings of every explainer: fast, paper (published hyperparameters; rows of explainers that have no
            such preset stay empty), or, just to see that everything works, smoke.
        out: folder of runs.jsonl, and of a file for each table, such as table1.json. A folder whose tables would lose
            values, because the runs that these are of are not given by --recorded again, is refused.
        folders: folder of the run folders, as `dignn explain` makes them; by default that named runs in --out.
        recorded: files with lines of other runs that count where they are the same, of `dignn compare --record` and of
            the benchmarks. Of several of one kind and seed the last counts for everything, and those of the folder
            before all of these. Seconds of two methods compare only at the same commit and on the same machine.
        page: file that is written from all tables in the folder, what holds and every miss first: FILE.md with tables,
            FILE.html with plots.
        plan: only say which runs are missing and how long they take, by the seconds of recorded ones.
        render: make no runs; only write tables and page from those that are recorded.
        jobs: runs at a time; by default one per core.
        download: fetch data sets that are not on this machine.
        quiet: show only the result.
        json: print one JSON object, and nothing else.
    """
    tables = _chosen(what)
    _check_sets(dataset, tables)
    settings_of(EXPLAINER, preset)
    whole_number("runs", runs, 1)
    workers = None if jobs is None else whole_number("jobs", jobs, 1)
    if plan and render:
        raise DignnError("--plan and --render exclude each other: the first writes nothing, the second runs nothing")
    _check_folder(out, preset)
    if page is not None and page.suffix not in (".md", ".html"):
        raise DignnError(f"--page {page} is neither Markdown nor HTML; give a file such as results.md or results.html")
    finished = _finished(out, recorded)
    every = wanted(tables, preset, runs, dataset)
    for one in every:
        settings_for(one.setup, one.preset)
    missing = unfinished(every, finished)
    if plan:
        _say_plan(every, missing, finished, workers, json=json)
        return
    _check_kept(out, tables, finished, preset)
    with working(quiet, json) as progress:
        failed = (
            {} if render or not missing else _run(missing, out, folders or out / "runs", workers, download, progress)
        )
        finished = _finished(out, recorded)
        contents = {one.name: filled(one, finished, preset) for one in tables}
        there = {**read_tables(out), **contents}
        there = {name: there[name] for name in TABLES if name in there}
        claims = judged(Cells(there))
        text = "" if page is None else _page(page, there)
        for content in contents.values():
            write_table(out, content)
        if page is not None:
            write_text(page, text)
    _show(contents, claims, out, page, json=json)
    if failed:
        raise DignnError(f"{len(failed)} of the runs failed ({', '.join(failed)}); the same command tries them again")


# -- what is asked for --------------------------------------------------------------------------------


def _chosen(what: str) -> list[Definition]:
    if what == ALL_TABLES:
        return [one for one in TABLES.values() if not one.by_name_only]
    if what not in TABLES:
        raise DignnError(not_known("table", what, (*TABLES, ALL_TABLES)))
    return [TABLES[what]]


def _check_sets(given: Sequence[str], tables: Sequence[Definition]) -> None:
    """Refuses data sets that the tables are not about."""
    there = dict.fromkeys(cell.setup.dataset for one in tables for cell in one.cells)
    for name in given:
        if name not in there:
            raise DignnError(not_known("data set of these tables", name, there))


def _check_folder(out: Path, preset: str) -> None:
    """Refuses what is no folder of tables, and one whose tables are of another preset."""
    if out.exists() and not out.is_dir():
        raise DignnError(f"{out} is a file; choose another folder by --out")
    if (out / CONFIG).exists():
        raise DignnError(f"{out} is a run of `dignn explain`; choose another folder by --out")
    for name, content in read_tables(out).items():
        if content["preset"] != preset:
            raise DignnError(f"{out}/{name}.json is of preset {content['preset']}, not {preset}; choose another --out")


def _check_kept(out: Path, tables: Sequence[Definition], finished: Finished, preset: str) -> None:
    """Refuses to write tables without values that they have now."""
    there = read_tables(out)
    poorer = [f"{one.name}.json" for one in tables if lost(there.get(one.name), filled(one, finished, preset))]
    if poorer:
        raise DignnError(
            f"{out} has values in {', '.join(poorer)} of runs that neither its {RUN_LINES} nor --recorded tells of; "
            "give their files by --recorded, delete those tables, or choose another --out"
        )


def _finished(out: Path, recorded: Sequence[Path]) -> Finished:
    """Recorded runs, then those of the folder, which count where both are of the same."""
    own = out / RUN_LINES
    read_lines(own, NEEDED_OF_RUN)  # says what is wrong with it
    return Finished(recorded_runs([*recorded, *([own] if own.is_file() else [])]))


# -- runs ---------------------------------------------------------------------------------------------


def _run(
    missing: Sequence[Wanted], out: Path, folders: Path, jobs: int | None, download: bool, progress: Progress
) -> dict[str, str]:
    """Makes what is missing; why runs failed, by their titles."""
    load_torch(progress)
    new: list[str] = []

    def finished(line: dict[str, Any]) -> None:
        append_line(out / RUN_LINES, line)
        new.append(line["run"])

    try:
        failed = run_wanted(missing, folders, jobs=jobs, download=download, progress=progress, finished=finished)
    except DignnError as error:  # a process was ended
        failed = {one.title: str(error) for one in missing if one.title not in new}
    for title, why in failed.items():
        err.print(f"{title}: {why}", style="red", markup=False, soft_wrap=True)
    return failed


def _page(path: Path, tables: Mapping[str, Any]) -> str:
    """What is in the page: plots in one for browsers."""
    if path.suffix == ".html":
        from dignn.reproduce.results_html import results_html

        return results_html(tables)
    return results_page(tables)


# -- what is shown ------------------------------------------------------------------------------------


def _say_plan(
    every: Sequence[Wanted], missing: Sequence[Wanted], finished: Finished, jobs: int | None, *, json: bool
) -> None:
    """Which runs are missing, by data set, and how long they take."""
    from dignn.core.threads import cores

    expected, workers = expected_seconds(missing, finished), jobs or cores()
    total = sum(expected.values()) / workers
    unknown = sum(one not in expected for one in missing)
    if json:
        say_json(
            {
                "runs": len(every),
                "missing": [{"run": one.title, "seconds": expected.get(one)} for one in missing],
                "minutes": round(total / 60, 1),
                "unknown": unknown,
                "jobs": workers,
            }
        )
        return
    rows = []
    for name in dict.fromkeys(one.setup.dataset for one in every):
        own = [one for one in missing if one.setup.dataset == name]
        known = [expected[one] for one in own if one in expected]
        count = sum(one.setup.dataset == name for one in every)
        minutes = f"{sum(known) / workers / 60:.0f}" if known or not own else "-"
        rows.append([name, str(count), str(len(own)), minutes, str(len(own) - len(known))])
    table(["data set", "runs", "missing", "minutes", "of unknown length"], rows)
    told = [f"about {duration(total, rough=True)}, {workers} at a time"] if total else []
    if unknown:
        told.append(f"how long {unknown} take is not known (--recorded FILE names lines of runs like them)")
    say(f"{len(missing)} of {len(every)} runs are missing{': ' if told else ''}{'; '.join(told)}")
    say("Models are trained first, which is not counted")


def _show(contents: Mapping[str, Any], claims: Sequence[Judged], out: Path, page: Path | None, *, json: bool) -> None:
    states = (BETTER, EQUAL, WORSE, MET, MISSED, NOT_JUDGED, NOT_RUN)
    counts = {
        name: {state: sum(cell["verdict"] == state for cell in content["cells"]) for state in states}
        for name, content in contents.items()
    }
    if json:
        told = [
            {"claim": one.claim.said, "of": one.claim.whose, "verdict": one.verdict.text, "figures": one.figures}
            for one in claims
        ]
        say_json({"tables": counts, "claims": told})
        return
    rows = [[name, *(str(count[state]) for state in states)] for name, count in counts.items()]
    table(["table", *states], rows, title="Values beside the paper's, and beside targets")
    known = [[one.claim.said, one.verdict.text] for one in claims if one.verdict.kind != UNKNOWN]
    if known:
        table(["claim", "verdict"], known, title="What holds")
    say(f"{len(claims) - len(known)} of {len(claims)} claims have no run to be judged by")
    say_path("Tables", out)
    if page is not None:
        say_path("Page", page)
