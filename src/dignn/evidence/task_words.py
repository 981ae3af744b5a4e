"""Tasks in words: what a sentence calls the things that a model answers about, and what the model does with them."""

from __future__ import annotations

from dataclasses import dataclass

from dignn.core.numerals import percent
from dignn.evidence.grammar import a, noun, nouns
from dignn.graphs.tasks.base import Task


@dataclass(frozen=True)
class TaskWords:
    """Words of a task; those here are of a classification.

    Args:
        thing, things: what is answered about, one and several.
        whole: whether that is the whole graph.
    """

    thing: str
    things: str
    whole: bool

    def sorts(self, what: str, classes: int) -> str:
        """What the model does: ``sorts authors of dblp into 4 classes``."""
        return f"sorts {what} into {f'{classes} classes' if classes != 1 else 'one class'}"

    def answer(self, name: str, probability: float) -> str:
        """The beginning of a sentence: what the model says of a thing like the one that is shown."""
        if probability >= 0.5:
            return f"The model takes {a(self.thing)} for {name} ({percent(probability)})"
        return f"The model gives {a(self.thing)} {percent(probability)} for {name}"


# Words of tasks that are no classification, by the task's name.
WORDS: dict[str, type[TaskWords]] = {}


def words_of(task: Task) -> TaskWords:
    """The words of a task."""
    kind = WORDS.get(task.name, TaskWords)
    if task.of_graphs:
        return kind("graph", "graphs", whole=True)
    return kind(noun(str(task.target)), nouns(str(task.target)), whole=False)
