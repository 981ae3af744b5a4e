"""All tables by name. Loads nothing heavy."""

from __future__ import annotations

from dignn.core.registry import Registry
from dignn.reproduce.definition import Definition
from dignn.reproduce.tables import (
    extras,
    published_settings,
    table1,
    table2,
    table3,
    table4,
    table5,
    table6,
    table7,
    table8,
)

TABLES: Registry[Definition] = Registry("table")
for _module in (table1, table2, table3, table4, table5, table6, table7, table8, extras, published_settings):
    TABLES.add(_module.TABLE.name, _module.TABLE)
