"""What makes a model the one of a run: its class and weights, how it is called, and what it answers.

Weights alone do not tell: another aggregation, another ``forward``, another reading of the output have the same.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn

from dignn.core.fingerprint import fingerprint, model_fingerprint
from dignn.core.run_folder import Differs, unlike

MOST_ANSWERS = 64
# Answers are the same where they differ by less than this share of the largest: machines sum in another order.
SAME_MODEL = 1e-3
# Likewise in steps of a model's own precision, which of a half may be coarser.
STEPS = 8


@dataclass(frozen=True)
class ModelIdentity:
    """What a run folder notes of a model, and whether that is this one.

    Args:
        model: a module, or any callable.
        forward: how it is called, where its signature does not tell.
        return_type: how its output is read.
        answers: (m, C) the scores that it gives to some real graphs, the same ones whenever the run is continued.
        given: the model as the user has it, where ``model`` is what that wraps.
        earlier: gives its scores of the graphs that earlier versions asked about, where those were others.
    """

    model: Any
    forward: Callable[..., Any] | None
    return_type: str
    answers: Tensor
    given: Any = None
    earlier: Callable[[], Tensor] | None = None

    def noted(self) -> dict[str, Any]:
        """For ``config.json``. Answers are noted as predicted class and its score."""
        scores, classes = _some(self.answers).max(1)
        answers = [[int(place), float(f"{score:.6g}")] for place, score in zip(classes, scores, strict=True)]
        return {
            "model": self._fingerprint(),
            "forward": self._forward(),
            "return_type": self.return_type,
            "answers": {"compared": answers},
        }

    def differs(self) -> dict[str, Differs]:
        """By key of :meth:`noted`, how what a folder notes is compared with this model."""
        return {
            "model": self._other_model,
            "forward": partial(_other_forward, here=self._forward()),
            "return_type": lambda there: unlike("return_type", there, self.return_type),
            "answers": self._other_answers,
        }

    def _forward(self) -> dict[str, str] | None:
        return None if self.forward is None else {"name": _name(self.forward), "code": _code(self.forward)}

    def _fingerprint(self) -> str:
        """A module's; any other callable is told by its name, and by its answers."""
        is_module = isinstance(self.model, nn.Module)
        return model_fingerprint(self.model, self.answers) if is_module else fingerprint([_name(self.model)])

    def _other_model(self, there: Any) -> str | None:
        other = unlike("model", there, self._fingerprint())
        return None if other is None or there == self._earlier_fingerprint() else other

    def _earlier_fingerprint(self) -> str:
        """As earlier versions noted it: of a wrapped module the wrapper's, of a callable its answers bit by bit."""
        known = self.model if self.given is None else self.given
        return model_fingerprint(known, self.answers if isinstance(known, nn.Module) else self._earlier_answers())

    def _earlier_answers(self) -> Tensor:
        return self.answers if self.earlier is None else self.earlier()

    def _other_answers(self, there: Any) -> str | None:
        # Earlier versions noted a list, of the answers to other graphs.
        some = _some(self.answers if isinstance(there, dict) else self._earlier_answers())
        there = there.get("compared") if isinstance(there, dict) else there
        try:
            noted = [(int(place), float(score)) for place, score in there]
            differences = [_distance(row, *answer) for row, answer in zip(some, noted, strict=True)]
        except (TypeError, ValueError, IndexError):
            return f"with answers to other graphs than the {len(some)} that are asked about"
        # Of logarithms of probabilities a step is a share already.
        scale = 1.0 if self.return_type in ("probs", "log_probs") else float(some.abs().max())
        limit = max(SAME_MODEL, STEPS * _precision(self.model)) * scale
        others = [number for number, difference in enumerate(differences) if not difference <= limit]
        if not others:
            return None
        (place, score), row = noted[others[0]], some[others[0]]
        return (
            f"of another model: of {len(noted)} answers to real graphs {len(others)} differ (the first was class "
            f"{place} with score {score:g}, and is class {int(row.argmax())} with score {float(row.max()):g})"
        )


def _some(answers: Tensor) -> Tensor:
    """At most MOST_ANSWERS of the answers (m, C), evenly spread."""
    number = len(answers)
    chosen = torch.linspace(0, max(number - 1, 0), min(number, MOST_ANSWERS), dtype=torch.float64).long()
    return answers.detach().cpu().double()[chosen]


def _distance(row: Tensor, place: int, score: float) -> float:
    """How far the scores (C,) are from ``score`` of the class ``place``, and that from being the highest."""
    here = float(row[place])
    return max(abs(here - score), float(row.max()) - here)


def _precision(model: Any) -> float:
    """The step of the coarsest floating-point numbers that a module computes with."""
    weights = model.parameters() if isinstance(model, nn.Module) else ()
    return max((torch.finfo(each.dtype).eps for each in weights if each.is_floating_point()), default=0.0)


def _other_forward(there: Any, here: dict[str, str] | None) -> str | None:
    noted = there if isinstance(there, dict) else {}
    other = unlike("forward", noted.get("name"), here and here["name"])
    if other is not None or here is None:
        return other
    python, python_here = (str(each.get("code")).split(" ")[0] for each in (noted, here))
    same = noted.get("code") == here["code"] or python != python_here
    return None if same else f"with other code of forward {here['name']!r}"


def _name(called: Any) -> str:
    """What a function, or the class of any other callable, is called."""
    while isinstance(called, partial):
        called = called.func
    return getattr(called, "__qualname__", type(called).__qualname__)


def _code(called: Any) -> str:
    """The version of Python, and a fingerprint of what it made of the function; other versions make something else."""
    while isinstance(called, partial):
        called = called.func
    called = inspect.unwrap(called)
    code = getattr(called, "__code__", None) or getattr(type(called).__call__, "__code__", None)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{version} {fingerprint(_words(code))}"


def _words(value: Any) -> Sequence[str]:
    """What a code does, without where it stands: its instructions, constants and names."""
    if isinstance(value, CodeType):
        return [value.co_code.hex(), *value.co_names, *value.co_varnames, *_words(value.co_consts)]
    if isinstance(value, tuple):
        return [word for each in value for word in ("(", *_words(each), ")")]
    if isinstance(value, frozenset):  # in no fixed order
        return sorted(map(repr, value))
    return [repr(value)]
