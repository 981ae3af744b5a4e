"""The words of the planted bibliography."""

from __future__ import annotations

TOPICS = ("database", "learning")

# The planted keywords of authors, by topic: these, with the motif, define the classes.
KEYWORDS: tuple[tuple[str, ...], ...] = (
    ("concurrency", "index", "join", "query", "relational", "schema", "storage", "transaction"),
    ("bayesian", "classifier", "gradient", "kernel", "neural", "regression", "reinforcement", "training"),
)

# Side interests of authors, independent of their class: an author has one, so these words come together.
SIDE_INTERESTS: dict[str, tuple[str, ...]] = {
    "vision": ("camera", "image", "object", "segmentation", "texture", "video"),
    "networks": ("bandwidth", "latency", "protocol", "routing", "sensor", "wireless"),
    "language": ("dialogue", "grammar", "lexicon", "speech", "syntax", "translation"),
    "security": ("attack", "authentication", "encryption", "malware", "privacy", "trust"),
}

# Words that any author may have.
COMMON_KEYWORDS = (
    "adaptive", "analysis", "application", "evaluation", "framework",
    "interactive", "parallel", "scalable", "survey", "visualization",
)  # fmt: skip

# Words in titles of papers: by topic, and the rest.
TITLE_WORDS: tuple[tuple[str, ...], ...] = (
    (
        "cache", "columns", "indexes", "joins", "keys", "locking", "logs", "queries",
        "recovery", "rows", "sql", "tables", "transactions", "tuples", "views",
    ),
    (
        "accuracy", "batches", "boosting", "classes", "embedding", "ensembles", "features", "labels",
        "layers", "learning", "loss", "perceptrons", "predictions", "regularization", "weights",
    ),
)  # fmt: skip
COMMON_TITLE_WORDS = (
    "algorithm", "approach", "automatic", "comparison", "complex", "data", "design", "distributed", "dynamic",
    "efficient", "experiments", "fast", "flexible", "general", "graphs", "improved", "incremental", "large", "method",
    "model", "new", "online", "performance", "practical", "problem", "robust", "simple", "study", "systems", "theory",
)  # fmt: skip
