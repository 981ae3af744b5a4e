"""A metric is declared once: what is declared is in metrics.json, on the page, in the terminal and everywhere else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dignn.cli.main import main
from dignn.cli.summary import print_summary, summary
from dignn.core.errors import DignnError
from dignn.core.seeds import Seed
from dignn.explanations.explanation import Explanations
from dignn.metrics.feature_rows import RealRows
from dignn.metrics.judging import Verdict
from dignn.metrics.measured import MeasuredGraphs, Reality
from dignn.metrics.metric import GROUPS, METRICS, Figure, Metric, all_metrics, declare
from metrics.small_world import small_world

ROOT = Path(__file__).parents[2]
PATH = "sound.graphs.mean_size"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The mean number of nodes: declared here, and nowhere else."""
    all_metrics()
    monkeypatch.setattr(METRICS, "_items", dict(METRICS))

    def mean_size(measured: MeasuredGraphs, reality: Reality) -> float | None:
        sizes = [len(graph) for graph in measured.plain]
        return sum(sizes) / len(sizes) if sizes else None

    declare(
        Metric(PATH, "structure", 35, {"structure"}, mean_size),
        Figure(
            "Size",
            "Nodes of a graph, on average.",
            better="near",
            judge=lambda value, floor, controls: Verdict("fair", f"{value:.1f} nodes beside {floor:.1f}"),
            good="never",
            high=None,
            terminal="nodes",
        ),
    )
    return


@pytest.mark.usefixtures("toy")
def test_a_metric_that_is_declared_is_everywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(RealRows, "compared_with", lambda *_, **__: {})
    monkeypatch.setattr("dignn.metrics.c2st.TREES", 1)
    world = small_world()
    found = world.run(world.further[:40])
    columns = {"ours": found, "floor": found["floor"], **found["control"]}
    sizes = {name: column["sound"]["graphs"]["mean_size"] for name, column in columns.items()}
    assert sizes["ours"] == sizes["random_trees"] == world.further[:40].sizes.double().mean()
    assert 10 < sizes["floor"] < 12
    assert sizes["column_noise"] is None  # it has no structure of its own

    explanations = Explanations({"ring": []}, {"metrics": found})
    explanations.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<b>Size</b>" in page
    assert f"nodes beside {sizes['floor']:.1f}." in page

    print_summary(explanations)
    assert f"{sizes['ours']:.3f}" in next(line for line in capsys.readouterr().out.splitlines() if "│ nodes" in line)
    assert summary(explanations, tmp_path)["figures"]["graphs.mean_size"]["floor"] == sizes["floor"]

    graphs = {"graphs": [{"n": 3, "edges": [[0, 1], [1, 2]]}, {"n": 4, "edges": [[0, 1]]}]}
    (tmp_path / "graphs.json").write_text(json.dumps(graphs))
    assert main(["metrics", *[str(tmp_path / "graphs.json")] * 2, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sound"]["graphs"]["mean_size"] == 3.5

    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.metric_table import table

    assert f"| Size | `{PATH}` | graphs | random candidates | never |" in table()


@pytest.mark.usefixtures("toy")
def test_a_path_has_one_metric() -> None:
    with pytest.raises(DignnError, match=f"already a metric called '{PATH}'"):
        declare(METRICS[PATH])


def test_metrics_come_in_the_order_that_they_declare() -> None:
    found = all_metrics()
    assert {metric.group for metric in found} == set(GROUPS)
    places = [(list(GROUPS).index(metric.group), metric.order) for metric in found]
    assert places == sorted(set(places))
    assert {metric.path.split(".")[0] for metric in found} == {"paper", "sound"}


def test_what_needs_are_not_met_is_not_computed() -> None:
    nothing = MeasuredGraphs(frozenset()), Reality(seed=Seed(0))
    assert all(metric.of(*nothing) is None for metric in all_metrics())


def test_every_figure_that_is_judged_says_what_is_good() -> None:
    for metric in all_metrics():
        for figure in metric.figures:
            assert (figure.judge is None) == (figure.good == "")
