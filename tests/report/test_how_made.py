"""The section on how explanations were made: what there is, in order, and never a failure."""

from __future__ import annotations

import copy
import json
import random
import re
from dataclasses import asdict, replace
from typing import Any

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined

from dignn.core.durations import duration
from dignn.core.presets import from_preset
from dignn.core.run_folder import STAGES
from dignn.explainers.methods.dignnexplainer.settings import PRESETS
from dignn.explanations.explanation import Explanations
from dignn.report import how_made
from dignn.report.how_made import MOST_CURVES

HOSTILE = "\"><script>alert('1')</script>&{{ 7 * 7 }}"
JUNK: tuple[Any, ...] = (None, "text", [], {}, [1, "a"], [[1, None]], True, -1, float("nan"), {HOSTILE: HOSTILE})
ENVIRONMENT = Environment(loader=PackageLoader("dignn.report"), autoescape=True, undefined=StrictUndefined)


def training() -> dict[str, Any]:
    curves = {"train": [[1, 3.0], [2, 2.0], [3, 1.5]], "validation": [[2, 2.1], [3, 1.9]]}
    return {"steps": 1300, "best_step": 1200, "stopped_early": True, "parameters": 12345, "curves": curves}


def about() -> dict[str, Any]:
    config = json.loads(json.dumps(asdict(replace(PRESETS["fast"], candidates=2000, sizes=(5, 6)))))
    return {
        "dataset": "dblp",
        "form": "strong",
        "preset": "fast",
        "explainer": "dignnexplainer",
        "seed": 7,
        "config": config,
        "from_preset": from_preset(config, PRESETS, "fast"),
        "versions": {"dignn": "0.1.0", "torch": "2.13"},
        "validity": {"generated": 2000, "connected": 1900, "valid": 1700},
        "sampling": {"asked": 100, "found": 80},
        "timings": {**dict.fromkeys(STAGES, 12.0), "PP": 0.0, "WALL": 130.0},
        "generation": {
            "structure": {"training": {"all sizes": training()}},
            "features": {
                "author": {"generator": "ditabddpm", "training": training()},
                "term": {"generator": "tabddpm", "repeated_share": 0.04, "training": training()},
                "conference": {"generator": "bootstrap"},
                "movie": {
                    "Action": {"generator": "tabddpm", "training": training()},
                    "Drama": {"generator": "tabddpm"},
                },
                "director": {"generator": "neighbour means", "of": "movie"},
            },
            "refinement": {"graphs": 96, "rounds": 20, "tried": 1920, "accepted": 483, "reached": 0, "classes": {}},
        },
    }


def rendered(content: dict[str, Any]) -> str:
    return ENVIRONMENT.get_template("how_made.html").render(how_made=how_made.content(Explanations({"a": []}, content)))


def words(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_the_funnel_narrows_in_order() -> None:
    page = words(rendered(about()))
    numbers = [page.index(shown) for shown in ("2,000", "1,900", "1,700", "Chosen as explanations")]
    assert numbers == sorted(numbers)
    assert "Only 80 of 100 real graphs could be drawn" in page


def test_times_are_those_that_were_noted() -> None:
    page = rendered(about())
    for key, name in STAGES.items():
        assert (f"{name}: 12 s" in page) == (key != "PP")  # nothing was spent there
    assert "Whole run: 2 min 10 s" in page


def test_generators_and_refinement_are_told_in_words() -> None:
    page = words(rendered(about()))
    assert "node growth" in page
    assert "author : discrete diffusion (DiTabDDPM)" in page
    assert "term : Gaussian diffusion (TabDDPM)" in page
    assert "4 % are rows that many real nodes share" in page
    assert "conference : rows of real nodes" in page
    assert "movie : one generator for each class: Gaussian diffusion" in page
    assert "director : the mean of the features of its neighbours of type movie" in page
    assert "Of 1,920 draws 483 made the model surer" in page


def test_every_training_has_its_curves() -> None:
    page = rendered(about())
    for title in ("Structure: all sizes", "Features: author", "Features: term", "Features: movie, Action"):
        assert f"<b>{title}</b>" in page
    assert page.count("validation loss from 2.1 to 1.9") == 4
    assert page.count("12,345 parameters, best at step 1,200 of 1,300 (stopped early)") == 4


def test_a_model_for_each_size_does_not_flood_the_page() -> None:
    found = about()
    found["generation"] = {"structure": {"training": {str(size): training() for size in range(MOST_CURVES + 5)}}}
    page = rendered(found)
    assert page.count("validation loss from") == MOST_CURVES
    assert "5 more are in generation.json" in page


def test_settings_seed_versions_and_the_command() -> None:
    page = rendered(about())
    assert "dignn explain dblp --sizes 5 6 --candidates 2000 --seed 7" in page
    assert "Seed 7." in page
    assert "PyTorch 2.13" in page
    marked = re.findall(r'<tr class="changed"><th scope="row">([\w.]+)</th>', page)
    assert marked == ["sizes", "candidates"]
    assert '<th scope="row">node_growth.training.ema</th><td>0.99</td>' in page


def test_a_run_from_python_shows_the_call() -> None:
    found = about()
    del found["dataset"], found["form"], found["preset"]
    page = rendered(found)
    assert "from dignn import DiGNNExplainer" in page
    assert "candidates=2000" in page
    assert "dignn explain" not in page


def test_a_run_that_tells_nothing_says_so() -> None:
    page = words(rendered({}))
    assert "is not known of this run" in page
    assert "No times were noted" in page
    assert "No loss curves" in page
    assert "does not tell its settings" in page
    assert "None" not in page


def test_names_are_shown_and_never_run() -> None:
    found = about()
    found["generation"]["features"] = {HOSTILE: {"generator": HOSTILE, "of": HOSTILE, "training": training()}}
    found["versions"] = {HOSTILE: HOSTILE}
    found["config"]["structure"] = found["seed"] = found["preset"] = HOSTILE
    page = rendered(found)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def paths(content: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = content.items() if isinstance(content, dict) else ()
    return [above, *(path for name, part in inner for path in paths(part, (*above, name)))]


def test_damaged_files_never_stop_the_page() -> None:
    whole = about()
    draw = random.Random(0)
    for path in draw.sample(paths(whole)[1:], 80):
        found = copy.deepcopy(whole)
        part = found
        for name in path[:-1]:
            part = part[name]
        part[path[-1]] = draw.choice(JUNK)
        page = rendered(found)
        assert "How it was made" in page
        assert "<script" not in page


@pytest.mark.parametrize(
    ("seconds", "said", "rough"),
    [
        (0.001, "0.01 s", "1 s"),
        (0.5, "0.50 s", "1 s"),
        (3.21, "3.2 s", "3 s"),
        (59.9, "60 s", "60 s"),
        (130.0, "2 min 10 s", "2 min"),
        (3599.8, "1 h 0 min", "60 min"),
        (7300.0, "2 h 2 min", "2 h 2 min"),
    ],
)
def test_durations(seconds: float, said: str, rough: str) -> None:
    assert duration(seconds) == said
    assert duration(seconds, rough=True) == rough
