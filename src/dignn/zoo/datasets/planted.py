"""The planted bibliography: a small heterogeneous graph whose classes are known exactly. Made here, MIT licence.

Authors write papers; papers cite papers, mention terms and appear in a venue. Authors are classified by a
2 x 2 design: *what is around them* (a citation triangle or a co-author square) times *which keywords they have*
(database or learning words). Neither half says anything about the other, so a model must read both, and an
explanation can be compared with what was planted. ``docs/datasets.md`` has the full recipe and measurements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import HeteroData

from dignn.core.seeds import Seed
from dignn.graphs.motif import GroundTruth
from dignn.graphs.schema import EdgeType, Schema
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.shapes import CITES, WRITES, citation_triangle, coauthor_square
from dignn.zoo.datasets.splits import stratified_split
from dignn.zoo.datasets.word_lists import (
    COMMON_KEYWORDS,
    COMMON_TITLE_WORDS,
    KEYWORDS,
    SIDE_INTERESTS,
    TITLE_WORDS,
    TOPICS,
)

MENTIONS: EdgeType = ("paper", "mentions", "term")
APPEARS_IN: EdgeType = ("paper", "appears_in", "venue")

# Class = 2 * topic + motif; motif 0 is the citation triangle, motif 1 the co-author square.
CLASSES = tuple(f"{topic} {habit}" for topic in TOPICS for habit in ("self-citer", "duo"))
SHARES = (0.6, 0.2, 0.2)

SELF_CITERS = 400  # one citation triangle each
DUOS = 200  # pairs of authors, one co-author square each
EXTRA_ALONE, EXTRA_TOGETHER = 80, 40  # self-citers, duos with a third paper: as many authors of each
STRAY_AUTHORS = 60  # papers with one more author than planned
STRAY_CITATIONS = 120  # citations between papers that share no author
TERMS, TERM_COLUMNS, VENUES = 660, 12, 20
_TERM_TOPIC = np.arange(TERMS) % len(TOPICS)
SECOND_TERM = 0.25  # share of papers that mention two terms; the others mention one

OWN_KEYWORD, OTHER_KEYWORD, COMMON_KEYWORD = 0.8, 0.05, 0.2
SIDE_KEYWORD, OTHER_SIDE_KEYWORD = 0.5, 0.03
MIN_OWN, MAX_OTHER = 5, 1  # of eight planted keywords each
TOPICAL_WORDS = 0.3  # share of title words drawn from the paper's topic
TOPICAL_TERMS = 0.7  # share of terms and venues drawn from the paper's topic


def load(*, seed: int = 0, download: bool = False) -> Dataset:
    """Generates the data set, bit for bit from ``seed``; ``download`` has no effect."""
    root = Seed(seed).child("data", "planted")
    library = _write_papers(root)
    data = HeteroData()
    data["author"].x, author_names = _keywords(library.author_topic, root.child("keywords"))
    data["author"].y = torch.from_numpy(2 * library.author_topic + library.author_motif)
    data["paper"].x, paper_names = _titles(library.paper_topic, root.child("titles"))
    data["term"].x = _term_vectors(root.child("vectors"))
    data["venue"].x = torch.ones(VENUES, 1)
    mentions = _mentions(library.paper_topic, root.child("mentions"))
    venues = _venues(library.paper_topic, root.child("venues"))
    relations = {WRITES: library.writes, MENTIONS: mentions, APPEARS_IN: venues, CITES: library.cites}
    for (source, name, target), pairs in relations.items():
        index = torch.from_numpy(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))].T.copy()).long()
        data[source, name, target].edge_index = index
        data[target, f"rev_{name}", source].edge_index = index.flip(0)
    names = {"author": author_names, "paper": paper_names}
    return Dataset(
        name="planted",
        data=data,
        schema=Schema.from_hetero(data, "author", names=names, classes=CLASSES),
        splits=_splits(library, root),
        sizes=tuple(range(10, 16)),
        truth=GroundTruth(
            motifs=tuple((motif,) for _ in TOPICS for motif in (citation_triangle(), coauthor_square())),
            keywords=tuple(words for words in KEYWORDS for _ in range(2)),
        ),
    )


# -- structure ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Library:
    """Who wrote what; authors and papers in random order, so that numbers tell nothing."""

    author_topic: np.ndarray  # (A,) index into TOPICS
    author_motif: np.ndarray  # (A,) 0 triangle, 1 square
    author_unit: np.ndarray  # (A,) the self-citer or duo that the author belongs to
    paper_topic: np.ndarray  # (P,)
    writes: np.ndarray  # (E, 2) author, paper
    cites: np.ndarray  # (E, 2) citing paper, cited paper


def _write_papers(root: Seed) -> _Library:
    authors = SELF_CITERS + 2 * DUOS
    # Topics are balanced, and the two topics of a duo are independent: each of the four pairs equally often.
    topic = np.concatenate(
        [np.arange(SELF_CITERS) % 2, np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * (DUOS // 4)).ravel()]
    )
    motif = np.repeat([0, 1], [SELF_CITERS, 2 * DUOS])
    unit = np.concatenate([np.arange(SELF_CITERS), SELF_CITERS + np.repeat(np.arange(DUOS), 2)])

    teams: list[set[int]] = []  # the authors of each paper
    cites: set[tuple[int, int]] = set()
    for author in range(SELF_CITERS):
        cites.add((len(teams), len(teams) + 1))
        teams += [{author}, {author}]
    for first in range(SELF_CITERS, authors, 2):
        teams += [{first, first + 1}, {first, first + 1}]
    rng = root.child("extra").numpy()
    teams += [{int(author)} for author in rng.choice(SELF_CITERS, EXTRA_ALONE, replace=False)]
    teams += [teams[2 * SELF_CITERS + 2 * int(duo)].copy() for duo in rng.choice(DUOS, EXTRA_TOGETHER, replace=False)]
    paper_topic = np.array([topic[rng.choice(sorted(team))] for team in teams])
    _add_stray_authors(teams, authors, root.child("stray authors"))
    _add_stray_citations(cites, teams, root.child("stray citations"))

    shuffle = root.child("order").numpy()
    author_at, paper_at = shuffle.permutation(authors), shuffle.permutation(len(teams))  # new numbers of the old
    writes = np.array([(author_at[author], paper_at[paper]) for paper, team in enumerate(teams) for author in team])
    return _Library(
        author_topic=topic[np.argsort(author_at)],
        author_motif=motif[np.argsort(author_at)],
        author_unit=unit[np.argsort(author_at)],
        paper_topic=paper_topic[np.argsort(paper_at)],
        writes=writes,
        cites=paper_at[np.array(sorted(cites))],
    )


def _add_stray_authors(teams: list[set[int]], authors: int, seed: Seed) -> None:
    """One more author on some papers, never one who already shares a paper with the team: no new square."""
    rng = seed.numpy()
    colleagues: list[set[int]] = [set() for _ in range(authors)]
    for team in teams:
        for author in team:
            colleagues[author] |= team
    for paper in rng.choice(len(teams), STRAY_AUTHORS, replace=False):
        team = teams[paper]
        known = set().union(*(colleagues[author] for author in team))
        guest = _draw(rng, authors, known)
        for author in team:
            colleagues[author].add(guest)
        team.add(guest)
        colleagues[guest] |= team


def _add_stray_citations(cites: set[tuple[int, int]], teams: list[set[int]], seed: Seed) -> None:
    """Citations between papers without a common author: no new triangle."""
    rng = seed.numpy()
    for citing in rng.choice(len(teams), STRAY_CITATIONS, replace=False):
        near = {paper for paper, team in enumerate(teams) if team & teams[citing]}
        near |= {source for source, cited in cites if cited == citing}
        near |= {cited for source, cited in cites if source == citing}
        cites.add((int(citing), _draw(rng, len(teams), near)))


def _draw(rng: np.random.Generator, count: int, excluded: set[int]) -> int:
    while (number := int(rng.integers(count))) in excluded:
        pass
    return number


def _mentions(paper_topic: np.ndarray, seed: Seed) -> np.ndarray:
    """One or two terms per paper, popular terms more often, every term at least once; (E, 2)."""
    rng = seed.numpy()
    papers = np.repeat(np.arange(len(paper_topic)), 1 + (rng.random(len(paper_topic)) < SECOND_TERM))
    topic = _mostly(paper_topic[papers], rng)
    terms = np.empty(len(papers), dtype=np.int64)
    for number in range(len(TOPICS)):
        pool = np.arange(number, TERMS, len(TOPICS))
        places = rng.permutation(np.flatnonzero(topic == number))
        popularity = 1 / np.arange(3, len(pool) + 3)
        more = rng.choice(pool, len(places) - len(pool), p=popularity / popularity.sum())
        terms[places] = np.concatenate([pool, more])
    return np.unique(np.stack([papers, terms], axis=1), axis=0)


def _venues(paper_topic: np.ndarray, seed: Seed) -> np.ndarray:
    """One venue per paper; even venues prefer the first topic, odd ones the second, equally popular; (P, 2)."""
    rng = seed.numpy()
    popularity = 1 / np.arange(2, VENUES // 2 + 2)
    rank = rng.choice(VENUES // 2, len(paper_topic), p=popularity / popularity.sum())
    return np.stack([np.arange(len(paper_topic)), 2 * rank + _mostly(paper_topic, rng)], axis=1)


def _mostly(topic: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(topic)) < TOPICAL_TERMS, topic, 1 - topic)


def _splits(library: _Library, root: Seed) -> dict[str, torch.Tensor]:
    """60/20/20 per class. A duo is never divided: its two authors share their whole neighbourhood."""
    units = library.author_unit.max() + 1
    kind = np.zeros(units, dtype=np.int64)  # stratum: motif and the topics of the unit's members
    np.add.at(kind, library.author_unit, 1 + library.author_topic + 10 * library.author_motif)
    chosen = stratified_split(kind, SHARES, root)
    return {
        part: torch.from_numpy(np.flatnonzero(np.isin(library.author_unit, index))) for part, index in chosen.items()
    }


# -- features -----------------------------------------------------------------------------------------


def _keywords(topic: np.ndarray, seed: Seed) -> tuple[torch.Tensor, list[str]]:
    """Binary keywords of authors, (A, 50), and the names of the columns in alphabetical order."""
    rng = seed.numpy()
    interests = list(SIDE_INTERESTS.values())
    names = sorted({word for group in (*KEYWORDS, *interests, COMMON_KEYWORDS) for word in group})
    column = {word: number for number, word in enumerate(names)}
    chance = np.full((len(topic), len(names)), COMMON_KEYWORD)
    interest = rng.integers(len(interests), size=len(topic))
    for number, words in enumerate(interests):
        columns = [column[word] for word in words]
        chance[:, columns] = np.where(interest == number, SIDE_KEYWORD, OTHER_SIDE_KEYWORD)[:, None]
    planted = np.array([[column[word] for word in words] for words in KEYWORDS])  # (2, 8)
    for number, columns in enumerate(planted):
        chance[:, columns] = np.where(topic == number, OWN_KEYWORD, OTHER_KEYWORD)[:, None]
    x = rng.random(chance.shape) < chance
    while True:  # draw again who would not be clear: at least 5 of 8 own keywords, at most 1 of the others
        own = np.take_along_axis(x, planted[topic], axis=1).sum(1)
        other = np.take_along_axis(x, planted[1 - topic], axis=1).sum(1)
        unclear = np.flatnonzero((own < MIN_OWN) | (other > MAX_OTHER))
        if len(unclear) == 0:
            return torch.from_numpy(x.astype(np.float32)), names
        x[unclear] = rng.random((len(unclear), x.shape[1])) < chance[unclear]


def _titles(topic: np.ndarray, seed: Seed) -> tuple[torch.Tensor, list[str]]:
    """Word counts of papers, (P, 60): four or more words, a third of them from the topic."""
    rng = seed.numpy()
    names = sorted({word for group in (*TITLE_WORDS, COMMON_TITLE_WORDS) for word in group})
    chance = np.zeros((len(TOPICS), len(names)))
    for number, words in enumerate(TITLE_WORDS):
        for group, share in ((words, TOPICAL_WORDS), (COMMON_TITLE_WORDS, 1 - TOPICAL_WORDS)):
            chance[number, [names.index(word) for word in group]] = share / len(group)
    counts = rng.multinomial(4 + rng.poisson(4, len(topic)), chance[topic])
    return torch.from_numpy(counts.astype(np.float32)), names


def _term_vectors(seed: Seed) -> torch.Tensor:
    """Continuous vectors of terms, (T, 12): a centre per topic, four common directions, and noise."""
    rng = seed.numpy()
    centre = rng.normal(size=(len(TOPICS), TERM_COLUMNS))
    directions = rng.normal(size=(4, TERM_COLUMNS))
    x = (
        0.5 * centre[_TERM_TOPIC]
        + 0.5 * rng.normal(size=(TERMS, 4)) @ directions
        + 0.5 * rng.normal(size=(TERMS, TERM_COLUMNS))
    )
    return torch.from_numpy(x.astype(np.float32))
