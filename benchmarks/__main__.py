"""``python -m benchmarks [NAME ...]``: measures, stores the figures in ``docs/benchmarks`` and writes the page.

Each part runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from dignn.core.machine import machine

PARTS = ("sampling", "scoring", "matching", "denoisers", "guidance", "pipeline")
FOLDER = Path("docs/benchmarks")
PAGE = Path("docs/benchmarks.md")


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--part"]:
        measure(arguments[1])
        return
    for name in arguments or PARTS:
        print(f"measuring {name} ...", flush=True)
        subprocess.run([sys.executable, "-m", "benchmarks", "--part", name], check=True)
    PAGE.write_text(page())
    print(f"wrote {PAGE}")


def measure(name: str) -> None:
    if name not in PARTS:
        raise SystemExit(f"There is no benchmark '{name}'; choose from {', '.join(PARTS)}")
    found = {"machine": machine(), **import_module(f"benchmarks.{name}").run()}
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


def page() -> str:
    """The Markdown page of all stored figures."""
    lines = [
        "# Benchmarks",
        "",
        "Measured by `make bench`, which writes this page and the files in `docs/benchmarks`. "
        "The accuracy of the explained models is in [models.md](models.md), the realism of generated structure and "
        "what it costs in [realism.md](realism.md), the same of features in [features.md](features.md).",
    ]
    sections = {
        "sampling": _sampling,
        "scoring": _scoring,
        "matching": _matching,
        "denoisers": _denoisers,
        "guidance": _guidance,
        "pipeline": _pipeline,
    }
    for name, section in sections.items():
        path = FOLDER / f"{name}.json"
        if path.exists():
            lines += ["", *section(json.loads(path.read_text()))]
    return "\n".join(lines) + "\n"


def _on(found: dict[str, Any]) -> str:
    where = found["machine"]
    return f"{where['cores']} cores ({where['processor']}), Python {where['python']}, torch {where['torch']}"


def _sampling(found: dict[str, Any]) -> list[str]:
    large = found["million_node_graph"]
    return [
        "## Forest fire",
        "",
        f"1,200 subgraphs of 10 to 15 nodes, one core, median of five runs; {_on(found)}.",
        "",
        "| graph | seconds | target |",
        "|---|---|---|",
        f"| DBLP (the paper: 7.92 s) | {found['dblp_seconds_for_1200']} | at most 1 |",
        f"| {large['nodes']:,} nodes, {large['edges']:,} edges, 3 types | {found['million_seconds_for_1200']} "
        f"({found['ratio_per_subgraph']} times DBLP) | at most 3 times DBLP |",
        "",
        f"Building the adjacency of the large graph, once: {found['million_build_seconds']} s, "
        f"peak memory {found['peak_memory_gib']} GiB.",
    ]


def _scoring(found: dict[str, Any]) -> list[str]:
    return [
        "## Scoring",
        "",
        f"{found['graphs']:,} DBLP subgraphs of 10 to 15 nodes, all feature columns, by the explained GraphSAGE, "
        f"{found['torch_threads']} torch thread(s): **{found['seconds']} s** (target: at most 2 s on two cores); "
        f"peak memory {found['peak_memory_gib']} GiB; {_on(found)}.",
    ]


def _matching(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {name} | {mode} | {value['seconds']:.2f} | {value['share']:.2f} |"
        for name in ("dblp", "ba-shapes")
        for mode, value in found[name].items()
    ]
    return [
        "## Subgraph matching",
        "",
        f"{found['motifs']} motifs, Louvain communities of 3 to 10 nodes, in {found['graphs']:,} real subgraphs of "
        f"{found['size']} nodes, one core (target: at most 5 s for DBLP, typed). The last column is the share of pairs "
        f"in which the motif is contained; {_on(found)}.",
        "",
        "| data set | mode | seconds | contained |",
        "|---|---|---|---|",
        *rows,
    ]


def _denoisers(found: dict[str, Any]) -> list[str]:
    return [
        "## Denoisers of edge diffusion",
        "",
        f"One training step (forward and backward) on {found['batch']} graphs of {found['size']} nodes of DBLP, one "
        f"torch thread: **{1000 * found['fast_seconds']:.0f} ms** with the fast denoiser ({found['fast_parameters']:,} "
        f"parameters), {1000 * found['paper_seconds']:.0f} ms with the paper's graph transformer "
        f"({found['paper_parameters']:,}): {found['ratio']} times as long (target: at least 8); {_on(found)}.",
    ]


def _guidance(found: dict[str, Any]) -> list[str]:
    rows = [
        f"| {strength} | "
        + " | ".join(f"{best:.3f}, {top:.3f}" for best, top in zip(value["best"], value["top_50"], strict=True))
        + f" | {value['ratio']:.2f} | {value['unique']:.2f} |"
        for strength, value in found.items()
        if isinstance(value, dict) and "top_50" in value
    ]
    return [
        "## Guidance",
        "",
        f"Probabilities that the {found['form']} form of the model of `{found['dataset']}` gives to 1,536 graphs "
        "of node growth, by class: the highest, and the mean of the 50 highest. Background it the realism of the same "
        "graphs ([ratio to the floor](realism.md)) and the share of them that no other graph repeats. Strength 0 is "
        f"without guidance; {_on(found)}.",
        "",
        f"| strength | {' | '.join(found['classes'])} | ratio | unique |",
        "|---|" + "---|" * (len(found["classes"]) + 2),
        *rows,
    ]


def _pipeline(found: dict[str, Any]) -> list[str]:
    sets = {name: value for name, value in found.items() if isinstance(value, dict) and "timings" in value}
    stages = list(next(iter(sets.values()))["timings"])
    rows = [
        f"| {name} | " + " | ".join(f"{value['timings'][stage]:.2f}" for stage in stages) + f" | {value['pf']:.4f} |"
        for name, value in sets.items()
    ]
    return [
        "## The whole way",
        "",
        "Seconds per stage with the control generators (bootstrap), which learn nothing, 1,536 candidates, seed 0, the "
        "strong models. Training of the explained model is not counted. "
        f"Peak memory over all sets {found['peak_memory_gib']} GiB; {_on(found)}.",
        "",
        f"| data set | {' | '.join(stages)} | PF |",
        "|---|" + "---|" * (len(stages) + 1),
        *rows,
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
