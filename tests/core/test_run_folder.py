"""Run folders: claimed once, resumed, refused to another run."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from dignn.core.errors import RunFolderError
from dignn.core.files import read_json, write_json
from dignn.core.run_folder import STAGES, WALL, Run, made_at, read_timings, seconds_until_shown


def artifact(run: Run, name: str, made: list[str], *, anew: bool = False) -> dict:
    def make() -> dict:
        made.append(name)
        return {"made": name, "number": len(made)}

    return run.artifact(name, make, lambda value, path: write_json(path, value), read_json, anew=anew)


def started(folder: Path, **identity: object) -> Run:
    run = Run(folder)
    run.identify({"seed": 0} | identity)
    run.claim()
    return run


def test_nothing_is_written_before_the_folder_is_claimed(tmp_path: Path) -> None:
    run = Run(tmp_path / "run")
    with run.stage("FFS"):
        pass
    assert not (tmp_path / "run").exists()
    run.identify({"seed": 0}, {"versions": 1})
    assert not (tmp_path / "run").exists()
    run.claim()
    assert json.loads((tmp_path / "run" / "config.json").read_text()) == {"seed": 0, "versions": 1}


def test_a_second_start_makes_only_what_is_missing(tmp_path: Path) -> None:
    made: list[str] = []
    for names in (["a.json"], ["a.json", "b.json"]):
        run = started(tmp_path)
        results = [artifact(run, name, made) for name in names]
    assert made == ["a.json", "b.json"]
    assert results == [{"made": "a.json", "number": 1}, {"made": "b.json", "number": 2}]


def test_what_is_asked_for_anew_is_made_again_and_replaced(tmp_path: Path) -> None:
    made: list[str] = []
    run = started(tmp_path)
    assert artifact(run, "a.json", made, anew=True) == {"made": "a.json", "number": 1}  # there was nothing yet
    assert artifact(run, "a.json", made, anew=True) == {"made": "a.json", "number": 2}
    assert artifact(run, "a.json", made) == {"made": "a.json", "number": 2}
    assert artifact(started(tmp_path), "a.json", made) == {"made": "a.json", "number": 2}
    assert artifact(Run(), "a.json", made, anew=True)["number"] == 3  # without a folder too


def test_the_old_one_stays_when_making_it_anew_fails(tmp_path: Path) -> None:
    def fail() -> dict:
        raise RuntimeError("no memory left")

    artifact(started(tmp_path), "a.json", [])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(RuntimeError, match="no memory left"):
        started(tmp_path).artifact("a.json", fail, lambda value, path: write_json(path, value), read_json, anew=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def spend(run: Run, stage: str, seconds: float) -> None:
    with run.stage(stage):
        time.sleep(seconds)


def test_timings_have_the_papers_names_and_survive_a_restart(tmp_path: Path) -> None:
    run = started(tmp_path)
    spend(run, "FFS", 0.03)
    spend(run, "GGT", 0.05)
    artifact(run, "a.json", [])
    first = json.loads((tmp_path / "timings.json").read_text())
    run = started(tmp_path)
    spend(run, "FFS", 0.01)  # done again: counts once
    spend(run, "GGAT", 0.02)
    artifact(run, "b.json", [])
    second = json.loads((tmp_path / "timings.json").read_text())
    assert (
        list(second)
        == ["FFS", "GGT", "GGAT", "NFGT", "NFGAT", "PP", "GS", "EVIDENCE", "STUDY", "EVAL", "WALL"]
        == [*STAGES, "WALL"]
    )
    assert second["GGT"] == first["GGT"] >= 0.05
    assert second["FFS"] < first["FFS"]
    assert second["GGAT"] >= 0.02
    assert first["WALL"] - first["FFS"] + 0.03 <= second["WALL"] < first["WALL"] + 10


def test_timings_of_earlier_versions_lack_what_came_later(tmp_path: Path) -> None:
    run = started(tmp_path)
    artifact(run, "a.json", [])
    path = tmp_path / "timings.json"
    earlier = json.loads(path.read_text())
    del earlier["STUDY"], earlier["EVIDENCE"]
    write_json(path, earlier)
    assert read_timings(path) == earlier
    del earlier["EVAL"]
    write_json(path, earlier)
    with pytest.raises(RunFolderError, match="EVAL"):
        read_timings(path)


def test_seconds_until_explanations_are_shown_are_those_without_what_comes_after() -> None:
    assert seconds_until_shown({"GGT": 3.0, "GS": 1.0, "STUDY": 2.0, "EVAL": 4.0, "WALL": 12.0}) == 6.0
    assert seconds_until_shown({"GS": 1.0, "EVAL": 4.0, "WALL": 12.0}) == 8.0  # of an earlier version


def test_opening_a_finished_run_leaves_its_timings_alone(tmp_path: Path) -> None:
    run = started(tmp_path)
    artifact(run, "a.json", [])
    before = (tmp_path / "timings.json").read_bytes()
    run = started(tmp_path)
    spend(run, "FFS", 0.01)
    artifact(run, "a.json", [])
    assert (tmp_path / "timings.json").read_bytes() == before
    assert run.timings == json.loads(before)


@pytest.mark.parametrize(("key", "value"), [("seed", 1), ("dataset", "imdb"), ("model", "abc")])
def test_the_folder_of_another_run_is_refused_and_left_alone(tmp_path: Path, key: str, value: object) -> None:
    started(tmp_path, dataset="dblp")
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(RunFolderError, match=f"run with {key} .* not {value!r}; choose another folder"):
        started(tmp_path, **({"dataset": "dblp"} | {key: value}))
    assert (tmp_path / "config.json").read_bytes() == before


def test_two_that_looked_before_either_began_do_not_mix_their_runs(tmp_path: Path) -> None:
    first, same, other = (Run(tmp_path / "run") for _ in range(3))
    for run, seed in ((first, 0), (same, 0), (other, 1)):
        run.identify({"seed": seed})
    first.claim()
    artifact(first, "a.json", [])
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    with pytest.raises(RunFolderError, match="run with seed 0, not 1; choose another folder"):
        other.claim()
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    same.claim()
    assert artifact(same, "a.json", []) == {"made": "a.json", "number": 1}
    assert same.timings == json.loads(before["timings.json"])


def test_of_two_that_begin_at_once_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one writes its config.json just before this one would."""
    run = Run(tmp_path)
    run.identify({"seed": 0})
    look, looked = Path.exists, []

    def exists(path: Path) -> bool:
        found = look(path)
        if path.name == "config.json":
            looked.append(path)
            if len(looked) == 2:  # after the last look of claim before it writes
                started(tmp_path, seed=1)
        return found

    monkeypatch.setattr(Path, "exists", exists)
    with pytest.raises(RunFolderError, match="run with seed 1, not 0"):
        run.claim()
    assert json.loads((tmp_path / "config.json").read_text()) == {"seed": 1}


def test_keys_that_an_earlier_version_did_not_note_are_not_asked_for(tmp_path: Path) -> None:
    def differs(there: object) -> str | None:
        return None if there == "close enough" else f"of {there}"

    started(tmp_path / "old")
    run = Run(tmp_path / "old")
    run.identify({"seed": 0, "answers": "new"}, differs={"answers": differs})
    run.claim()
    for there, refused in (("close enough", False), ("others", True)):
        started(tmp_path / there, answers=there)
        run = Run(tmp_path / there)
        if not refused:
            run.identify({"seed": 0, "answers": "new"}, differs={"answers": differs})
            continue
        with pytest.raises(RunFolderError, match="is a run of others; choose another folder"):
            run.identify({"seed": 0, "answers": "new"}, differs={"answers": differs})


def test_a_run_that_says_less_of_itself_is_another_run(tmp_path: Path) -> None:
    started(tmp_path, dataset="dblp")
    with pytest.raises(RunFolderError, match="run with dataset 'dblp', not None"):
        started(tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(RunFolderError, match="holds other files"):
        Run(tmp_path)


def test_what_a_killed_run_left_half_written_is_no_obstacle_and_goes(tmp_path: Path) -> None:
    (tmp_path / ".config.json.abc.partial").write_text("{")
    started(tmp_path)
    started(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "checksums.json"}


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunFolderError, match="is a file"):
        Run(tmp_path / "run")


@pytest.mark.parametrize("content", ["{", "[]", "null"])
def test_a_damaged_config_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(RunFolderError, match=r"config.json is damaged .*delete its folder"):
        started(tmp_path)


@pytest.mark.parametrize("content", ["{", '{"WALL": 1}', "long", "NaN"])
def test_damaged_timings_are_named_and_can_be_deleted(tmp_path: Path, content: str) -> None:
    started(tmp_path)
    if content in ("long", "NaN"):
        value = "long" if content == "long" else float("nan")
        content = json.dumps(dict.fromkeys([*STAGES, WALL], value))
    (tmp_path / "timings.json").write_text(content)
    with pytest.raises(RunFolderError, match=r"timings.json is damaged .*; delete the file and run again$"):
        started(tmp_path)
    (tmp_path / "timings.json").unlink()
    started(tmp_path)


def test_without_a_folder_everything_is_made_and_nothing_kept() -> None:
    made: list[str] = []
    run = Run()
    assert [artifact(run, "a.json", made)["number"] for _ in range(2)] == [1, 2]
    assert made == ["a.json", "a.json"]


@pytest.mark.parametrize(
    ("noted", "commit"),
    [({"versions": {"dignn": "1", "commit": "abc"}}, "abc"), ({"versions": {"dignn": "1"}}, None), ({}, None)],
)
def test_the_commit_of_a_folder_is_that_which_began_it(tmp_path: Path, noted: dict, commit: str | None) -> None:
    for versions in (noted, {"versions": {"commit": "later"}}):
        run = Run(tmp_path)
        run.identify({"seed": 0}, {"versions": {}, **versions})
        run.claim()
    assert made_at(tmp_path) == commit
