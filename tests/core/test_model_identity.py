"""What makes a model the one of a run, beyond class and weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import pytest
import torch
from torch import Tensor

from dignn.core.fingerprint import model_fingerprint
from dignn.core.model_identity import MOST_ANSWERS, ModelIdentity
from tiny_models import TinyGCN

MODEL = TinyGCN(1, 2, pool=True)
ANSWERS = torch.randn(200, 3, generator=torch.Generator().manual_seed(0))


def forward(model: Any, data: Any) -> Any:
    return model(data.x, data.edge_index)


def identity(
    answers: Tensor = ANSWERS,
    model: Any = MODEL,
    forward: Callable[..., Any] | None = forward,
    return_type: str = "raw",
) -> ModelIdentity:
    return ModelIdentity(model, forward, return_type, answers)


def difference(there: ModelIdentity, here: ModelIdentity) -> list[str]:
    noted = json.loads(json.dumps(there.noted()))
    return [told for key, differs in here.differs().items() if (told := differs(noted[key])) is not None]


def test_the_same_model_does_not_differ_and_little_is_noted() -> None:
    assert difference(identity(), identity()) == []
    assert identity().noted().keys() == identity().differs().keys()
    assert len(identity().noted()["answers"]["compared"]) == MOST_ANSWERS
    assert len(json.dumps(identity().noted())) < 3000


# -- answers ------------------------------------------------------------------------------------------


def test_another_order_of_sums_is_no_other_model() -> None:
    noise = torch.randn(ANSWERS.shape, generator=torch.Generator().manual_seed(1))
    for scale in (1e-6, 1.0, 1e6):
        there, here = identity(ANSWERS * scale), identity(ANSWERS * scale + noise * scale * 1e-5)
        assert difference(there, here) == []


def test_a_tie_may_fall_either_way() -> None:
    tied = torch.tensor([[1.0, 1.0 + 1e-6, 0.0]])
    assert difference(identity(tied), identity(tied[:, [1, 0, 2]])) == []


@pytest.mark.parametrize("change", [lambda a: a * 1.01, lambda a: a[:, [1, 0, 2]], lambda a: a.roll(1, 0)])
def test_other_answers_are_another_model(change: Callable[[Tensor], Tensor]) -> None:
    (told,) = difference(identity(), identity(change(ANSWERS)))
    assert told.startswith("of another model: of 64 answers to real graphs ")
    assert "the first was class" in told


def test_one_other_answer_is_enough() -> None:
    other = ANSWERS.clone()
    other[-1] += 1
    assert difference(identity(), identity(other))[0].startswith("of another model: of 64 answers to real graphs 1 ")


def test_probabilities_count_by_shares_however_small_the_least() -> None:
    """Their logarithms go down to -87, which is no measure for those near 0."""
    sure = torch.tensor([[0.99, 0.01, 1e-38]]).log()
    less = torch.tensor([[0.95, 0.05, 1e-38]]).log()
    assert difference(identity(sure, return_type="probs"), identity(less, return_type="probs"))


def test_coarse_numbers_may_differ_more() -> None:
    coarse = TinyGCN(1, 2, pool=True).bfloat16()
    other = ANSWERS * 1.005
    assert difference(identity(model=coarse), identity(other, model=coarse)) == []
    assert difference(identity(), identity(other)) != []


@pytest.mark.parametrize("noted", [None, 3, [], [[0, 1.0]], [[9, 1.0]] * 64, [["a", "b"]] * 64, [[0]] * 64])
def test_answers_of_another_form_are_named(noted: Any) -> None:
    for form in (noted, {"compared": noted}, {}):
        assert identity().differs()["answers"](form) == "with answers to other graphs than the 64 that are asked about"


def test_answers_that_earlier_versions_noted_were_to_other_graphs() -> None:
    old = identity(ANSWERS[:8]).noted()["answers"]["compared"]
    now = replace(identity(ANSWERS + 1), earlier=lambda: ANSWERS[:8])
    assert now.differs()["answers"](old) is None
    assert now.differs()["answers"](now.noted()["answers"]) is None
    (told,) = difference(identity(), now)
    assert told.startswith("of another model: of 64 answers")
    now = replace(now, earlier=lambda: ANSWERS[8:16])
    assert str(now.differs()["answers"](old)).startswith("of another model: of 8 answers")


# -- how it is called ---------------------------------------------------------------------------------


def test_another_return_type_is_another_model() -> None:
    assert difference(identity(), identity(return_type="probs")) == ["with return_type 'raw', not 'probs'"]


def test_another_forward_is_another_model() -> None:
    def other(model: Any, data: Any) -> Any:
        return model(data.x, data.edge_index)

    (told,) = difference(identity(), identity(forward=other))
    assert "with forward 'forward', not 'test_another_forward" in told
    assert difference(identity(), identity(forward=None)) == ["with forward 'forward', not None"]
    assert difference(identity(forward=None), identity()) == ["with forward None, not 'forward'"]


def test_other_code_under_the_same_name_is_another_model() -> None:
    def made(how: int) -> Callable[..., Any]:
        return (lambda model, data: model(data.x)) if how == 0 else (lambda model, data: model(data.x + 1))

    name = made(0).__qualname__
    assert made(1).__qualname__ == name
    assert difference(identity(forward=made(0)), identity(forward=made(1))) == [f"with other code of forward {name!r}"]
    assert difference(identity(forward=made(0)), identity(forward=made(0))) == []


def test_code_of_another_python_is_not_compared() -> None:
    noted = identity().noted()["forward"]
    assert identity().differs()["forward"]({**noted, "code": "2.7 0123"}) is None


def test_forwards_of_all_kinds_have_a_name() -> None:
    class Calling:
        def __call__(self, model: Any, data: Any) -> Any:
            return model(data)

        def method(self, model: Any, data: Any) -> Any:
            return model(data)

    @wraps(forward)
    def wrapped(*given: Any) -> Any:
        return forward(*given)

    kinds = [Calling(), Calling().method, partial(forward), wrapped, torch.nn.Identity(), max]
    names = [identity(forward=kind).noted()["forward"]["name"].split(".")[-1] for kind in kinds]
    assert names == ["Calling", "method", "forward", "forward", "Identity", "max"]
    for kind in kinds:
        assert difference(identity(forward=kind), identity(forward=kind)) == []


def test_code_is_the_same_in_every_process() -> None:
    """Sets of constants are in no fixed order: these two are equal, and are gone through in different ones."""
    orders = frozenset((0, 8)), frozenset((8, 0))
    assert orders[0] == orders[1]
    assert list(orders[0]) != list(orders[1])

    def asking(kinds: frozenset[int]) -> Callable[..., Any]:
        def forward(model: Any, data: Any) -> Any:
            return model(data) if data.kind in {0, 8} else None

        code = forward.__code__
        assert {0, 8} in code.co_consts
        constants = tuple(kinds if each == {0, 8} else each for each in code.co_consts)
        forward.__code__ = code.replace(co_consts=constants)
        return forward

    one, other, third = (identity(forward=asking(kinds)).noted() for kinds in (*orders, frozenset((0, 9))))
    assert one == other != third


# -- callables ----------------------------------------------------------------------------------------


def test_a_callable_is_told_by_name_and_answers_within_the_tolerance() -> None:
    assert difference(identity(model=len), identity(ANSWERS * (1 + 1e-6), model=len)) == []
    assert difference(identity(model=len), identity(model=sum))[0].startswith("with model ")
    assert len(difference(identity(model=len), identity(ANSWERS + 1, model=len))) == 1


def test_what_earlier_versions_noted_of_a_callable_is_known() -> None:
    differs = identity(model=len).differs()["model"]
    assert differs(model_fingerprint(len, ANSWERS)) is None
    assert differs(model_fingerprint(len, ANSWERS + 1)) is not None
    few = replace(identity(model=len), earlier=lambda: ANSWERS[:8]).differs()["model"]
    assert few(model_fingerprint(len, ANSWERS[:8])) is None
    assert few(model_fingerprint(len, ANSWERS)) is not None


def test_what_earlier_versions_noted_of_a_wrapped_module_is_known() -> None:
    wrapped = torch.nn.DataParallel(MODEL)
    old = model_fingerprint(wrapped, ANSWERS)
    assert replace(identity(), given=wrapped).differs()["model"](old) is None
    assert replace(identity(), given=wrapped).noted() == identity().noted()
    assert identity().differs()["model"](old) is not None
