"""Draws real graphs that no generator saw beside generated ones, and the best explanations of finished runs.

    python -m benchmarks.figures                                       # docs/images/structure-{dblp,tree-cycle}.png
    python -m benchmarks.figures --datasets imdb --method bootstrap
    python -m benchmarks.figures --explanations runs/explanations      # docs/images/explanations-*.png

Real and generated graphs are taken evenly spread over the sizes, without choosing. Explanations are the first of each
class in the run folders NAME-SEED of benchmarks/explanations.py.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from benchmarks.explanation_figures import draw_explanations
from benchmarks.realism_methods import METHODS, prepare
from dignn.core.seeds import Seed
from dignn.core.threads import single_thread
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explanations.explanation import Explanations
from dignn.graphs.batch import GraphBatch, spread
from dignn.graphs.description import edges
from dignn.graphs.schema import Schema
from dignn.report.graph_drawing import COLOURS, SHAPES
from dignn.report.graph_figure import MARKERS
from dignn.report.layout import layout
from dignn.zoo.datasets.registry import DATASETS

FOLDER = Path("docs/images")
ROWS, COLUMNS = 6, 4
Token = tuple[int, int]  # node type and class


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", choices=list(DATASETS), metavar="NAME")
    parser.add_argument("--method", default="node-growth", choices=METHODS)
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder of the pictures")
    parser.add_argument("--explanations", type=Path, metavar="RUNS", help="draw those of the run folders in here")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.explanations is not None:
        for name in options.datasets or DATASETS:
            run = options.explanations / f"{name}-{options.seed}"
            if (run / "explanations.json").exists():
                path = options.out / f"explanations-{name}.png"
                draw_explanations(Explanations.load(run), path)
                print(f"wrote {path}")
        return
    for name in options.datasets or ("dblp", "tree-cycle"):
        path = options.out / f"structure-{name}.png"
        draw(*graphs(name, options.method, options.preset, options.seed), path)
        print(f"wrote {path}")


def graphs(name: str, method: str, preset: str, seed: int) -> tuple[GraphBatch, GraphBatch]:
    """As many held-out as generated graphs, of the same sizes."""
    root = Seed(seed)
    with single_thread():
        real, generator = prepare(name, method, seed, PRESETS[preset])
        shown = real.held_out[spread(len(real.held_out), ROWS * COLUMNS)]
        generator.fit(real.train, seed=root.child("GGT"))
        return shown.without_features(), generator.sample(shown.sizes.tolist(), seed=root.child("figure"))


def draw(real: GraphBatch, generated: GraphBatch, path: Path) -> None:
    """Two blocks of graphs and one legend."""
    looks = token_looks(real, generated)
    with mpl.rc_context({"font.size": 9}):
        figure = plt.figure(figsize=(12.4, 8.8), layout="constrained")
        left, gap, right = figure.subfigures(1, 3, width_ratios=[1, 0.03, 1], wspace=0)
        for block, title, batch in ((left, "Real, held out", real), (right, "Generated", generated)):
            block.suptitle(title, fontsize=14, fontweight="bold")
            axes = block.subplots(ROWS, COLUMNS).flat
            for number, ax in enumerate(axes):
                ax.set_axis_off()
                if number < len(batch):
                    draw_graph(batch[number], ax, looks)
        gap.add_artist(Line2D([0.5, 0.5], [0.02, 0.98], color="#cccccc", linewidth=0.8))
        figure.legend(handles=legend(real.schema, looks), loc="outside lower center", ncols=len(looks), frameon=False)
        figure.savefig(path, dpi=85, pil_kwargs={"optimize": True})
        plt.close(figure)


def token_looks(*batches: GraphBatch) -> dict[Token, tuple[str, str]]:
    """Colour and marker of every token that occurs: a colour each, and a shape by node type."""
    tokens = sorted(
        {
            (int(kind), int(label))
            for batch in batches
            for kind, label in zip(batch.node_type[batch.mask], batch.label[batch.mask], strict=True)
        }
    )
    return {
        token: (COLOURS[place % len(COLOURS)], MARKERS[SHAPES[token[0] % len(SHAPES)]])
        for place, token in enumerate(tokens)
    }


def draw_graph(graph: GraphBatch, ax: Any, looks: dict[Token, tuple[str, str]]) -> None:
    place = layout(graph)
    for u, v, relation in edges(graph):
        style = "-|>" if relation.directed else "-"
        arrow = {"arrowstyle": style, "color": "#8a8a8a", "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=place[v], xytext=place[u], arrowprops=arrow, zorder=1)
    for token, (colour, marker) in looks.items():
        nodes = [n for n in place if (int(graph.node_type[0, n]), int(graph.label[0, n])) == token]
        if nodes:
            xs, ys = zip(*(place[node] for node in nodes), strict=True)
            ax.scatter(xs, ys, s=46, c=colour, marker=marker, edgecolors="white", linewidths=0.6, zorder=2)
    ax.margins(0.12)


def legend(schema: Schema, looks: dict[Token, tuple[str, str]]) -> list[Line2D]:
    """One mark per token, named by its class where it has one, and its type where there are several."""
    handles = []
    for (kind, label), (colour, marker) in looks.items():
        name = schema.node_types[kind]
        if label >= 0:
            name = schema.classes[label] if len(schema.node_types) == 1 else f"{name}: {schema.classes[label]}"
        handles.append(Line2D([], [], linestyle="", color=colour, marker=marker, markersize=8, label=name))
    return handles


if __name__ == "__main__":
    main()
