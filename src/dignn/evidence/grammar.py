"""English for names that come from data: articles, plurals, lists and numbers."""

from __future__ import annotations

from collections.abc import Sequence

from dignn.core.numerals import percent

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
# Names that end like plurals or sound unlike they are written.
_SINGULAR = {"series", "species", "news", "lens", "gas", "bus", "means", "class", "address", "business", "process"}
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women", "datum": "data"}
_AN = ("hour", "honest", "honour", "honor", "heir")
_A = ("uni", "use", "user", "usu", "util", "eu", "one", "once", "ubiq", "ur")
_SPELLED_AN = "AEFHILMNORSX"  # letters whose names start with a vowel
# Verbs of one thing and of several.
_OF_SEVERAL = {"speaks": "speak", "is": "are", "has": "have", "carries": "carry", "lies": "lie"}
LONGEST_NAME = 40


def noun(name: str) -> str:
    """One thing of a node type: ``author``, ``paper node`` for ``paper_nodes``, ``N node`` for ``N``."""
    text = " ".join(name.replace("_", " ").split()) or "?"
    if not text[:1].isalpha():
        return f"node of type {text}"
    if len(text) <= 2:
        return f"{text} node"
    return _singular(text)


def nouns(name: str) -> str:
    """Several things of a node type."""
    single = noun(name)
    if single.startswith("node of type "):
        return "nodes" + single[len("node") :]
    return _plural(single)


def count(number: int, name: str) -> str:
    """``one author``, ``two papers``, ``14 N nodes``."""
    return f"{number_word(number)} {noun(name) if number == 1 else nouns(name)}"


def of_several(predicate: str) -> str:
    """What several things do, of what one does: ``speak for it`` for ``speaks for it``; others stay as they are."""
    verb, *rest = predicate.split(" ", 1)
    return " ".join([_OF_SEVERAL.get(verb, verb), *rest])


def a(text: str) -> str:
    """The text with its indefinite article, by sound rather than by letter."""
    word = text.split(" ", 1)[0]
    low = word.lower()
    if len(word) == 1 or (word.isupper() and len(word) <= 4):
        an = word[0].upper() in _SPELLED_AN
    elif low.startswith(_AN):
        an = True
    else:
        an = low[0] in "aeiou" and not low.startswith(_A)
    return f"{'an' if an else 'a'} {text}"


def quoted(name: str) -> str:
    """A name as it is, in quotation marks; a long one cut."""
    text = " ".join(name.split())
    return f"“{text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1].rstrip() + '…'}”"


def listed(items: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def number_word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)


def at_least(probability: float) -> str:
    """``at 95.2 % or more``, ``over 99.99 %``."""
    shown = percent(probability, cut=True)
    return shown if shown.startswith("over") else f"at {shown}{'' if probability == 1 else ' or more'}"


def _singular(text: str) -> str:
    head, _, word = text.rpartition(" ")
    low = word.lower()
    known = {several: one for one, several in _IRREGULAR.items()}
    if low in known:
        word = known[low]
    elif low not in _SINGULAR and len(word) > 3 and not word.isupper():
        if low.endswith("ies") and len(word) > 4 and low not in ("movies", "cookies"):
            word = word[:-3] + "y"
        elif low.endswith(("sses", "xes", "ches", "shes")):
            word = word[:-2]
        elif low.endswith("s") and not low.endswith(("ss", "us", "is")):
            word = word[:-1]
    return f"{head} {word}".strip()


def _plural(text: str) -> str:
    head, _, word = text.rpartition(" ")
    low = word.lower()
    if low in ("series", "species", "news", "means"):
        pass
    elif low.endswith("y") and low[-2:-1] not in tuple("aeiou"):
        word = word[:-1] + "ies"
    elif low in _IRREGULAR:
        word = _IRREGULAR[low]
    elif low.endswith("is") and len(word) > 4:
        word = word[:-2] + "es"
    elif low.endswith(("s", "x", "ch", "sh")):
        word += "es"
    else:
        word += "s"
    return f"{head} {word}".strip()
