"""Writes the table of all figures in ``docs/metrics.md`` from the declarations of the metrics.

python -m benchmarks.metric_table
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.tables import markdown, write_between
from dignn.metrics.metric import Figure, Metric, all_metrics

PAGE = Path(__file__).parents[1] / "docs" / "metrics.md"
BEGIN = "<!-- figures: written by python -m benchmarks.metric_table --table -->"
END = "<!-- end of figures -->"
HEAD = ("on the page", "in `metrics.json`", "needs", "judged on", "called *good* on the page")
NEEDS = {
    "graphs": "graphs",
    "structure": "graphs",
    "features": "features",
    "model": "the model",
    "motifs": "motifs",
    "truth": "planted truth",
}
JUDGED = {"graphs": "random candidates", "explanations": "the explanations shown"}


def table() -> str:
    """A row for every figure."""
    return markdown(HEAD, [_row(metric, figure) for metric in all_metrics() for figure in metric.figures])


def _row(metric: Metric, figure: Figure) -> list[str]:
    needs = ", ".join(dict.fromkeys(words for need, words in NEEDS.items() if need in metric.needs))
    judged = "in tables only" if figure.judge is None else JUDGED[metric.about]
    return [figure.title, f"`{metric.figure_path(figure)}`", needs, judged, figure.good]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="write it into docs/metrics.md")
    if parser.parse_args().table:
        write_between(PAGE, BEGIN, END, [table()])
    else:
        print(table())


if __name__ == "__main__":
    main()
