"""GraphVAE: its parts against independent computations, and whole runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.distributions import Normal, kl_divergence

from dignn import DignnError, Explanations
from dignn.core.seeds import Seed
from dignn.diffusion.settings import TrainingConfig
from dignn.explainers.methods.graphvae.autoencoder import most_likely
from dignn.explainers.methods.graphvae.canonical_order import canonical_order
from dignn.explainers.methods.graphvae.explainer import GraphVAE
from dignn.explainers.methods.graphvae.generator import GraphVAEGenerator
from dignn.explainers.methods.graphvae.graph_decoder import Decoded, pairs_of
from dignn.explainers.methods.graphvae.graph_encoder import kl_to_standard_normal
from dignn.explainers.methods.graphvae.row_codes import ROW_CODES, EntryRows, MemberRows, code_of, decodable
from dignn.explainers.methods.graphvae.settings import PRESETS, GraphVAESettings
from dignn.graphs.batch import GraphBatch
from dignn.graphs.feature_spec import FeatureKind
from dignn.graphs.validity import consistent
from dignn.sampling.division import divide
from dignn.structure.vocabulary import Vocabulary
from dignn.zoo.datasets.dataset import Dataset
from dignn.zoo.datasets.registry import load
from mixed_world import mixed_schema
from strategies import PROPERTY, batches, rings_and_stars
from tiny_models import TinyGCN, TinyHetero

pytestmark = pytest.mark.usefixtures("haste")
MOMENT = TrainingConfig(steps=6, validate_every=3)
SMALL = replace(PRESETS["smoke"], sizes=(8, 9), subgraphs_per_size=20, candidates=24, top_k=1, draws=2, training=MOMENT)
BY_HEART = replace(
    PRESETS["smoke"], width=32, hidden=128, beta=0.01, training=TrainingConfig(steps=300, weight_decay=0.0, ema=0.0)
)


@pytest.fixture(scope="module")
def planted() -> Dataset:
    return load("planted")


@pytest.fixture(scope="module")
def real(planted: Dataset) -> GraphBatch:
    found = divide(planted.data, planted.schema, SMALL, Seed(0))
    found.sample()
    return found.train


# -- parts --------------------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(0, 2**32 - 1))
def test_kl_is_that_of_torch(seed: int) -> None:
    mu, log_variance = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(seed)).double()
    expected = kl_divergence(Normal(mu, (log_variance / 2).exp()), Normal(torch.zeros(()).double(), 1.0)).sum(1)
    torch.testing.assert_close(kl_to_standard_normal(mu, log_variance), expected)


@PROPERTY
@given(batches())
def test_canonical_order_is_breadth_first_from_a_classified_node(batch: GraphBatch) -> None:
    order = canonical_order(batch)
    assert torch.equal(order.sort(1).values, torch.arange(order.size(1)).expand_as(order))
    moved = batch.permute(order)
    for number, size in enumerate(batch.sizes.tolist()):
        assert bool(moved.mask[number, :size].all())  # padding stays last
        joined = moved.undirected[number]
        parents = [
            int(joined[place, :place].long().argmax()) for place in range(1, size) if joined[place, :place].any()
        ]
        assert parents == sorted(parents) or not _connected(joined[:size, :size])
        if bool(batch.target_mask[number].any()):
            assert bool(moved.target_mask[number, 0])


def _connected(joined: torch.Tensor) -> bool:
    reach = torch.linalg.matrix_power(joined.double() + torch.eye(len(joined)), len(joined))
    return bool((reach > 0).all())


@PROPERTY
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.9))
def test_thresholds_make_rows_as_dense_as_real_ones(seed: int, density: float) -> None:
    source = torch.Generator().manual_seed(seed)
    rows = (torch.rand(40, 30, generator=source) < density).float()
    said = torch.randn(50, 30, generator=source) - 5  # as a decoder that finds every entry unlikely
    code = EntryRows.of(rows).calibrated(said)
    decoded = code.decode(said, torch.arange(50))
    assert float(decoded.mean()) == pytest.approx(float(rows.mean()), abs=1 / said.numel())
    assert bool((decoded == 1)[said > said[decoded == 1].min()].all() if bool(decoded.any()) else True)


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (FeatureKind.BINARY, torch.tensor([[1.0, 0, 0], [0, 1, 1]])),
        (FeatureKind.COUNT, torch.tensor([[2.0, 0, 0, 0], [0, 3, 0, 0]])),
        (FeatureKind.COUNT, torch.tensor([[20.0, 31], [40, 3]])),
        (FeatureKind.CATEGORICAL, torch.tensor([[0.0, 5], [2, 1], [1, 5]])),
        (FeatureKind.CONTINUOUS, torch.tensor([[0.5, -2.0, 1], [1.5, 3.0, 1]])),
        (FeatureKind.IDENTITY, torch.eye(4)),
    ],
)
def test_rows_that_are_said_clearly_come_back(kind: FeatureKind, rows: torch.Tensor) -> None:
    """A decoder that is sure, and right, gives the very rows, at next to no loss; files change nothing."""
    name = code_of(rows, kind)
    made = ROW_CODES[name].of(rows)
    code = ROW_CODES[name].restored(made.state())
    said = code.encode(rows) if name == "numbers" else (code.encode(rows) - 0.5) * 100
    torch.testing.assert_close(code.decode(said, torch.arange(len(rows))), rows)
    assert float(code.loss(said, rows).max()) < 1e-3
    assert len(code.start(rows)) == code.size == said.size(1)


def test_a_member_stands_in_a_graph_once_as_long_as_there_are_others() -> None:
    said = torch.tensor([[3.0, 2, 1]]).repeat(6, 1)
    rows = MemberRows.of(torch.eye(3)).decode(said, torch.tensor([0, 0, 1, 2, 2, 2]))
    assert rows.argmax(1).tolist() == [0, 1, 0, 0, 1, 2]


def test_forbidden_relations_are_masked(real: GraphBatch) -> None:
    words, source = Vocabulary.of(real), torch.Generator().manual_seed(0)
    pairs = len(pairs_of(9)[0])
    decoded = Decoded(
        torch.randn(20, 9, words.node_count, generator=source),
        torch.randn(20, pairs, words.edge_count, generator=source),
        torch.zeros(20, 9, 1),
        torch.zeros(20, 0),
    )
    sizes, fits = torch.arange(20) % 2 + 8, {}
    for constrained in (True, False):
        nodes, edges = most_likely(decoded, sizes, words, constrained=constrained)
        graphs = words.decode(nodes, edges, torch.full((20,), -1))
        assert torch.equal(graphs.sizes, sizes)
        fits[constrained] = consistent(graphs)
        assert bool((graphs.edge > 0).any())
    assert bool(fits[True].all())
    assert not bool(fits[False].any())


# -- learning -----------------------------------------------------------------------------------------


def test_it_reconstructs_a_few_graphs_with_their_features(real: GraphBatch) -> None:
    few = real[[0, 1, 2, -3, -2, -1]]
    generator = GraphVAEGenerator(BY_HEART).fit(few, few.mask, seed=Seed(0))
    made = generator.reconstruct(few)
    ordered = few.permute(canonical_order(few))
    assert torch.equal(made.node_type, ordered.node_type)
    assert torch.equal(made.label, ordered.label)
    assert torch.equal(made.edge, ordered.edge)
    same = (made.features("author") == ordered.features("author")).float().mean()
    assert float(same) > 0.9


def test_rows_of_held_out_nodes_are_never_seen(real: GraphBatch) -> None:
    """What stands in them changes nothing."""
    author = real.schema.type_index("author")
    learned = real.mask & ~((real.node_type == author) & (real.row % 2 == 0))
    hidden = real.tables["author"].clone()
    hidden[::2] = 1 - hidden[::2]
    other = replace(real, tables={**real.tables, "author": hidden})
    one, two = (GraphVAEGenerator(SMALL).fit(graphs, learned, seed=Seed(1)) for graphs in (real, other))
    same_graphs(one.sample([8, 9, 9], seed=Seed(2)), two.sample([8, 9, 9], seed=Seed(2)))


def same_graphs(one: GraphBatch, two: GraphBatch) -> None:
    assert torch.equal(one.edge, two.edge)
    assert torch.equal(one.node_type, two.node_type)
    assert one.tables.keys() == two.tables.keys()
    assert all(torch.equal(one.tables[name], two.tables[name]) for name in one.tables)


def test_a_file_gives_the_same_graphs(real: GraphBatch, tmp_path: Path) -> None:
    made = GraphVAEGenerator(SMALL).fit(real, real.mask, seed=Seed(1))
    made.save(tmp_path / "made.safetensors")
    loaded = GraphVAEGenerator(SMALL).load(tmp_path / "made.safetensors", real.schema)
    assert loaded.report["training"] == made.report["training"]
    graphs = made.sample([8] * 5 + [9] * 5, seed=Seed(2))
    assert graphs.sizes.tolist() == [8] * 5 + [9] * 5
    assert graphs.check().tables.keys() == {"author", "paper", "term"}
    same_graphs(graphs, loaded.sample([8] * 5 + [9] * 5, seed=Seed(2)))


def test_without_masks_what_breaks_the_metagraph_is_left_out_and_told(real: GraphBatch) -> None:
    settings = replace(SMALL, constrained=False, edge_threshold="half", draws=0)
    made = GraphVAEGenerator(settings).fit(real, real.mask, seed=Seed(1))
    graphs = made.sample([9] * 200, seed=Seed(2))
    told = made.report["sampling"]
    assert bool(consistent(graphs).all())
    assert told["left_out"] == 200 - len(graphs) > 0
    assert told["decoded"] == 200


def test_it_says_so_where_nothing_fits_the_metagraph(real: GraphBatch) -> None:
    made = GraphVAEGenerator(replace(SMALL, constrained=False)).fit(real, real.mask, seed=Seed(1))
    with pytest.raises(DignnError, match="consistent with the metagraph; set constrained to True"):
        made.sample([9] * 20, seed=Seed(2))


# -- whole runs ---------------------------------------------------------------------------------------


def explained(dataset: Dataset, folder: Path | None = None, **options: object) -> tuple[GraphVAE, Explanations]:
    config = replace(SMALL, **options)  # type: ignore[arg-type]
    model = TinyHetero(dataset.schema)
    made = GraphVAE(model, dataset.data, schema=dataset.schema, config=config, folder=folder, seed=0).fit()
    return made, made.explain(measure=False)


@pytest.fixture(scope="module")
def run(planted: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[GraphVAE, Explanations]:
    return explained(planted, tmp_path_factory.mktemp("graphvae"))


def test_node_classification(run: tuple[GraphVAE, Explanations], planted: Dataset) -> None:
    made, explanations = run
    assert explanations.about["explainer"] == "graphvae"
    assert list(explanations) == list(planted.schema.classes)
    assert made._candidates is not None
    assert len(made._candidates) == SMALL.candidates
    assert set(made._candidates.sizes.tolist()) == {8, 9}
    assert bool(consistent(made._candidates).all())
    assert made._candidates.tables.keys() == {"author", "paper", "term"}
    told = explanations.about["generation"]["structure"]
    assert told["rows"] == {"author": "entries", "paper": "entries", "term": "numbers"}
    assert 0 <= told["sampling"]["first_yield"] <= told["sampling"]["yield"] <= 1


def test_a_run_goes_on_from_its_folder_without_learning_again(
    run: tuple[GraphVAE, Explanations], planted: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = run
    assert made.run.folder is not None
    assert made._candidates is not None
    assert not (made.run.folder / "features.safetensors").exists()
    (made.run.folder / "candidates.safetensors").unlink()
    monkeypatch.setattr(GraphVAEGenerator, "fit", None)
    again, _ = explained(planted, made.run.folder)
    assert again._candidates is not None
    same_graphs(made._candidates, again._candidates)


def test_the_same_seed_gives_the_same_bits_however_many_cores_there_are(
    run: tuple[GraphVAE, Explanations], planted: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dignn.core.threads.cores", lambda: 1)
    again, _ = explained(planted)
    assert again._candidates is not None
    assert run[0]._candidates is not None
    same_graphs(run[0]._candidates, again._candidates)


def test_features_of_the_bank_where_they_are_not_decoded(planted: Dataset) -> None:
    made, _ = explained(planted, joint=False, features="bootstrap")
    assert made._candidates is not None
    known = {tuple(row) for row in made.real.train.tables["author"].tolist()}
    assert {tuple(row) for row in made._candidates.features("author").tolist()} <= known
    assert made.findings()["structure"]["rows"] == {}
    assert not decodable(mixed_schema())  # which leaves them to the bank, too
    assert decodable(planted.schema)


def test_graph_classification() -> None:
    config = replace(SMALL, sizes=None, candidates=30)
    made = GraphVAE(TinyGCN(1, 2, pool=True), rings_and_stars(), config=config, seed=3).fit()
    assert made._candidates is not None
    assert set(made._candidates.graph_label.tolist()) <= {0, 1}
    assert set(made._candidates.sizes.tolist()) <= set(made.real.train.sizes.tolist())
    assert len(made.explain(measure=False)) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"heads": 5}, "width 64 cannot be shared out over 5 heads"),
        ({"beta": -1.0}, "beta is -1.0; it must be 0 or a number above 0"),
        ({"latent": 0}, "latent is 0; it must be at least 1"),
        ({"joint": "yes"}, "joint is 'yes'; give True or False"),
        ({"edge_threshold": "desnity"}, "did you mean 'density'"),
        ({"training": None}, "training is None; give a TrainingConfig"),
    ],
)
def test_bad_settings_are_named(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(DignnError, match=said):
        GraphVAESettings(**wrong)  # type: ignore[arg-type]
