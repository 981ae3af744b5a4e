"""Does dignn ever answer wrongly without a word? Random models, data and ways to hand them over, judged by hand.

    python -m benchmarks.trials --seed 0                  # 300 trials: counts of fine, refused, traceback and wrong
    python -m benchmarks.trials --seed 0 --only 17        # one of them again, with everything that it says

A trial is *fine* where every probability that was told, of real graphs and of explanations that are fed back, is the
one that the user computes without dignn; *refused* where there was a sentence instead; *wrong* where a probability is
another; a *traceback* where anything else was raised, also when what the model goes by is sought. How many were
refused though nothing stands against them is told as well. It fails if any is wrong or a traceback.
"""

from __future__ import annotations

import argparse
import random
import sys
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmarks.trial_cases import Case, draw
from dignn import DiGNNExplainer
from dignn.core.errors import DignnError
from dignn.core.processes import map_processes
from dignn.explainers.methods.dignnexplainer.settings import PRESETS

SMALL = replace(
    PRESETS["smoke"], structure="bootstrap", features="bootstrap", candidates=48, subgraphs_per_size=10, top_k=2
)
# Where a user's probability may differ by rounding, by the precision of the model.
ROUNDING = {"float16": 3e-2, "bfloat16": 8e-2}
# What cannot be explained yet, or leaves a doubt: to be refused.
AGAINST = {
    "field": {"positions"},
    "output": {
        "two that fit",
        "independent probabilities",
        "probabilities said to be raw",
        "scores said to be probabilities",
    },
}
OUTCOMES = ("fine", "refused", "wrong", "traceback")


@dataclass(frozen=True)
class Outcome:
    """How a trial ended.

    Args:
        number: of the trial.
        kind: one of OUTCOMES.
        choices: what was tried.
        told: the sentence, the largest error, or the traceback.
        needless: refused, though nothing stands against it.
    """

    number: int
    kind: str
    choices: dict[str, str]
    told: str
    needless: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this trial alone")
    options = parser.parse_args()
    numbers = range(options.trials) if options.only is None else [options.only]
    outcomes = map_processes(tried, [(options.seed, number) for number in numbers])
    for outcome in outcomes:
        if outcome.kind in ("wrong", "traceback") or outcome.needless or options.only is not None:
            told = ", ".join(f"{name}: {value}" for name, value in outcome.choices.items())
            how = f"{outcome.kind}{' needlessly' if outcome.needless else ''}"
            print(f"{outcome.number} {how} ({told})\n    {outcome.told}")
    count = Counter(outcome.kind for outcome in outcomes)
    needless = sum(outcome.needless for outcome in outcomes)
    print(", ".join(f"{kind} {count[kind]}" for kind in OUTCOMES) + f"; refused needlessly {needless}")
    sys.exit(1 if count["wrong"] or count["traceback"] else 0)


def tried(seed: int, number: int) -> Outcome:
    """One trial, in a process of its own."""
    warnings.simplefilter("ignore")
    case = draw(random.Random(f"{seed} {number}"))
    try:
        error = _error(case)
    except DignnError as refusal:
        needless = not any(case.choices[name] in values for name, values in AGAINST.items()) and not _dropped(case)
        return Outcome(number, "refused", case.choices, str(refusal), needless)
    except Exception:
        return Outcome(number, "traceback", case.choices, traceback.format_exc())
    bound = ROUNDING.get(case.choices["precision"], 1e-3)
    return Outcome(number, "fine" if error <= bound else "wrong", case.choices, f"largest error {error:.2g}")


def _dropped(case: Case) -> bool:
    """Whether the data has edges that a simple graph cannot hold and that the layer goes by."""
    return case.choices["field"] in ("self-loops", "parallel edges")


def _error(case: Case) -> float:
    """The largest difference between a probability that dignn tells and the user's own."""
    options = dict(case.options)
    target = options.pop("target", None)
    config = SMALL if case.of_graphs else replace(SMALL, sizes=(6, 9))
    explainer = DiGNNExplainer(case.model, case.data, target, config=config, **options)
    explainer.fit().explain(measure=False)
    explanations = explainer.study()
    batch, own = explainer.real.compared()
    expected = torch.cat([case.by_hand(graph).softmax(1) for graph in own])
    errors = [float((explainer.adapter.score(batch).probability - expected).abs().max())]
    if case.choices["field"] not in AGAINST["field"]:  # by hand, such models need what generated graphs do not have
        errors += [_told_error(case, item) for several in explanations.values() for item in several]
    return max(errors)


def _told_error(case: Case, explanation: Any) -> float:
    """Of an explanation that is fed back to the model."""
    scores = case.by_hand(explanation.to_hetero_data()).softmax(1)
    row = 0 if explanation.row is None else explanation.row
    return float((scores[row] - torch.tensor(explanation.probability).double()).abs().max())


if __name__ == "__main__":
    main()
