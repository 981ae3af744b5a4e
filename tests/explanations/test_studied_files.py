"""Files give back what was told of what a model goes by, and the graphs that belong to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import hand_made
import studied_by_hand
from dignn.core.errors import DignnError, RunFolderError
from dignn.explanations.explanation import Explanations

CONTRASTS = "counterfactuals.safetensors"


def test_files_give_back_what_was_saved(tmp_path: Path) -> None:
    saved = studied_by_hand.authors()
    saved.save(tmp_path)
    loaded = Explanations.load(tmp_path)
    assert loaded.about == json.loads(json.dumps(saved.about))
    assert loaded.goes_by == saved.goes_by
    assert loaded.sentence("two") == saved.sentence("two")
    assert saved.contrasts is not None
    assert loaded.contrasts is not None
    assert torch.equal(loaded.contrasts.node_type, saved.contrasts.node_type)
    assert torch.equal(loaded.contrasts.edge, saved.contrasts.edge)
    assert torch.equal(loaded.contrasts[[1]].features("author"), saved.contrasts[[1]].features("author"))


def test_what_was_there_before_does_not_stay(tmp_path: Path) -> None:
    studied_by_hand.authors().save(tmp_path)
    hand_made.explanations().save(tmp_path)
    loaded = Explanations.load(tmp_path)
    assert loaded.contrasts is None
    assert loaded.goes_by == {}
    assert not (tmp_path / CONTRASTS).exists()


def test_without_its_graphs_the_rest_is_there(tmp_path: Path) -> None:
    studied_by_hand.authors().save(tmp_path)
    (tmp_path / CONTRASTS).unlink()
    loaded = Explanations.load(tmp_path)
    assert loaded.contrasts is None
    assert loaded.sentence("two") == studied_by_hand.authors().sentence("two")


def test_graphs_of_another_run_are_refused(tmp_path: Path) -> None:
    saved = studied_by_hand.authors()
    assert saved.contrasts is not None
    replace(saved, contrasts=saved.contrasts[[0, 1]]).save(tmp_path)
    told = "holds 2 graphs and explanations.json names number 2; `dignn evaluate .*` makes both anew"
    with pytest.raises(RunFolderError, match=told):
        Explanations.load(tmp_path)


def test_damaged_graphs_are_named(tmp_path: Path) -> None:
    studied_by_hand.authors().save(tmp_path)
    (tmp_path / CONTRASTS).write_bytes(b"nothing")
    with pytest.raises(RunFolderError, match=f"{CONTRASTS}.*damaged"):
        Explanations.load(tmp_path)


@pytest.mark.parametrize(
    "told", [None, 3, [3], [{"graphs": [0]}], [{"source": "one", "target": "two", "graphs": "ab"}]]
)
def test_damaged_words_of_pairs_do_no_harm(told: object, tmp_path: Path) -> None:
    saved = studied_by_hand.authors()
    about = {**saved.about, "counterfactuals": told, "undecided": told}
    replace(saved, about=about).save(tmp_path)
    assert Explanations.load(tmp_path).contrasts is not None


def test_contrasts_are_graphs() -> None:
    with pytest.raises(DignnError, match="contrasts .*a GraphBatch, or None"):
        Explanations({}, contrasts=[])  # type: ignore[arg-type]
