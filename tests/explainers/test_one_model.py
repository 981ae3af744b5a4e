"""A run folder is of one model and one run, and of what was written there."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import MaxAggregation

from dignn import DignnError, DiGNNExplainer, Explanations
from dignn.core.errors import ModelMismatchError, RunFolderError
from dignn.core.fingerprint import model_fingerprint
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from small_runs import LESS
from strategies import rings_and_stars
from tiny_models import TinyGCN

pytestmark = pytest.mark.usefixtures("haste")
SMOKE = PRESETS["smoke"]
SMALL = replace(
    SMOKE,
    candidates=12,
    top_k=2,
    features="bootstrap",
    node_growth=replace(SMOKE.node_growth, training=TrainingConfig(steps=5, validate_every=5)),
)


def forward(model: Any, data: Data) -> torch.Tensor:
    return model(data.x, data.edge_index, data.batch)


def doubled(model: Any, data: Data) -> torch.Tensor:
    return 2 * forward(model, data)


def probabilities(model: Any, data: Data) -> torch.Tensor:
    return forward(model, data).softmax(1)


def explainer(folder: Path, **options: Any) -> DiGNNExplainer:
    model = options.pop("model", TinyGCN(1, 2, pool=True))
    data = options.pop("data", rings_and_stars())
    return DiGNNExplainer(model, data, **{"config": SMALL, "seed": 0, "folder": folder, **options})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Finished runs, not to be changed: ``plain``, and ``shared``, whose model is called by ``probabilities``."""
    folder = tmp_path_factory.mktemp("runs")
    explainer(folder / "plain").fit().explain()
    explainer(folder / "shared", forward=probabilities, return_type="probs").fit().explain()
    return folder


@pytest.fixture
def finished(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs / "plain", tmp_path / "finished"))


def everything(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def with_maximum() -> TinyGCN:
    """The same class and the same weights."""
    model = TinyGCN(1, 2, pool=True)
    model.conv.aggr_module = MaxAggregation()
    return model


class OtherOnLarge(TinyGCN):
    """The same weights, and the same answers on small graphs."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        return super().forward(x, edge_index, batch) * (1 + (batch.bincount() > 6).float())[:, None]


OtherOnLarge.__qualname__ = "TinyGCN"


def weighted() -> list[Data]:
    data = rings_and_stars()
    for graph in data:
        graph.weight = torch.ones(graph.num_edges)
    return data


def noted() -> list[Data]:
    """The same graphs with something that no schema describes."""
    data = weighted()
    for number, graph in enumerate(data):
        del graph.weight
        graph.note = number
    return data


# -- another model ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"model": with_maximum()}, "is a run of another model: of .* answers to real graphs .* differ"),
        ({"forward": doubled}, "is a run with forward None, not 'doubled'"),
        ({"model": TinyGCN(1, 2, pool=True, seed=1)}, "is a run with model "),
        ({"data": weighted()}, "is a run with schema "),
        ({"data": noted()}, "is a run with fields "),
    ],
)
def test_another_model_is_refused_and_nothing_is_changed(finished: Path, options: Any, told: str) -> None:
    before = everything(finished)
    with pytest.raises(RunFolderError, match=f"{told}.*; choose another folder or delete it"):
        explainer(finished, **options).fit()
    assert everything(finished) == before


def test_another_return_type_or_forward_is_refused(runs: Path) -> None:
    folder, before = runs / "shared", everything(runs / "shared")
    with pytest.raises(RunFolderError, match="is a run with forward 'probabilities', not None"):
        explainer(folder).fit()

    def logarithms(model: Any, data: Data) -> torch.Tensor:
        return probabilities(model, data).log()

    logarithms.__qualname__ = "probabilities"
    other = explainer(folder, forward=logarithms, return_type="log_probs")
    with pytest.raises(
        RunFolderError, match="is a run with (other code of forward|return_type 'probs', not 'log_probs')"
    ):
        other.fit()
    assert everything(folder) == before


def test_the_identity_is_noted(runs: Path) -> None:
    config = json.loads((runs / "shared" / "config.json").read_text())
    assert config["forward"]["name"] == "probabilities"
    assert config["return_type"] == "probs"
    assert all(index in (0, 1) and score <= 0 for index, score in config["answers"]["compared"])
    assert len(config["answers"]["compared"]) == LESS["dignn.sampling.division.COMPARED_GRAPHS"]
    assert json.loads((runs / "plain" / "config.json").read_text())["forward"] is None


def test_a_folder_of_an_earlier_version_goes_on(finished: Path) -> None:
    config = json.loads((finished / "config.json").read_text())
    for name in ("fields", "forward", "return_type", "answers"):
        del config[name]
    (finished / "config.json").write_text(json.dumps(config))
    (finished / "checksums.json").unlink()
    before = everything(finished)
    (finished / "metrics.json").unlink()
    explainer(finished).fit().explain()
    after = everything(finished)
    # What it notes is kept, and from now on there is an account of its files.
    assert {name for name in before if after[name] != before[name]} <= {"timings.json", "report.html"}
    assert set(json.loads(after["checksums.json"])) == set(before) - {"report.html"}
    with pytest.raises(RunFolderError, match="is a run with model "):
        explainer(finished, model=TinyGCN(1, 2, pool=True, seed=1)).fit()


def test_answers_to_few_graphs_that_an_earlier_version_noted_are_compared(finished: Path) -> None:
    made = explainer(finished)
    scores, classes = made.adapter.score(made.real.trial()).logits.max(1)
    _note(finished, answers=[[int(index), float(score)] for index, score in zip(classes, scores, strict=True)])
    explainer(finished).check()
    with pytest.raises(RunFolderError, match="is a run of another model: of 8 answers to real graphs"):
        explainer(finished, model=with_maximum()).check()


@pytest.mark.usefixtures("all_compared")
def test_a_model_that_differs_on_few_graphs_only_is_another(finished: Path) -> None:
    """Those on which it does are none of the first."""
    data = rings_and_stars()
    data.sort(key=lambda graph: int(graph.num_nodes or 0))
    folder = finished.with_name("sorted")
    explainer(folder, data=data).fit()
    with pytest.raises(RunFolderError, match="is a run of another model: of 24 answers to real graphs 8 differ"):
        explainer(folder, data=data, model=OtherOnLarge(1, 2, pool=True)).check()


# -- the same model, wrapped --------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", [torch.compile, torch.nn.DataParallel])
def test_a_wrapper_is_the_model_that_it_wraps(finished: Path, wrapper: Any) -> None:
    plain = explainer(finished).check()
    wrapped = explainer(finished, model=wrapper(TinyGCN(1, 2, pool=True))).check()
    assert wrapped.about == plain.about
    assert wrapped._note == plain._note
    with pytest.raises(RunFolderError, match="is a run with model "):
        explainer(finished, model=wrapper(TinyGCN(1, 2, pool=True, seed=1))).check()


def test_a_folder_in_which_an_earlier_version_noted_the_wrapper_goes_on(finished: Path) -> None:
    model = torch.nn.DataParallel(TinyGCN(1, 2, pool=True))
    _note(finished, model=model_fingerprint(model, torch.zeros(1)))
    explainer(finished, model=model).check()


# -- a model that is changed --------------------------------------------------------------------------


def negate(model: torch.nn.Module) -> None:
    with torch.no_grad():
        for weight in model.parameters():
            weight.neg_()


def closed_over(model: torch.nn.Module) -> Any:
    """A function of which nobody sees the weights."""

    def answer(data: Data) -> torch.Tensor:
        return forward(model, data)

    return answer


@pytest.mark.parametrize("given", [lambda model: model, closed_over, torch.nn.DataParallel])
def test_a_model_that_was_changed_is_not_explained_as_the_one_that_was_checked(tmp_path: Path, given: Any) -> None:
    model = TinyGCN(1, 2, pool=True)
    made = explainer(tmp_path / "run", model=given(model)).check()
    negate(model)
    with pytest.raises(ModelMismatchError, match="was changed since it was checked; make a new explainer of it"):
        made.fit()
    assert not (tmp_path / "run").exists()
    negate(model)  # as it was
    made.fit()
    before = everything(tmp_path / "run")
    negate(model)
    with pytest.raises(ModelMismatchError, match="was changed since it was checked; make a new explainer of it"):
        made.explain()
    assert everything(tmp_path / "run") == before


def test_a_change_that_no_answer_shows_is_one(tmp_path: Path) -> None:
    model = TinyGCN(1, 2, pool=True)
    model.unused = torch.nn.Parameter(torch.ones(1))
    made = explainer(tmp_path / "run", model=model).check()
    made.check()
    with torch.no_grad():
        model.unused.neg_()
    with pytest.raises(ModelMismatchError, match="was changed since it was checked"):
        made.fit()


# -- two on one folder --------------------------------------------------------------------------------


def test_of_two_explainers_that_were_checked_the_second_to_work_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    one, same, other = explainer(folder).check(), explainer(folder).check(), explainer(folder, seed=1).check()
    one.fit().explain()
    before = everything(folder)
    with pytest.raises(RunFolderError, match="is a run with seed 0, not 1"):
        other.fit()
    same.fit().explain()
    assert everything(folder) == before


# -- altered files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["config.json", "timings.json", "generation.json", "metrics.json", "candidates.safetensors"]
)
def test_an_altered_file_is_named_and_made_anew_where_it_is_deleted(finished: Path, name: str) -> None:
    before = everything(finished)
    _alter(finished / name)
    with pytest.raises(RunFolderError, match=f"{name} is damaged or was altered: .*; delete .* and run again"):
        explainer(finished).fit().explain()
    if name == "config.json":
        return  # its remedy is another folder
    (finished / name).unlink()
    if name == "generation.json":  # of how the candidates were made, so it is made with them
        (finished / "candidates.safetensors").unlink()
    explainer(finished).fit().explain()
    after = everything(finished)
    timed = {"timings.json", "report.html", "checksums.json"}
    assert {key: after[key] for key in after if key not in timed} == {
        key: before[key] for key in before if key not in timed
    }


@pytest.mark.parametrize(
    "name",
    [
        *("config.json", "timings.json", "generation.json", "metrics.json", "explanations.json"),
        *("explanations.safetensors", "nearest.safetensors", "backdrop.safetensors"),
    ],
)
def test_who_reads_a_finished_run_sees_an_altered_file(finished: Path, name: str) -> None:
    _alter(finished / name)
    with pytest.raises(DignnError, match=f"{name} is damaged or was altered: "):
        Explanations.load(finished)


def _note(folder: Path, **noted: Any) -> None:
    """Lets ``config.json`` note something else, as if an earlier version had made the folder."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **noted}))
    (folder / "checksums.json").unlink()


def _alter(path: Path) -> None:
    """One digit more, or one bit."""
    if path.suffix == ".json":
        text = path.read_text()
        place = next(number for number, letter in enumerate(text) if letter.isdigit())
        path.write_text(f"{text[:place]}1{text[place:]}")
        return
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
