"""An option for every setting: settings are dataclasses that may hold others, and presets are instances of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Annotated, Any, TypeVar, get_type_hints

import docstring_parser
from cyclopts import Group, Parameter

from dignn.core.errors import DignnError

Settings = TypeVar("Settings")
# A setting's name, after the names of the settings that it is in.
SettingPath = tuple[str, ...]
HEADING = "Settings, with the values of the preset"
# Settings come after all other options, those in others last.
AFTER, AFTER_ALL = 10, 11


def with_settings(command: Callable[..., None], settings: Any, *, everything: bool) -> Callable[..., None]:
    """A command with an option for each setting instead of its argument ``config``, which is made of them.

    Args:
        command: takes ``config``.
        settings: any dataclass; an option that is not given keeps the value that is here.
        everything: whether help shows settings that are in others, too.
    """
    options = {"__".join(path): (path, option) for path, option in _options(settings, everything)}

    def call(*given: Any, **named: Any) -> None:
        changed = {path: named.pop(name) for name, (path, _) in options.items() if name in named}
        command(*given, config=changed_settings(settings, changed), **named)

    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != "config"]
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*kept, *(option.replace(name=name) for name, (_, option) in options.items())]
    )
    call.__name__, call.__doc__ = command.__name__, command.__doc__
    return call


def changed_settings(settings: Settings, changes: Mapping[SettingPath, Any], group: SettingPath = ()) -> Settings:
    """Settings with other values at some paths; the rest stays as it is, also inside of groups.

    Raises:
        DignnError: a value makes no sense; the message names the group.
    """
    new = {path[0]: value for path, value in changes.items() if len(path) == 1}
    for name in dict.fromkeys(path[0] for path in changes if len(path) > 1):
        inside = {path[1:]: value for path, value in changes.items() if path[0] == name and len(path) > 1}
        new[name] = changed_settings(getattr(settings, name), inside, (*group, name))
    try:
        return replace(settings, **new)  # type: ignore[type-var]
    except DignnError as error:
        raise DignnError(f"{_dotted(group)}: {error}" if group else str(error)) from error


def groups_in(settings: Any) -> str:
    """The names of the settings that have settings in them, as words."""
    names = [_dotted((item.name,)) for item in fields(settings) if is_dataclass(getattr(settings, item.name))]
    return " and ".join(filter(None, [", ".join(sorted(names)[:-1]), max(names, default="")]))


def _options(
    settings: Any, everything: bool, above: SettingPath = (), about: str = ""
) -> Iterator[tuple[SettingPath, inspect.Parameter]]:
    """Every single setting as an option, with its path."""
    kind = type(settings)
    hints, texts = get_type_hints(kind), _texts(kind)
    title = f"Settings {_dotted(above)}" if above else HEADING
    group = Group(title, about, sort_key=AFTER_ALL if above else AFTER)
    for item in fields(settings):
        value, path = getattr(settings, item.name), (*above, item.name)
        if is_dataclass(value):
            said = texts.get(item.name) or docstring_parser.parse(type(value).__doc__ or "").short_description
            yield from _options(value, everything, path, said or "")
            continue
        about_it = Parameter(
            name=f"--{_dotted(path)}",
            help=texts.get(item.name),
            group=group,
            metavar="NAME" if hints[item.name] is str else None,
            consume_multiple=1 if "tuple" in str(hints[item.name]) else None,
            show=everything or not above,
        )
        option = inspect.Parameter(item.name, inspect.Parameter.KEYWORD_ONLY, default=value)
        yield path, option.replace(annotation=Annotated[hints[item.name], about_it])


def _texts(kind: type) -> dict[str, str]:
    """What the docstrings of a dataclass and its parents say about each setting."""
    return {
        said.arg_name: said.description or ""
        for one in reversed(kind.__mro__)
        for said in docstring_parser.parse(one.__doc__ or "").params
    }


def _dotted(path: SettingPath) -> str:
    return ".".join(path).replace("_", "-")
