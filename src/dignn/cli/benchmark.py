"""``dignn benchmark``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from dignn.cli.console import say_json, say_path, table
from dignn.cli.finished_lines import append_line, read_lines
from dignn.cli.options import EXPLAINER, Flag, Preset, settings_of
from dignn.cli.subject import Subject
from dignn.cli.user_model import OwnModel
from dignn.cli.working import load_torch, working
from dignn.core.checks import whole_number
from dignn.core.errors import DignnError
from dignn.core.presets import DEFAULT_PRESET
from dignn.zoo.known.registry import KNOWN_MODELS

if TYPE_CHECKING:
    from dignn.core.progress import Progress
    from dignn.explainers.settings import RunSettings

# One that generates, what a user would do without a generator, and what says nothing.
JUDGED = (EXPLAINER, "prototypes", "random-tree")
FINISHED = "known.jsonl"
_Several = Annotated[tuple[str, ...], Parameter(metavar="NAME ...", consume_multiple=1)]
_JUDGEMENT = ("satisfied", "patterns_found", "evidence_precision")
# Of what is said that a model goes by; of an explainer that says nothing of it, and in older lines, there is none.
_TERMS = ("term_precision", "term_recall", "decoys_named")
_MORE = ("patterns_alone", "decoys")
_KEY = ("model", "explainer", "seed", "preset")


def benchmark(
    what: Literal["known"],
    /,
    *,
    explainers: _Several = JUDGED,
    models: Annotated[_Several, Parameter(show_default=False)] = (),
    seeds: int = 1,
    preset: Preset = DEFAULT_PRESET,
    out: Annotated[Path, Parameter(metavar="FOLDER")] = Path("runs/benchmark"),
    quiet: Flag = False,
    json: Flag = False,
) -> None:
    """Judge explainers by models whose rule is known exactly, on data with decoys that follow the label.

    Of each explainer: are explanations on the right side of the rule, are all sufficient patterns among the ten best,
    also alone, does the rule use what the evidence marks, and how far do graphs of the two classes differ in decoys.
    Where it says what the model goes by: do the terms look at what the rule uses, is all of that named, and which
    decoys are. Finished runs are not made again, and one that was stopped goes on.

    Example: dignn benchmark known

    Some of it: dignn benchmark known --models disjunction degree --explainers random-tree --seeds 3

    Args:
        what: known, the models whose rule is known.
        explainers: which ones, by name.
        models: known models to explain; by default all.
        seeds: how many runs of each, with the seeds 0, 1, ...; a seed decides the data, too.
        preset: settings of every explainer: fast, or, just to see that everything works, smoke.
        out: folder of the run folders, and of known.jsonl with a line for each finished run.
        quiet: show only the result.
        json: print one JSON object, and nothing else: satisfied, patterns_found, evidence_precision, term_precision,
            term_recall and decoys_named of the first explainer, the same under "explainers" of each, and under
            "models" of each run.
    """
    chosen = models or tuple(KNOWN_MODELS)
    for name in chosen:
        KNOWN_MODELS.check(name)
    settings = {name: settings_of(name, preset) for name in explainers}
    whole_number("seeds", seeds, 1)
    asked = [(model, explainer, seed) for model in chosen for explainer in settings for seed in range(seeds)]
    if out.exists() and not out.is_dir():
        raise DignnError(f"{out} is a file; choose another folder by --out")
    done = {tuple(line[name] for name in _KEY): line for line in read_lines(out / FINISHED, _KEY)}
    with working(quiet, json) as progress:
        load_torch(progress)
        for model, explainer, seed in asked:
            key = (model, explainer, seed, preset)
            if key not in done:
                done[key] = _run(*key, settings[explainer], out, progress)
                append_line(out / FINISHED, done[key])
    lines = [done[*key, preset] for key in asked]
    found = {name: _summary([line for line in lines if line["explainer"] == name]) for name in settings}
    if json:
        first = {name: found[explainers[0]][name] for name in (*_JUDGEMENT, *_TERMS)}
        say_json({**first, "explainers": found, "models": lines})
        return
    _print(lines, found)
    say_path("Runs", out / FINISHED)


def _run(
    model: str, explainer: str, seed: int, preset: str, settings: RunSettings, out: Path, progress: Progress
) -> dict[str, Any]:
    """Explains one known model, and judges what comes out."""
    from dignn.zoo.known.known_scores import BEST, score_known
    from dignn.zoo.known.known_terms import score_terms

    known = KNOWN_MODELS[model]
    with progress.stage(f"Known model {model}"):
        dataset = known.dataset(seed)
    about = {"dataset": dataset.name}
    subject = Subject(OwnModel(known.model(dataset.schema)), dataset.data, dataset.schema, about, sizes=dataset.sizes)
    folder = out / preset / model / explainer / str(seed)
    method = subject.explainer(explainer, replace(settings, top_k=BEST), seed, folder, preset, progress)
    method.fit().explain(measure=False)
    explanations = method.study()
    seconds = round(explanations.about["timings"]["WALL"], 1)  # those of a run that was stopped, too
    key = dict(zip(_KEY, (model, explainer, seed, preset), strict=True))
    said, terms = explanations.about.get("goes_by"), dict.fromkeys(_TERMS)
    if said is not None:
        terms = asdict(score_terms(known, dataset, said, explanations.about.get("studied")))
    return {**key, **asdict(score_known(known, explanations)), **terms, "seconds": seconds}


def _summary(lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Means over runs, of what there is."""
    found: dict[str, Any] = {}
    for name in (*_JUDGEMENT, *_MORE, *_TERMS, "holds", "fails", "seconds"):
        values = [line[name] for line in lines if line.get(name) is not None]
        found[name] = mean(values) if values else None
    return {**found, "runs": len(lines)}


def _print(lines: Sequence[dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """Each known model in short, then all of them together, then terms; all fit into 80 characters."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        runs.setdefault((line["model"], line["explainer"]), []).append(line)
    summaries = {key: _summary(several) for key, several in runs.items()}
    rows = [(*key, *_cells(values, _JUDGEMENT)) for key, values in summaries.items()]
    table(("known model", "explainer", "rule", "found", "marks", "s"), rows)
    titles = ("explainer", "satisfied", "patterns", "evidence", "alone", "decoys", "seconds")
    rows = [(name, *_cells(values, (*_JUDGEMENT, *_MORE))) for name, values in found.items()]
    table(titles, rows, title="All known models")
    _print_terms(summaries, found)


def _print_terms(summaries: dict[tuple[str, str], dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """Who says what a model goes by: models of which that is wrong or incomplete first, then all together."""
    told = {key: values for key, values in summaries.items() if values["term_recall"] is not None}
    if not told:
        return
    order = sorted(told, key=lambda key: told[key]["term_precision"] + told[key]["term_recall"])
    rows = [(*key, *_cells(told[key], _TERMS)[:-1]) for key in order]
    rows += [
        ("all", name, *_cells(values, _TERMS)[:-1])
        for name, values in found.items()
        if values["term_recall"] is not None
    ]
    table(("known model", "explainer", "precision", "recall", "decoys"), rows, title="Terms")


def _cells(values: dict[str, Any], names: Sequence[str]) -> list[str]:
    shares = ["-" if values[name] is None else f"{values[name]:.2f}" for name in names]
    return [*shares, f"{values['seconds']:.1f}"]
