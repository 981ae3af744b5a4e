"""Which generator learns a table of features."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.features.base import FeatureGenerator
from dignn.features.ditabddpm.generator import SPARSE
from dignn.features.registry import FEATURE_GENERATORS
from dignn.features.settings import FeatureSettings
from dignn.features.table import Table
from dignn.graphs.feature_spec import FeatureKind

# A table with fewer rows is drawn from them: a network would learn them by heart, at best, and a tenth of them, which
# tells it when to stop, tells nothing.
FEW_MEMBERS = 100


@dataclass(frozen=True)
class GeneratorChoice:
    """Decides by the settings and by what a table holds:

    - fewer than 100 rows to learn from are drawn as they are, by class, whatever they hold;
    - an identity type (members told apart by a one-hot row) draws members as often as they occur near a class;
    - discrete features go to the named generator;
    - so do continuous ones if the generator is a control or ``tabddpm``. With ``ditabddpm`` and ``settings.continuous``
      "auto", sparse rows go to ``ditabddpm`` and others to ``tabddpm``; with "tabddpm" all go there, as in the paper;
    - tables of several kinds of columns go to ``tabddpm``, unless the generator is a control.
    """

    settings: FeatureSettings

    def __post_init__(self) -> None:
        FEATURE_GENERATORS[self.settings.features]  # raises where there is none

    @property
    def learns(self) -> bool:
        """Whether the named generator is no control."""
        return FEATURE_GENERATORS[self.settings.features].learns

    def possible(self, kind: FeatureKind) -> tuple[str, str]:
        """Names of the generators that learn sparse tables of a kind, and others."""
        named = self.settings.features
        if kind is FeatureKind.IDENTITY and self.learns:
            return "bootstrap", "bootstrap"
        if kind is FeatureKind.MIXED and named == "ditabddpm":
            return "tabddpm", "tabddpm"
        if kind is FeatureKind.CONTINUOUS and named == "ditabddpm":
            return ("ditabddpm" if self.settings.continuous == "auto" else "tabddpm"), "tabddpm"
        if kind not in FEATURE_GENERATORS[named].kinds:  # columns that differ
            return "tabddpm", "tabddpm"
        return named, named

    def too_few(self, table: Table) -> bool:
        """Whether a generator would learn the table, had it more rows."""
        return len(table) < FEW_MEMBERS and self.learns and table.spec.kind is not FeatureKind.IDENTITY

    def of(self, table: Table) -> type[FeatureGenerator]:
        """The generator that learns a table."""
        if self.too_few(table):
            return FEATURE_GENERATORS["bootstrap"]
        sparse, dense = self.possible(table.spec.kind)
        is_sparse = sparse != dense and int(table.rows.count_nonzero()) <= SPARSE * table.rows.numel()
        return FEATURE_GENERATORS[sparse if is_sparse else dense]
