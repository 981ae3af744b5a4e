"""The page on metrics explains every figure that people meet."""

from __future__ import annotations

from dignn.report import measures
from docs.blocks import ROOT


def test_every_figure_of_the_report_is_explained() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    shown = (*measures.STRUCTURE, *measures.FEATURES, *measures.FAITHFUL, *measures.TRUTH)
    assert len(shown) > 15
    for measure in shown:
        assert measure.name in page
        assert f"`{measure.path}`" in page
