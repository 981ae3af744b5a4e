"""Explanations are there, in Python, in the folder, on the page and in the terminal, before they are measured."""

from __future__ import annotations

import hashlib
import logging
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from command_line import run
from dignn import DignnError, DiGNNExplainer, Explanations
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.metrics.run import Measuring
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from tiny_models import TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
SMOKE = PRESETS["smoke"]
SMALL = replace(
    SMOKE,
    sizes=(8, 9),
    subgraphs_per_size=10,
    candidates=24,
    top_k=2,
    features="bootstrap",
    node_growth=replace(SMOKE.node_growth, training=TrainingConfig(steps=10, validate_every=5)),
)
WORDS = ["--sizes", "8", "9", "--subgraphs-per-size", "10", "--candidates", "24", "--features", "bootstrap"]
NOT_YET = "has not been measured yet"


class Stopped(Exception):  # noqa: N818 (what the user did, no error)
    """As if somebody had stopped the run."""


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


def explainer(dataset: Dataset, folder: Path | None = None) -> DiGNNExplainer:
    return DiGNNExplainer(
        TinyHetero(dataset.schema), dataset.data, schema=dataset.schema, config=SMALL, seed=0, folder=folder
    )


@pytest.fixture(scope="module")
def finished(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was measured at once, not to be changed."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    explainer(planted, folder).fit().explain()
    return folder


def stop(*_: object) -> None:
    """In the place of measuring."""
    raise Stopped


def sentences(found: Explanations) -> list[str]:
    """What the first explanation of each class says."""
    return [several[0].evidence.text for several in found.values()]  # type: ignore[union-attr]


def digests(folder: Path) -> dict[str, str]:
    """Of everything that does not tell the time."""
    timed = ("timings.json", "checksums.json", "report.html")
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir() if path.name not in timed
    }


def test_a_run_that_is_stopped_while_measuring_has_its_explanations_and_the_next_call_completes_it(
    planted: Dataset, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with mock.patch.object(Measuring, "measure", stop), pytest.raises(Stopped):
        explainer(planted, folder).fit().explain()
    found = Explanations.load(folder)
    page = (folder / "report.html").read_text()
    assert all(several for several in found.values())
    assert NOT_YET in page
    assert all(name in page for name in found)
    assert not (folder / "metrics.json").exists()
    before = digests(folder)
    completed = explainer(planted, folder).fit().explain()
    assert sentences(completed) == sentences(found)
    assert completed.about["metrics"] == Explanations.load(folder).about["metrics"]
    assert NOT_YET not in (folder / "report.html").read_text()
    after = digests(folder)
    assert after.pop("metrics.json")
    assert after == before


def test_measuring_apart_gives_what_measuring_at_once_gives(planted: Dataset, finished: Path, tmp_path: Path) -> None:
    apart = explainer(planted, tmp_path / "apart").fit()
    first = apart.explain(measure=False)
    assert "metrics" not in first.about
    assert NOT_YET in (tmp_path / "apart" / "report.html").read_text()
    second = apart.measure()
    assert second.by_class is first.by_class
    assert second.about["metrics"] == Explanations.load(finished).about["metrics"]
    assert second.about["timings"]["EVAL"] > 0
    assert digests(tmp_path / "apart") == digests(finished)


def test_what_is_known_is_not_measured_again_unless_that_is_wanted(
    planted: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[int] = []
    monkeypatch.setattr(Measuring, "measure", lambda *_: measured.append(1) or {"paper": {}})
    made = explainer(planted).fit()
    with pytest.raises(DignnError, match="nothing to measure yet; call explain first"):
        made.measure()
    made.explain(measure=False)
    assert made.measure().about["metrics"] == made.measure().about["metrics"] == {"paper": {}}
    assert len(measured) == 1
    made.measure(again=True)
    assert len(measured) == 2
    with pytest.raises(DignnError, match="again"):
        made.measure(again="yes")  # type: ignore[arg-type]


def test_a_message_says_where_explanations_are_when_measuring_begins(
    planted: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    there: list[bool] = []

    def look(*_: object) -> dict[str, Any]:
        there.append(any(str(tmp_path / "run" / "report.html") in line for line in caplog.messages))
        return {name: {} for name in ("paper", "sound", "floor", "control")}

    monkeypatch.setattr(Measuring, "measure", look)
    with caplog.at_level(logging.INFO, logger="dignn"):
        explainer(planted, tmp_path / "run").fit().explain()
    assert there == [True]


def test_the_page_of_a_run_that_is_measured_again_keeps_its_figures_until_there_are_new_ones(
    planted: Dataset, finished: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(finished, tmp_path / "run"))
    before = digests(folder)
    with mock.patch.object(Measuring, "measure", stop), pytest.raises(Stopped):
        explainer(planted, folder).fit().explain(measure_again=True)
    assert NOT_YET not in (folder / "report.html").read_text()
    assert digests(folder) == before


def test_the_terminal_shows_sentences_before_measuring_and_figures_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("explain", "planted", *WORDS, "--preset", "smoke", "--out", str(tmp_path / "run"), "--quiet")
    with mock.patch.object(Measuring, "measure", stop), pytest.raises(Stopped):
        run(*command)
    shown, said = capsys.readouterr().out, sentences(Explanations.load(tmp_path / "run"))
    assert "Best explanation per class" in shown
    assert all(text in shown for text in said)
    assert "Main figures" not in shown
    assert run(*command) == 0
    shown = capsys.readouterr().out
    assert max(shown.index(text) for text in said) < shown.index("Main figures")
    assert shown.rstrip().endswith("report.html")
