"""Run folders: claimed once, resumed, refused to another run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dignn.errors import RunFolderError
from dignn.runtime.files import read_json, write_json
from dignn.runtime.run import STAGES, Run


def artifact(run: Run, name: str, made: list[str]) -> dict:
    def make() -> dict:
        made.append(name)
        return {"made": name}

    return run.artifact(name, make, lambda value, path: write_json(path, value), read_json)


def test_nothing_is_written_before_the_folder_is_claimed(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", {"seed": 0})
    with run.stage("FFS"):
        pass
    assert not (tmp_path / "run").exists()
    run.claim()
    assert json.loads((tmp_path / "run" / "config.json").read_text()) == {"seed": 0}


def test_a_second_start_makes_only_what_is_missing(tmp_path: Path) -> None:
    made: list[str] = []
    for names in (["a.json"], ["a.json", "b.json"]):
        run = Run(tmp_path, {"seed": 0})
        run.claim()
        results = [artifact(run, name, made) for name in names]
    assert made == ["a.json", "b.json"]
    assert results == [{"made": "a.json"}, {"made": "b.json"}]


def test_timings_add_up_over_starts_and_have_the_papers_names(tmp_path: Path) -> None:
    for _ in range(2):
        run = Run(tmp_path, {})
        run.claim()
        with run.stage("GGT"):
            pass
        before = run.timings["GGT"]
    run.finish()
    saved = json.loads((tmp_path / "timings.json").read_text())
    assert list(saved) == ["FFS", "GGT", "GGAT", "NFGT", "NFGAT", "PP", "GS", "EVAL", "WALL"] == [*STAGES, "WALL"]
    assert saved["WALL"] >= saved["GGT"] == round(before, 4)


@pytest.mark.parametrize(("key", "value"), [("seed", 1), ("dataset", "imdb")])
def test_the_folder_of_another_run_is_refused_and_left_alone(tmp_path: Path, key: str, value: object) -> None:
    Run(tmp_path, {"seed": 0, "dataset": "dblp"}).claim()
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(RunFolderError, match=f"run with {key} .* not {value!r}; choose another folder"):
        Run(tmp_path, {"seed": 0, "dataset": "dblp", key: value})
    assert (tmp_path / "config.json").read_bytes() == before


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunFolderError, match="holds other files"):
        Run(tmp_path, {})


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunFolderError, match="is a file"):
        Run(tmp_path / "run", {})


def test_a_damaged_config_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(RunFolderError, match=r"config.json is damaged"):
        Run(tmp_path, {})


def test_without_a_folder_everything_is_made_and_nothing_kept() -> None:
    made: list[str] = []
    run = Run()
    assert artifact(run, "a.json", made) == artifact(run, "a.json", made)
    assert made == ["a.json", "a.json"]
