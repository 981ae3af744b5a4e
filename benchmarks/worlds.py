"""Whole runs of the explainer on worlds that it was not tuned on, each in a process of its own.

    python -m benchmarks.worlds                                    # worlds-1 to worlds-12, seeds 0, 1 and 2; resumable
    python -m benchmarks.worlds --worlds worlds-7 worlds-99 --seeds 0
    python -m benchmarks.worlds --table                            # the tables of docs/any-data.md

A world is data that combines properties at random, with a model trained on it in seconds, which is not counted. A run
that fails, or that takes longer than the limit, is a line of the results file, too, with its error.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from benchmarks.tables import add_run_options, append_run, read_runs
from benchmarks.watched import watch
from dignn.core.code_version import commit
from dignn.core.machine import machine

RESULTS, PAGE = Path("docs/benchmarks/worlds.jsonl"), Path("docs/any-data.md")
NAMES = tuple(f"worlds-{number}" for number in range(1, 13))
# Seconds that a run may take, and that drawing its world and loading libraries may take beside.
LIMIT, BESIDE = 400.0, 60.0
DIGITS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", nargs="+", default=list(NAMES), metavar="NAME", help="worlds-1, worlds-2, ...")
    parser.add_argument("--preset", default="fast", help="settings of the explainer")
    parser.add_argument("--runs", type=Path, help="keep run folders here; by default they are deleted")
    add_run_options(parser, RESULTS, PAGE)
    options = parser.parse_args()
    if options.one:
        result = run(options.worlds[0], options.seeds[0], options.preset, options.runs)
        sys.stdout.write(json.dumps(result) + "\n")
        return
    if options.table:
        from benchmarks.world_tables import write_page

        write_page(read_runs(options.out), PAGE)
        return
    known = {(found["world"], found["seed"]) for found in read_runs(options.out) if found["error"] is None}
    for seed in options.seeds:
        for name in options.worlds:
            if (name, seed) not in known or options.again:
                found = one(name, seed, options.preset, options.runs)
                append_run(options.out, found)
                print(name, seed, found["error"] or f"{found['seconds']:.0f} s", flush=True)


def one(name: str, seed: int, preset: str, runs: Path | None) -> dict[str, Any]:
    """A run in a process of its own, and what it gave; its error where it gave nothing."""
    with tempfile.TemporaryDirectory() as folder:
        given = ["--one", "--worlds", name, "--seeds", str(seed), "--preset", preset, "--runs", str(runs or folder)]
        ended = watch([sys.executable, "-m", "benchmarks.worlds", *given], LIMIT + BESIDE)
    found = _nothing(name, seed)
    if ended.code == 0:
        found |= json.loads(ended.output.strip().splitlines()[-1])
    else:
        late = f"took longer than {LIMIT:.0f} s and was ended"
        found["error"] = late if ended.code is None else f"the process ended with code {ended.code}"
    if found["error"] is None and found["seconds"] > LIMIT:
        found["error"] = f"took {found['seconds']:.0f} s, longer than {LIMIT:.0f} s"
    return {**found, "gib": round(ended.gib, 3), "commit": commit(), "machine": machine()}


def run(name: str, seed: int, preset: str, runs: Path) -> dict[str, Any]:
    """One run in this process, and what it gave."""
    from dignn.zoo.worlds.drawing import draw

    begin = time.perf_counter()
    world = draw(int(name.removeprefix("worlds-")))
    found = {
        **_nothing(name, seed),
        "summary": world.summary,
        "model": {"accuracy": round(world.accuracy, DIGITS), "majority": round(world.majority, DIGITS)},
        "drawing": round(time.perf_counter() - begin, 2),
    }
    begin = time.perf_counter()
    try:
        found |= explained(world, seed, preset, runs / f"{name}-{seed}")
    except Exception as error:  # whatever it is, it is what the run gave
        found["error"] = told(error)
        sys.stderr.write(traceback.format_exc())
    return {**found, "seconds": round(time.perf_counter() - begin, 2) if found["seconds"] is None else found["seconds"]}


def explained(world: Any, seed: int, preset: str, folder: Path) -> dict[str, Any]:
    """Explains the model of a world, from the beginning, and measures that."""
    from dataclasses import replace

    from dignn.core.files import read_json
    from dignn.explainers.methods.dignnexplainer.explainer import DiGNNExplainer
    from dignn.explainers.methods.dignnexplainer.settings import PRESETS
    from dignn.graphs.batch import GraphBatch

    shutil.rmtree(folder, ignore_errors=True)
    begin = time.perf_counter()
    dataset = world.dataset
    config = replace(PRESETS[preset], sizes=dataset.sizes)
    about = {"dataset": world.name, "preset": preset}
    explainer = DiGNNExplainer(
        world.model, dataset.data, schema=dataset.schema, config=config, seed=seed, folder=folder, about=about
    )
    explainer.fit().explain()
    taken = time.perf_counter() - begin
    metrics = read_json(folder / "metrics.json")
    made = GraphBatch.load(folder / "unrefined.safetensors")
    return {
        "seconds": round(taken, 2),
        "timings": {stage: round(value, 2) for stage, value in read_json(folder / "timings.json").items()},
        **c2st_of(metrics),
        "agreement": agreeing(explainer.adapter, made),
        "accuracy": agreeing(explainer.adapter, explainer.real.held_out_given),
    }


def c2st_of(metrics: dict[str, Any]) -> dict[str, Any]:
    """How well a classifier tells generated from real, beside what it reaches on real graphs: means and by type."""
    ours, floor = metrics["sound"], metrics["floor"]["sound"]
    return {
        "features_c2st": ours["features"]["c2st"],
        "features_c2st_floor": floor["features"]["c2st"],
        "graphs_c2st": ours["graphs"]["c2st"],
        "graphs_c2st_floor": floor["graphs"]["c2st"],
        "by_type": {
            name: {"c2st": values["c2st"], "floor": ((floor["features"]["by_type"] or {}).get(name) or {}).get("c2st")}
            for name, values in (ours["features"]["by_type"] or {}).items()
        },
    }


def agreeing(adapter: Any, graphs: Any) -> float | None:
    """Share of the targets (or graphs) of a batch that have a class of which the model names it."""
    scores = adapter.score(graphs)
    label = scores.labels(graphs)
    known = label >= 0
    return round(float((scores.predicted == label)[known].double().mean()), DIGITS) if known.any() else None


def told(error: BaseException) -> str:
    """An error in a line: what and where."""
    place = [frame for frame in traceback.extract_tb(error.__traceback__) if "dignn" in Path(frame.filename).parts]
    where = f" ({Path(place[-1].filename).name}, line {place[-1].lineno})" if place else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{where}"


def _nothing(name: str, seed: int) -> dict[str, Any]:
    """A line of a run that gave nothing yet."""
    measured = ("seconds", "gib", "features_c2st", "features_c2st_floor", "graphs_c2st", "graphs_c2st_floor")
    return {"world": name, "seed": seed, **dict.fromkeys((*measured, "agreement", "accuracy", "error"))}


if __name__ == "__main__":
    main()
