"""Makes a user's trained model: finds the function that the user names, and calls it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dignn.core.errors import DignnError
from dignn.core.suggestions import did_you_mean

if TYPE_CHECKING:
    from dignn.cli.user_data import Graphs
    from dignn.model.calling import Forward

# Under this name a model file is imported, so that what it does only as a program is not done.
MODULE = "dignn_own_model"


@dataclass(frozen=True)
class OwnModel:
    """A trained model, and how to call it where its signature does not tell.

    Args:
        model: a module or callable, as :class:`~dignn.model.adapter.GNNAdapter` takes it.
        forward: ``forward(model, data)``, or None.
    """

    model: Any
    forward: Forward | None = None


def load_model(given: str, data: Graphs) -> OwnModel:
    """Calls the function that ``given`` names, and returns the model that it returns.

    The function is called without arguments, or with the data if it has a parameter without a default. It returns the
    trained model, or the pair ``(model, forward)``.

    Args:
        given: ``path/to/file.py:function`` or ``package.module:function``. That code is run.
        data: the graphs.

    Raises:
        DignnError: there is no such file or function, it fails, or it returns something else.
    """
    place, name = check_place(given)
    folder = Path(place).parent if place.endswith(".py") else Path()
    with _importable(folder.resolve()):
        module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
        function = _function(module, name, place)
        arguments = [data] if _takes_data(function, given) else []
        with _told(given, place):
            returned = function(*arguments)
    return _model(returned, given)


def check_place(given: str) -> tuple[str, str]:
    """The file or module and the function that ``given`` names; nothing is run yet.

    Raises:
        DignnError: it names no function, or there is no such file.
    """
    place, _, name = given.rpartition(":")
    if not (place and name.isidentifier()):
        raise DignnError(f"'{given}' does not name a function; give FILE.py:FUNCTION, for example my_gnn.py:load")
    if place.endswith(".py") and not Path(place).is_file():
        raise DignnError(f"There is no model file {place}; give FILE.py:FUNCTION")
    return place, name


def _import_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    assert spec is not None  # the name ends with .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module  # dataclasses and the like look their module up
    with _told(str(path), str(path)):
        spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    try:
        missing = importlib.util.find_spec(name) is None
    except (ImportError, ValueError):  # a parent that is missing, or a name with empty parts
        missing = True
    if missing:
        raise DignnError(f"There is no module called '{name}' here; give FILE.py:FUNCTION or an installed module")
    with _told(name, name):
        return importlib.import_module(name)


def _function(module: ModuleType, name: str, place: str) -> Callable[..., Any]:
    found = getattr(module, name, None)
    if found is None:
        own = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        guess = did_you_mean(name, own)
        raise DignnError(f"{place} has no function called '{name}'{guess}; give one that returns the trained model")
    if inspect.isclass(found):
        raise DignnError(
            f"'{name}' of {place} is a class, so its model would not be trained; give a function that loads the weights"
        )
    if not callable(found):
        raise DignnError(f"'{name}' of {place} is a {type(found).__name__}; give a function that returns the model")
    return found


def _takes_data(function: Callable[..., Any], given: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some functions written in C do not tell
        return False
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one for one in parameters if one.default is one.empty and one.kind not in several]
    if len(needed) > 1 or any(one.kind is one.KEYWORD_ONLY for one in needed):
        names = ", ".join(one.name for one in needed)
        raise DignnError(
            f"{given} needs the arguments {names}; it must take none, or only the data: give the others default "
            "values, or name a function that calls it with them"
        )
    return bool(needed)


def _model(returned: Any, given: str) -> OwnModel:
    model, forward = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
    if not callable(model) or not (forward is None or callable(forward)):
        what = "None" if returned is None else f"a {type(returned).__name__}"
        raise DignnError(
            f"{given} returns {what}; return the trained model, or the pair (model, forward) with a function "
            "forward(model, data)"
        )
    return OwnModel(model, forward)


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """As when Python runs a file: it may import what lies beside it."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


@contextmanager
def _told(what: str, place: str) -> Iterator[None]:
    """A failure inside the user's code becomes one sentence with its file, line and exception."""
    try:
        yield
    except (Exception, SystemExit) as error:
        reason = shorten(" ".join(str(error).split()), 200, placeholder=" ...")
        why = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
        raise DignnError(f"{what} fails at {_where(error, place)} ({why}); mend it and run again") from error


def _where(error: BaseException, place: str) -> str:
    """File and line: the deepest in the user's own file, else the deepest of all."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}, line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    origin = getattr(sys.modules.get(MODULE if place.endswith(".py") else place), "__file__", None)
    own = [frame for frame in frames if origin and frame.filename == origin]
    frame = (own or frames)[-1]
    return f"{frame.filename}, line {frame.lineno}"
