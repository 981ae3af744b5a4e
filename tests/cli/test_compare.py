"""``dignn compare``: what it writes, that it goes on, and what it says of mistakes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from command_line import run
from dignn.cli import compared_runs
from dignn.cli.finished_lines import read_lines
from dignn.cli.options import Known, Own
from dignn.cli.planned_runs import Compared, PlannedRun, planned
from dignn.core.errors import DignnError
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explainers.methods.random_tree import RandomTree
from small_runs import small_config

pytestmark = pytest.mark.usefixtures("haste")
EXPLAINERS = ("prototypes", "random-tree")


def command(furnished: Path, folder: Path, *more: object, seeds: int = 2) -> list[object]:
    """One job: what haste shortens is short in this process alone."""
    own = [furnished / "data.pt", "--model", f"{furnished / 'gnn.py'}:load"]
    few = ["--explainers", *EXPLAINERS, "--seeds", seeds, "--preset", "smoke", "--jobs", 1]
    return ["compare", *own, *few, "--out", folder, "--quiet", *more]


@pytest.fixture(scope="module")
def made(furnished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison, not to be changed."""
    folder = tmp_path_factory.mktemp("comparison") / "it"
    assert run(*command(furnished, folder, "--record", folder.parent / "all.jsonl")) == 0
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copy"))


def test_there_is_an_object_for_each_explainer_and_variant(made: Path) -> None:
    found = json.loads((made / "comparison.json").read_text())
    assert set(found) == {name + variant for name in EXPLAINERS for variant in ("", "-common")}
    for name, row in found.items():
        metrics = json.loads((made / f"{name.removesuffix('-common')}-0" / "metrics.json").read_text())
        for layer in ("paper", "sound"):
            assert row[layer].keys() == row["spread"][layer].keys() == metrics[layer].keys()
        assert row["seconds"] > 0
        assert row["gib"] >= 0  # 0 where the system does not tell
        assert 0 < row["scored"] <= 1536
        assert row["seeds"] == ([0] if name.endswith("-common") else [0, 1])


def test_means_and_spreads_are_those_of_the_runs(made: Path) -> None:
    row = json.loads((made / "comparison.json").read_text())["random-tree"]
    metrics = [json.loads((made / f"random-tree-{seed}" / "metrics.json").read_text()) for seed in (0, 1)]
    values = [found["paper"]["pf"] for found in metrics]
    assert row["paper"]["pf"] == pytest.approx(mean(values))
    assert row["spread"]["paper"]["pf"] == pytest.approx(stdev(values))
    best = [found["candidates"]["sound"]["coverage"] for found in metrics]
    assert row["candidates"]["sound"]["coverage"] == pytest.approx(mean(best))
    by_rule = [found["selection"]["representative"]["coverage"] for found in metrics]  # not the rule of this method
    assert row["selection"]["representative"]["coverage"] == pytest.approx(mean(by_rule))


def test_every_run_is_a_run_folder_and_a_line(made: Path) -> None:
    lines = read_lines(made / "comparison.jsonl")
    assert [line["run"] for line in lines] == ["prototypes-0", "random-tree-0", "prototypes-1", "random-tree-1"]
    for line in lines:
        told = json.loads((made / line["run"] / "explanations.json").read_text())
        assert line["scored"] == told["validity"]["valid"]  # these ask about nothing else
        timings = json.loads((made / line["run"] / "timings.json").read_text())
        assert line["seconds"] == pytest.approx(timings["WALL"] - timings["STUDY"] - timings["EVAL"], abs=1e-3)
    recorded = read_lines(made.parent / "all.jsonl")
    assert [line["run"] for line in recorded] == [line["run"] for line in lines]
    assert recorded[0]["paper"]["pf"] == pytest.approx(lines[0]["paper"]["pf"], abs=1e-6)


def test_the_page_shows_every_method_and_needs_nothing_else(made: Path) -> None:
    page = (made / "comparison.html").read_text()
    for name in EXPLAINERS:
        assert page.count(f'<th scope="col">{name}</th>') == 1
        assert page.count(f'<th scope="row">{name}-common</th>') == 2  # by its own rule, and by one for all
    shown = [json.loads((made / f"{name}-0" / "explanations.json").read_text())["classes"] for name in EXPLAINERS]
    drawn = sum(bool(several) for classes in shown for several in classes.values())
    assert page.count('<svg viewBox="0 0 260 220"') == drawn >= 3  # two classes by two methods, where there is any
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_what_is_finished_is_not_run_again(
    furnished: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = _instead(monkeypatch, lambda planned: _line(planned))
    before = (folder / "comparison.jsonl").read_text()
    assert run(*command(furnished, folder)) == 0
    assert asked == []
    assert (folder / "comparison.jsonl").read_text() == before
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("random-tree-common", "PF inside", "coverage of 10", "spread of PF"))
    cut = before.splitlines(keepends=True)
    (folder / "comparison.jsonl").write_text("".join(cut[:3]) + cut[3][:50])  # killed while a line was written
    assert run(*command(furnished, folder)) == 0
    assert asked == ["random-tree-1"]
    assert [line["run"] for line in read_lines(folder / "comparison.jsonl")][3:] == ["random-tree-1"]


def test_a_run_that_fails_stops_no_other(
    furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def attempt(planned: PlannedRun) -> dict[str, Any]:
        if planned.title == "prototypes-0":
            raise DignnError("it has no graphs")
        if planned.title == "prototypes-1":
            raise ZeroDivisionError("by zero")
        return _line(planned)

    _instead(monkeypatch, attempt)
    assert run(*command(furnished, tmp_path / "new", "--json")) == 2
    shown = capsys.readouterr()
    assert set(json.loads(shown.out)) == {"random-tree", "random-tree-common"}
    assert "prototypes-0: it has no graphs" in shown.err
    assert "prototypes-1: ZeroDivisionError: by zero (test_compare.py, line" in shown.err
    assert "2 of the runs failed (prototypes-0, prototypes-1); the same command tries them again" in shown.err


def test_methods_that_ask_more_have_a_run_at_the_common_budget() -> None:
    compared = Compared("planted", Known(), None, "fast", 1536, Path("runs"))
    found = {each.title: each for each in planned(compared, ["dignnexplainer", "prototypes", "random-tree"], [3, 4], 4)}
    assert list(found) == [
        *("dignnexplainer-3", "dignnexplainer-common-3", "prototypes-3", "prototypes-common-3", "random-tree-3"),
        *("dignnexplainer-4", "prototypes-4", "random-tree-4"),
    ]
    assert found["random-tree-3"].names == ("random-tree", "random-tree-common")
    assert found["random-tree-4"].names == ("random-tree",)  # at the common budget the first seed counts
    assert found["prototypes-3"].names == ("prototypes",)
    assert found["prototypes-common-3"].settings.candidates == 1536
    none = Compared("planted", Known(), None, "fast", 0, Path("runs"))
    assert [each.names for each in planned(none, ["random-tree"], [0], 4)] == [("random-tree",)]


def test_the_papers_way_is_planned_for_data_sets() -> None:
    """A GCN of the data converted to one kind of node: rivals with the first seed, our method with all."""
    compared, names = Compared("planted", Known(), None, "fast", 0, Path("runs")), ["dignnexplainer-gcn", "xgnn"]
    found = planned(compared, names, [0, 1], 4, heterogeneous=True)
    assert [each.title for each in found] == [
        *("dignnexplainer-gcn-0", "xgnn-0", "xgnn-homogeneous-0"),
        *("dignnexplainer-gcn-1", "xgnn-1"),
    ]
    assert [each.converted for each in found] == [True, False, True, True, False]
    assert found[0].explainer == "dignnexplainer"
    assert [each.title for each in planned(compared, names, [0], 4)] == ["dignnexplainer-gcn-0", "xgnn-0"]
    others = (
        replace(compared, known=Known("paper")),
        replace(compared, known=Known(columns=("author=5",))),
        replace(compared, own=Own()),
    )
    for other in others:
        assert [each.title for each in planned(other, names, [0], 4, heterogeneous=True)] == ["xgnn-0"]


def test_rows_of_the_papers_way_stand_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a comparison goes on, whichever run was finished first."""
    monkeypatch.setitem(PRESETS._items, "smoke", small_config())
    few = ["--seeds", 1, "--preset", "smoke", "--jobs", 1, "--budget", 0, "--quiet", "--out", tmp_path / "it"]
    assert run("compare", "planted", "--explainers", "dignnexplainer-gcn", *few) == 0
    capsys.readouterr()
    assert run("compare", "planted", "--explainers", "random-tree", *few, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"dignnexplainer-gcn", "random-tree", "random-tree-homogeneous"}
    schema = json.loads((tmp_path / "it" / "dignnexplainer-gcn-0" / "schema.json").read_text())
    assert schema["layout"] == "homogeneous"
    assert all(row["paper"]["pf"] > 0 for row in found.values())
    page = (tmp_path / "it" / "comparison.html").read_text()
    assert "are about another model: a GCN that knows only the types of nodes" in page
    assert run("compare", "planted", "--explainers", "dignnexplainer-gcn", "random-tree", *few) == 0
    assert "of another model, a GCN that knows only" in capsys.readouterr().out


@pytest.mark.parametrize("options", [("--form", "paper"), ("--columns", "author=5")])
def test_the_gcn_row_goes_with_the_strong_model_and_all_columns(
    options: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("compare", "planted", "--explainers", "dignnexplainer-gcn", *options, "--out", tmp_path / "it") == 2
    assert "leave out --form and --columns, or dignnexplainer-gcn" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "it").exists()


def test_a_budget_is_for_as_many_classes_as_there_are() -> None:
    compared = Compared("planted", Known(), None, "smoke", 200, Path("runs"))
    assert len(planned(compared, ["xgnn"], [0], 2)) == 1  # it keeps to that by itself
    natural, common = planned(compared, ["xgnn"], [0], 4)
    assert (natural.names, common.names) == (("xgnn",), ("xgnn-common",))
    tiny = replace(compared, budget=1)
    with pytest.raises(DignnError, match=r"A budget of 1 graphs is too small for xgnn with 4 classes; give a larger"):
        planned(tiny, ["xgnn"], [0], 4)


def test_another_model_is_refused(furnished: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = folder.parent / "other.py"
    other.write_text(
        (furnished / "gnn.py").read_text() + "\n\nfirst = load\n\n\ndef load(*given):\n    model = "
        "first(*given)\n    for weight in model.parameters():\n        weight.data.neg_()\n    return model\n"
    )
    words = command(furnished, folder, "--explainers", "random-real")
    words[words.index("--model") + 1] = f"{other}:load"
    before = (folder / "comparison.jsonl").read_text()
    assert run(*words) == 2
    shown = capsys.readouterr().err
    assert "model" in shown
    assert len(shown.splitlines()) == 1
    assert (folder / "comparison.jsonl").read_text() == before


def test_a_line_that_lacks_something_is_named(
    furnished: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "comparison.jsonl").write_text('{"run": "random-tree-0"}\n')
    assert run(*command(furnished, folder)) == 2
    assert "comparison.jsonl is damaged (line 1: it lacks names)" in capsys.readouterr().err


def test_who_scores_more_than_the_budget_has_no_row_at_it(
    furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    boastful = classmethod(lambda _method, settings, _budget, _classes: replace(settings, top_k=1))
    monkeypatch.setattr(RandomTree, "within", boastful)
    folder = tmp_path / "new"
    assert run(*command(furnished, folder, "--budget", 5, seeds=1)) == 2
    assert "random-tree-common-0: it scored 96 graphs, more than the budget of 5" in capsys.readouterr().err
    found = json.loads((folder / "comparison.json").read_text())
    assert set(found) == {"prototypes", "prototypes-common", "random-tree"}
    assert found["prototypes-common"]["scored"] <= 5 < found["prototypes"]["scored"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("planted --explainers xgn", "There is no explainer called 'xgn'"),
        ("planted --explainers prototypes nothing", "choose from confident-real, d"),
        ("planted --seeds 0", "seeds is 0; it must be at least 1"),
        ("planted --seeds x", "--seeds cannot be 'x'"),
        ("planted --budget -1", "budget is -1; it must be at least 0"),
        ("planted --jobs 0", "jobs is 0; it must be at least 1"),
        ("plantd", "There is no data set called 'plantd' (did you mean 'planted'?)"),
        ("planted --preset thorough --explainers prototypes", "There is no preset of prototypes called 'thorough'"),
        ("planted --model gnn.py:load", "--model needs a data file, and planted is a data set"),
        ("data.pt", "data.pt needs a model; add --model FILE.py:FUNCTION"),
        ("planted --out gnn.py", "gnn.py is a file; choose another folder"),
    ],
)
def test_mistakes_are_one_sentence(home: Path, words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", *words.split(), "--quiet") == 2
    shown = capsys.readouterr().err
    assert told in shown
    assert len(shown.splitlines()) == 1


def test_a_folder_of_something_else_is_refused(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "planted", "--preset", "smoke", "--out", made) == 2
    assert "compares runs with dataset 'data.pt', not 'planted'; choose another folder" in capsys.readouterr().err
    assert run("compare", "planted", "--out", made / "prototypes-0") == 2
    assert "is a run of `dignn explain`; choose another folder" in capsys.readouterr().err


def _instead(monkeypatch: pytest.MonkeyPatch, attempt: Callable[[PlannedRun], dict[str, Any]]) -> list[str]:
    """Lets runs be made by ``attempt``; the titles of those that were asked for."""
    asked: list[str] = []

    def line(compared: Compared, planned: PlannedRun) -> dict[str, Any]:
        asked.append(planned.title)
        return {**compared.about(), **attempt(planned)}

    monkeypatch.setattr(compared_runs, "run_line", line)
    return asked


def _line(planned: PlannedRun) -> dict[str, Any]:
    column = {"paper": {"pf": 0.5}, "sound": {"coverage": 0.25, "pf_in_distribution": 0.5}}
    costs = {"seconds": 1.0, "gib": 0.5, "scored": 96}
    names = {"run": planned.title, "names": list(planned.names), "seed": planned.seed}
    return {**names, **costs, **column, "candidates": column}
