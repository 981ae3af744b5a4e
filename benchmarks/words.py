"""Draws the most frequent words of real authors of DBLP beside those of generated ones, class by class.

    python -m benchmarks.words                                        # docs/images/words-dblp.png

Words are chosen by the real authors who were held out; generated ones come from a generator that never saw these.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from matplotlib import pyplot as plt
from torch import Tensor

from benchmarks.features import HELD_OUT, METHODS, TABLES, generate, table_of
from dignn.core.seeds import Seed
from dignn.zoo.datasets.registry import load

PATH = Path("docs/images/words-dblp.png")
TABLE = "author-334"
WORDS = 14
REAL, GENERATED, ALL = "#4477aa", "#ee7733", "#444444"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--method", default="ditabddpm", choices=METHODS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=PATH)
    options = parser.parse_args()
    rows, condition, spec, _ = table_of(TABLES[TABLE], options.seed)
    root = Seed(options.seed).child("feature table")
    order = torch.randperm(len(rows), generator=root.child("division").torch())
    held, train = order[: len(rows) // HELD_OUT], order[len(rows) // HELD_OUT :]
    generated = generate(options.method, rows[train], condition[train], spec, root)[0]
    names = [spec.column_name(column) for column in range(spec.width)]
    classes = load(TABLES[TABLE].dataset).schema.classes
    draw(rows[held], condition[held], generated, condition[train], classes, names, options.out)
    print(f"wrote {options.out}")


def draw(
    real: Tensor,
    real_condition: Tensor,
    generated: Tensor,
    condition: Tensor,
    classes: tuple[str, ...],
    names: list[str],
    path: Path,
) -> None:
    """One panel for each class."""
    with mpl.rc_context({"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}):
        figure, axes = plt.subplots(1, len(classes), figsize=(14, 5.2), layout="constrained")
        everywhere = (real != 0).double().mean(0)
        for label, ax in enumerate(axes):
            shares = [
                (some[which.argmax(1) == label] != 0).double().mean(0)
                for some, which in ((real, real_condition), (generated, condition))
            ]
            panel(ax, classes[label], shares[0], shares[1], everywhere, names)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(path, dpi=85, pil_kwargs={"optimize": True})
        plt.close(figure)


def panel(ax: Any, title: str, real: Tensor, generated: Tensor, everywhere: Tensor, names: list[str]) -> None:
    """The most frequent words of a class: bars of real and generated authors, a mark for authors of all classes."""
    top = real.argsort(descending=True, stable=True)[:WORDS].flip(0)
    place = np.arange(len(top))
    ax.barh(place + 0.2, real[top], 0.38, color=REAL, label="real authors, held out")
    ax.barh(place - 0.2, generated[top], 0.38, color=GENERATED, label="generated authors")
    ax.plot(everywhere[top], place, "|", color=ALL, markersize=11, label="real authors of all classes")
    ax.set_yticks(place, [names[column] for column in top.tolist()])
    ax.set_title(title, fontweight="bold")
    ax.set_xlabel("share of authors with the word")
    ax.margins(y=0.01)


if __name__ == "__main__":
    main()
