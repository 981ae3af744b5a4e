"""Runs as lines tell of them, with values that are easy to reckon with."""

from __future__ import annotations

from typing import Any

from dignn.reproduce.filled import filled
from dignn.reproduce.registry import TABLES
from dignn.reproduce.runs import Finished, Run
from dignn.reproduce.setups import Setup


def values(pf: float, floor: float = 0.75) -> dict[str, Any]:
    """Parts of a run whose figures are ``pf``, of real graphs ``floor``, of noise a quarter, of chosen ones a half."""
    layer = {
        "paper": {"pf": pf, "gf": pf, "mmd": {"node_type": pf, "degree": pf}, "cosine": pf},
        "sound": {"contrast": {"one": pf, "other": pf - 0.5}, "typed_gf": pf, "mmd": {"degree": pf}},
    }
    real = {
        "paper": {"pf": floor, "gf": floor, "cosine": floor},
        "sound": {"typed_gf": floor, "mmd": {"degree": floor}},
    }
    noise = {"paper": {"pf": 0.25, "gf": 0.25}, "sound": {}}
    subgraphs = {"paper": {"pf": 0.5, "gf": 0.5}, "sound": {"typed_gf": 0.5}}
    by_rule = {"probability": pf, "gf": pf, "typed_gf": pf}
    return {
        **layer,
        "candidates": layer,
        "selection": {"highest": by_rule, "representative": by_rule},
        "floor": real,
        "control": {"real_subgraphs": subgraphs, "column_noise": noise},
        "seconds": 10.0,
        "timings": {"GGT": 4.0, "EVAL": 2.0, "WALL": 12.0},
    }


MACHINE = {"cores": 2}


def run(setup: Setup, seed: int, pf: float, commit: str | None = "abc", preset: str = "fast") -> Run:
    return Run(setup, preset, seed, values(pf), commit, MACHINE)


def timed(setup: Setup, seed: int, seconds: float, commit: str | None = "abc", cores: int = 2) -> Run:
    return Run(setup, "fast", seed, {"seconds": seconds}, commit, {"cores": cores})


def tables(*runs: Run) -> dict[str, Any]:
    """All tables, filled from those runs alone."""
    finished = Finished(runs)
    return {name: filled(one, finished, "fast") for name, one in TABLES.items()}
