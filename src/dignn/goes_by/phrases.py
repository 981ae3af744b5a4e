"""Predicates in words, by the names of a schema."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.core.numerals import number
from dignn.evidence.grammar import a, listed, noun, nouns, number_word, quoted
from dignn.evidence.shape import shape_name, type_counts
from dignn.goes_by.predicates import Predicate
from dignn.goes_by.quantities import Count, Mean, Rings
from dignn.goes_by.traits import Holds, Shaped, Trait
from dignn.goes_by.where import Around, Edges, Step, Where
from dignn.graphs.column_words import in_words
from dignn.graphs.feature_spec import ColumnKind, FeatureKind, FeatureSpec
from dignn.graphs.schema import Schema

# Names of a group that are told.
_NAMED = 3


def phrase(predicate: Predicate, schema: Schema) -> str:
    """What is true of a place, as the end of a sentence that begins with "where": ``it has “query”``."""
    quantity = predicate.quantity
    if isinstance(quantity, Rings):
        return _rings(predicate, quantity, schema)
    if isinstance(quantity, Mean):
        spec = spec_of(schema, quantity.where)
        what = f"the mean {_name(spec, quantity.column)} of {_several(schema, quantity.where)}"
        none = " or there is none" if not predicate.holds and _may_be_none(quantity, schema) else ""
        return f"{what} is {_above(spec, quantity.column, predicate.above, predicate.holds)}{none}"
    own = isinstance(quantity.where, Around) and quantity.where.own
    if own and len(quantity.traits) == 1:
        return _own(quantity.traits[0], predicate.holds, schema, quantity.where)
    if len(quantity.traits) > 1:
        return _group(predicate, quantity, schema)
    least = round(predicate.above + 0.5)
    if not quantity.traits:
        return _numbered(predicate.holds, least, schema, quantity.where)
    one, several = _verb(quantity.traits[0], schema, quantity.where)
    if predicate.holds:
        return f"{_amount(schema, quantity.where, least)} {one if least == 1 else several}"
    if least == 1:
        return f"no {_one(schema, quantity.where)} {one}"
    return f"fewer than {number_word(least)} {_several(schema, quantity.where)} {several}"


def _may_be_none(quantity: Mean, schema: Schema) -> bool:
    """Whether a place may have nothing to take the mean of: all graphs have a node of their only type."""
    where = quantity.where
    always = isinstance(where, Around) and where.distance is None and len(schema.node_types) == 1
    return not always or spec_of(schema, where).column(quantity.column).missing


def spec_of(schema: Schema, where: Where) -> FeatureSpec:
    """What the columns there hold."""
    if isinstance(where, Edges):
        return schema.edge_features_by_label[where.relation].spec
    return schema.spec(where.node_type)


def is_there(spec: FeatureSpec, trait: Trait) -> bool:
    """Whether a trait says that something is there that its column is named after: a word, a member, a value."""
    if not isinstance(trait, Holds):
        return False
    if spec.kinds[trait.column] is ColumnKind.COUNT:
        return (trait.test, trait.value) == ("above", 0.5)
    flag = spec.kinds[trait.column] in (ColumnKind.BINARY, ColumnKind.ONE_HOT)
    return flag and (trait.test, trait.value) == ("is", 1.0)


# -- the place itself ---------------------------------------------------------------------------------


def _own(trait: Trait, holds: bool, schema: Schema, where: Where) -> str:
    if isinstance(trait, Shaped):
        return f"it {_shaped(trait, schema, holds)[0]}"
    spec = spec_of(schema, where)
    kind, name = spec.kinds[trait.column], _name(spec, trait.column)
    if trait.test == "missing":
        return f"its {name} is {'missing' if holds else 'known'}"
    missing = not holds and spec.column(trait.column).missing
    if kind is ColumnKind.ONE_HOT:
        return f"it {'is' if holds else 'is not'} {name}{' or that is missing' if missing else ''}"
    if kind is ColumnKind.BINARY and trait.test == "is" and not missing:
        return f"it {'has' if holds else 'lacks'} {name}"
    return f"its {name} is {_value(spec, trait, holds)}{' or is missing' if missing else ''}"


def _rings(predicate: Predicate, quantity: Rings, schema: Schema) -> str:
    length, least = len(quantity.types), round(predicate.above + 0.5)
    shape = shape_name(length)
    shape = f"{shape} of {number_word(length)} nodes" if length > 4 else shape
    if len(schema.node_types) > 1:
        shape = f"{shape_name(length) if length < 5 else 'ring'} of {type_counts(quantity.types)}"
    shapes = shape.replace(shape.split(" ", 1)[0], f"{shape.split(' ', 1)[0]}s", 1)
    if least == 1:
        some = a(shape) if predicate.holds else f"no {shape}"
    else:
        some = f"{'at least' if predicate.holds else 'fewer than'} {number_word(least)} {shapes}"
    return f"the graph has {some}" if schema.task.of_graphs else f"it lies on {some}"


# -- what is around -----------------------------------------------------------------------------------


def _group(predicate: Predicate, quantity: Count, schema: Schema) -> str:
    spec, least = spec_of(schema, quantity.where), round(predicate.above + 0.5)
    traits = [trait for trait in quantity.traits if isinstance(trait, Holds)]
    names = [_fact(spec, trait) for trait in traits]
    more = len(names) - _NAMED
    shown = listed(names if more < 2 else [*names[:_NAMED], f"{number_word(more)} others"])
    amount = f"{'at least' if predicate.holds else 'fewer than'} {number_word(least)}"
    if least == 1:
        amount = "at least one" if predicate.holds else "none"
    own = isinstance(quantity.where, Around) and quantity.where.own
    if not all(is_there(spec, trait) for trait in traits):
        be = "is" if least == 1 else "are"
        return f"{amount} {be} true of {'it' if own else _several(schema, quantity.where)}: {shown}"
    if own:
        return f"it has {amount} of {shown}"
    if spec.kind is FeatureKind.IDENTITY:
        return f"among {_several(schema, quantity.where)} there is {amount} of {shown}"
    return f"{_several(schema, quantity.where)} carry {amount} of {shown}"


def _fact(spec: FeatureSpec, trait: Holds) -> str:
    """``“query”`` where a name says that it is there, ``“colour” is 2`` where it does not."""
    name = _name(spec, trait.column)
    if is_there(spec, trait):
        return name
    return f"{name} is {'missing' if trait.test == 'missing' else _value(spec, trait, True)}"


def _numbered(holds: bool, least: int, schema: Schema, where: Where) -> str:
    """How many there are: ``at least two papers are next to it``, ``the graph has no N node``."""
    if isinstance(where, Edges):
        one, several = (f"edge {_relation(where.relation, schema)}", f"edges {_relation(where.relation, schema)}")
        place = None if where.anywhere else "at it"
    else:
        one, several = noun(where.node_type), nouns(where.node_type)
        place = None if where.distance is None else _place(where, schema)
    if least == 1:
        some = a(one) if holds else f"no {one}"
    else:
        some = f"{'at least' if holds else 'fewer than'} {number_word(least)} {several}"
    return f"the graph has {some}" if place is None else f"{some} {'is' if least == 1 else 'are'} {place}"


def _amount(schema: Schema, where: Where, least: int) -> str:
    if least == 1:
        return a(_one(schema, where))
    return f"at least {number_word(least)} {_several(schema, where)}"


def _one(schema: Schema, where: Where) -> str:
    if isinstance(where, Edges):
        return f"edge {_relation(where.relation, schema)} {'in the graph' if where.anywhere else 'at it'}"
    return f"{noun(where.node_type)} {_place(where, schema)}"


def _several(schema: Schema, where: Where) -> str:
    if isinstance(where, Edges):
        return f"edges {_relation(where.relation, schema)} {'in the graph' if where.anywhere else 'at it'}"
    return f"{nouns(where.node_type)} {_place(where, schema)}"


def _place(where: Around, schema: Schema) -> str:
    if where.distance is None:
        return "in the graph"
    far = "next to it" if where.distance == 1 else f"{number_word(where.distance)} steps away"
    return f"{far} ({', '.join(_step(step, schema) for step in where.path)})" if where.path else far


def _step(step: Step, schema: Schema) -> str:
    """``by writes``; against the direction of a relation inside one type ``by cites, back``."""
    relation = next(each for each in schema.relations if each.label == step.relation)
    inside = relation.source == relation.target
    return f"by {relation.name.replace('_', ' ')}{' towards it' if step.back and inside else ''}"


def _relation(label: str, schema: Schema) -> str:
    name = next(relation.name for relation in schema.relations if relation.label == label)
    return quoted(name.replace("_", " "))


# -- traits -------------------------------------------------------------------------------------------


def _verb(trait: Trait, schema: Schema, where: Where) -> tuple[str, str]:
    """What one thing does, and several."""
    if isinstance(trait, Shaped):
        return _shaped(trait, schema, True)
    spec = spec_of(schema, where)
    kind, name = spec.kinds[trait.column], _name(spec, trait.column)
    if trait.test == "missing":
        return f"misses {name}", f"miss {name}"
    if spec.kind is FeatureKind.IDENTITY or kind is ColumnKind.ONE_HOT:
        return f"is {name}", f"are {name}"
    if is_there(spec, trait):
        return f"carries {name}", f"carry {name}"
    value = _value(spec, trait, True)
    return f"has {name} {value}", f"have {name} {value}"


def _shaped(trait: Shaped, schema: Schema, holds: bool) -> tuple[str, str]:
    if trait.shape == "leaf":
        found = ("has one neighbour", "have one neighbour") if holds else ("has not one neighbour",) * 2
        return found[0], found[1]
    if trait.shape == "cycle":
        shape = "cycle" if not trait.number else shape_name(trait.number)
        shape = f"{shape} of {number_word(trait.number)} nodes" if trait.number > 4 else shape
        some = a(shape) if holds else f"no {shape}"
        return f"lies on {some}", f"lie on {some}"
    what = "neighbour" if trait.step is None else f"neighbour {_step(trait.step, schema)}"
    several = what.replace("neighbour", "neighbours", 1)
    some = f"at least {number_word(trait.number)} {several}" if trait.number > 1 else a(what)
    if not holds:
        some = f"fewer than {number_word(trait.number)} {several}" if trait.number > 1 else f"no {what}"
    return f"has {some}", f"have {some}"


def _value(spec: FeatureSpec, trait: Holds, holds: bool) -> str:
    column = spec.column(trait.column)
    if trait.test == "is":
        value = in_words(trait.value, column)
        return value if holds else f"not {value}"
    if column.kind is ColumnKind.COUNT:
        least = round(trait.value + 0.5)
        return f"at least {number(least)}" if holds else f"below {number(least)}"
    return _above(spec, trait.column, trait.value, holds)


def _above(spec: FeatureSpec, column: int, value: float, holds: bool) -> str:
    known = spec.column(column)
    shown = in_words(value, known) if known.kind is ColumnKind.DATE else number(value)
    return f"above {shown}" if holds else f"not above {shown}"


def _name(spec: FeatureSpec, column: int) -> str:
    name = spec.column_name(column)
    return name if spec.names is None else quoted(name)


def words_of(predicates: Sequence[Predicate], schema: Schema) -> str:
    """A conjunction."""
    return listed([phrase(predicate, schema) for predicate in predicates])
