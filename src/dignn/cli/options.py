"""Options that several commands share, and the settings that options start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from dignn.core.errors import DignnError
from dignn.core.presets import DEFAULT_PRESET, preset_named
from dignn.core.registry import Registry
from dignn.explainers.registry import EXPLAINERS, presets_of
from dignn.features.registry import FEATURE_GENERATORS
from dignn.structure.registry import STRUCTURE_GENERATORS
from dignn.zoo.datasets.column_counts import By, parse_columns
from dignn.zoo.models.settings import Form

if TYPE_CHECKING:
    from dignn.explainers.settings import RunSettings
    from dignn.zoo.datasets.dataset import Dataset

# The one that commands take where nothing else is said.
EXPLAINER = "dignnexplainer"
# Settings that name something which can be registered.
REGISTERED: dict[str, Registry[Any]] = {"structure": STRUCTURE_GENERATORS, "features": FEATURE_GENERATORS}

# A switch is off unless it is given, so there is no second option that turns it off.
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Folder = Annotated[Path | None, Parameter(metavar="FOLDER")]
File = Annotated[Path | None, Parameter(metavar="FILE")]
Function = Annotated[str | None, Parameter(metavar="FILE.py:FUNCTION")]
Method = Annotated[str, Parameter(metavar=f"{{{','.join(EXPLAINERS)}}}")]
Preset = Annotated[str, Parameter(metavar=f"{{{','.join(presets_of(EXPLAINER))}}}")]
_Names = Annotated[tuple[str, ...], Parameter(metavar="NAME ...", consume_multiple=1, show_default=False)]
_Columns = Annotated[tuple[str, ...], Parameter(metavar="TYPE=NUMBER ...", consume_multiple=1, show_default=False)]
_Kinds = Annotated[tuple[str, ...], Parameter(metavar="TYPE[:COLUMN]=KIND ...", consume_multiple=1, show_default=False)]


def settings_of(explainer: str, preset: str) -> RunSettings:
    """The settings that a preset of an explainer stands for.

    Raises:
        DignnError: there is no such explainer, or it has no such preset.
    """
    return preset_named(preset, presets_of(explainer), of=explainer)


def settings_among(given: Sequence[str]) -> RunSettings:
    """Those that the words of a command start from, which decide what options there are, and their defaults."""
    return settings_of(_value("--explainer", given) or EXPLAINER, _value("--preset", given) or DEFAULT_PRESET)


def _value(option: str, given: Sequence[str]) -> str | None:
    for word, after in zip(given, [*given[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else after
    return None


def check_names(settings: RunSettings) -> None:
    """Raises for a generator that does not exist."""
    for name, known in REGISTERED.items():
        if hasattr(settings, name):
            known.check(getattr(settings, name))


@Parameter(name="*", group=Group("Options of data sets that dignn knows", sort_key=3))
@dataclass(frozen=True)
class Known:
    """Of a data set that dignn knows; what is wrong without looking at data is refused at once.

    Args:
        form: which model of the data set: a strong one, the paper's, or the paper's GCN, for which a heterogeneous
            graph is converted to one kind of node whose only feature is its former type.
        columns: feature columns to keep, by node type, for the model and the generators alike. A type instead of a
            number, as in director=movie, keeps the very columns that are kept of that type.
        columns_by: keep those that vary most, or those that are not 0 most often.
        words_only: keep no column named by punctuation, a number, a single letter or a stop word.
        download: fetch the data set if it is not on this machine.
    """

    form: Form = "strong"
    columns: _Columns = ()
    columns_by: By = "variance"
    words_only: Flag = False
    download: Flag = False

    def __post_init__(self) -> None:
        if not self.columns and (self.words_only or self.columns_by != "variance"):
            raise DignnError(
                "--columns-by and --words-only need columns to choose; add, for example, --columns author=50"
            )
        parse_columns(self.columns)

    def selected(self, dataset: Dataset) -> Dataset:
        """The data set with those columns."""
        if not self.columns:
            return dataset
        from dignn.zoo.datasets.column_selection import select_columns

        return select_columns(dataset, parse_columns(self.columns), by=self.columns_by, words_only=self.words_only)

    def about(self) -> dict[str, Any]:
        """For a run folder's ``config.json``, whose data set has all columns unless it says otherwise."""
        if not self.columns:
            return {"form": self.form}
        chosen = {"chosen": parse_columns(self.columns), "by": self.columns_by, "words_only": self.words_only}
        return {"form": self.form, "columns": chosen}


@Parameter(name="*", group=Group("Options of a data file of your own", sort_key=4))
@dataclass(frozen=True)
class Own:
    """Of a data file of your own.

    Args:
        model: the function that returns your trained model, as FILE.py:FUNCTION or MODULE:FUNCTION. THAT CODE IS RUN.
            It is called without arguments, or with the data if it has a parameter without a default; it returns the
            model, or the pair (model, forward) where forward(model, data) calls it.
        target: the classified node type (needed for a HeteroData).
        classes: names of the classes, in the order of their numbers.
        return_type: what the model returns: raw scores, probabilities, or their logarithms; found out where it is not
            said.
        on_difference: where the model goes by something that generated graphs do not have (weights of edges, say):
            refuse it, or warn and explain it without.
        names: JSON file with the names of feature columns by node type, for example {"author": ["mining", "query"]};
            its entry "kinds" says what they hold, as --kinds does: {"kinds": {"paper": {"year": "count"}}}.
        kinds: what feature columns hold, where the guess is wrong or must be said: of all columns of a node type, for
            example user=categorical, one of binary, count, categorical, identity, continuous, none; or of one, by its
            name or number, for example paper:year=count, also one-hot:GROUP, date:UNIT:EPOCH (date:days:1970-01-01).
        type_names: where the columns of a Data's x are a one-hot node type: the names of the types.
        edge_names: where the columns of a Data's edge_attr are a one-hot relation, or its edge_type the number of one:
            the names of the relations.
        trust: read the data file even if it holds more than graphs. READING IT CAN THEN RUN ANY CODE of whoever wrote
            it.
    """

    model: Function = None
    target: Annotated[str | None, Parameter(metavar="TYPE")] = None
    classes: _Names = ()
    return_type: Literal["raw", "probs", "log_probs"] | None = None
    on_difference: Literal["refuse", "warn"] = "refuse"
    names: File = None
    kinds: _Kinds = ()
    type_names: _Names = ()
    edge_names: _Names = ()
    trust: Flag = False

    def given(self) -> list[str]:
        """The options that were used, as on the command line."""
        return [f"--{item.name.replace('_', '-')}" for item in fields(self) if getattr(self, item.name) != item.default]

    def about(self) -> dict[str, Any]:
        """What rebuilds the model and the schema, for a run folder's ``config.json``. Trust is asked for each time."""
        given = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "trust"}
        usual = {item.name: item.default for item in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else str(value)
            for name, value in given.items()
            if value != usual[name]
        }
