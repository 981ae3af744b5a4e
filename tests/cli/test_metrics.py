"""``dignn metrics``: the published values through the command line, other tools' odd files, and one sentence each."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dignn.cli.main import main
from dignn.metrics.measures.cosine import mean_cosine

PARITY = os.environ.get("DIGNN_PARITY")
needs_parity = pytest.mark.skipif(not PARITY, reason="needs the published graphs; set DIGNN_PARITY to their folder")
MMD = ("node_type", "degree", "clustering", "spectral")
PATH = {"n": 3, "edges": [[0, 1], [1, 2]], "types": [0, 1, 0]}
STAR = {"n": 4, "edges": [[0, 1], [0, 2], [0, 3]], "types": [1, 0, 0, 0]}
TRIANGLE = {"n": 3, "edges": [[0, 1], [1, 2], [2, 0]], "types": [0, 0, 0]}


class Command:
    """Writes files and runs the command on them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys

    def graphs(self, name: str, graphs: list[Any]) -> str:
        (self.folder / name).write_text(json.dumps({"graphs": graphs}))
        return str(self.folder / name)

    def table(self, name: str, **arrays: Any) -> str:
        np.savez(self.folder / name, **arrays)
        return str(self.folder / name)

    def __call__(self, *arguments: str) -> dict[str, Any]:
        """The JSON object that the command prints and nothing else."""
        assert main(["metrics", *arguments, "--json"]) == 0
        found: dict[str, Any] = json.loads(self._capsys.readouterr().out)
        return found

    def refused(self, *arguments: str) -> str:
        """The one sentence of a command that ends with exit code 2."""
        assert main(["metrics", *arguments, "--json"]) == 2
        printed = self._capsys.readouterr()
        assert printed.out == ""
        assert printed.err.count("\n") == 1
        return printed.err

    def text(self, *arguments: str) -> str:
        assert main(["metrics", *arguments]) == 0
        return self._capsys.readouterr().out


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, capsys)


# -- the published values -----------------------------------------------------------------------------


def published() -> tuple[dict[str, Any], dict[str, Any]]:
    if not PARITY:
        return {"explanations": {}}, {}
    return tuple(json.loads((Path(PARITY) / name).read_text()) for name in ("graphs.json", "expected.json"))  # type: ignore[return-value]


GRAPHS, EXPECTED = published()


@needs_parity
@pytest.mark.parametrize(
    ("dataset", "explainer"), [(name, other) for name, several in GRAPHS["explanations"].items() for other in several]
)
def test_published_values(command: Command, dataset: str, explainer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is published about this one, and it takes longer than all others together.
    monkeypatch.setattr("dignn.metrics.measures.graph_c2st.graph_c2st", lambda *_, **__: None)
    real = command.graphs("real.json", GRAPHS["real"][dataset])
    motifs = GRAPHS["motifs"][dataset]
    found = []
    for name, graphs in GRAPHS["explanations"][dataset][explainer].items():
        own = command.graphs("motifs.json", motifs[name] if name in motifs else motifs["common"])
        found.append(command(real, command.graphs("generated.json", graphs), "--motifs", own))
    expected = EXPECTED["mmd"][dataset][explainer]
    for metric in MMD:
        values = [layers["paper"]["mmd"][metric] for layers in found]
        if metric in expected:
            tolerance = 2e-3 if metric == "spectral" else 1e-6
            assert values == pytest.approx(expected[metric]["per_class"], abs=tolerance)
        if metric == "spectral":
            assert np.mean(values) == pytest.approx(expected["spectral_clipped"]["mean"], abs=1e-6)
    sound = [layers["sound"]["mmd"]["spectral"] for layers in found]
    assert np.mean(sound) == pytest.approx(expected["spectral_eigenvalue_units_sigma0.1_clipped"]["mean"], abs=1e-6)
    faithful = EXPECTED["gf"][dataset][explainer]
    assert [layers["paper"]["gf"] for layers in found] == pytest.approx(faithful["induced"]["per_class"], abs=1e-12)
    if "induced_typed" in faithful:
        typed = [layers["sound"]["typed_gf"] for layers in found]
        assert typed == pytest.approx(faithful["induced_typed"]["per_class"], abs=1e-12)


# -- graphs -------------------------------------------------------------------------------------------


def test_the_names_of_the_contract(command: Command) -> None:
    file = command.graphs("one.json", [PATH] * 3)
    found = command(file, file)
    assert set(found) == {"paper", "sound"}
    assert found["paper"] == {
        "mmd": dict.fromkeys(MMD, pytest.approx(0, abs=1e-12)),
        "cosine": None,
        "pf": None,
        "gf": None,
    }
    sound = found["sound"]
    assert list(sound["mmd"]) == list(MMD)
    assert sound["yield"] == 1
    assert sound["features"] is None
    assert sound["graphs"] == {"novelty": 0.0, "uniqueness": 0.0, "c2st": None}
    others = {"typed_gf", "contrast", "pf_in_distribution", "coverage", "planted", "missing_rates", "fidelity"}
    assert set(sound) - {"yield", "mmd", "features", "graphs"} == others
    assert {sound[name] for name in others} == {None}


def test_yield_novelty_uniqueness_and_motifs_by_hand(command: Command) -> None:
    apart = {"n": 3, "edges": [[0, 1]], "types": [0, 1, 0]}  # not connected
    turned = {"n": 3, "edges": [[0, 1], [0, 2]], "types": [1, 0, 0]}  # the path again
    unknown = {"n": 1, "edges": [], "types": [2]}  # a type that real graphs do not have
    empty = {"n": 0, "edges": [], "types": []}
    real = command.graphs("real.json", [PATH, STAR])
    made = command.graphs("made.json", [turned, STAR, TRIANGLE, apart, unknown, empty, TRIANGLE, TRIANGLE])
    motifs = command.graphs("motifs.json", [PATH, {"n": 2, "edges": [[0, 1]], "types": [0, 0]}])
    found = command(real, made, "--motifs", motifs)
    assert found["sound"]["yield"] == 2 / 8
    assert found["sound"]["graphs"]["novelty"] == 5 / 7
    assert found["sound"]["graphs"]["uniqueness"] == 4 / 7
    # paths are in the path and the star (types ignored), edges in all but the last two
    assert found["paper"]["gf"] == (2 + 2 + 3 * 1 + 1) / 16
    assert found["sound"]["typed_gf"] == (1 + 1 + 3 * 1 + 0) / 16


def test_types_may_be_left_out(command: Command) -> None:
    def untyped(graph: dict[str, Any]) -> dict[str, Any]:
        return {"n": graph["n"], "edges": graph["edges"]}

    def zeros(graph: dict[str, Any]) -> dict[str, Any]:
        return {**graph, "types": [0] * graph["n"]}

    some = [PATH, STAR, TRIANGLE]
    real = command.graphs("real.json", some)
    for motifs in ([PATH], [untyped(PATH)]):
        shapes = command.graphs("motifs.json", motifs)
        without, with_zeros = (
            command(real, command.graphs("made.json", [change(graph) for graph in some]), "--motifs", shapes)
            for change in (untyped, zeros)
        )
        assert without == with_zeros
        assert without["paper"]["mmd"]["degree"] == pytest.approx(0, abs=1e-12)
        assert without["sound"]["mmd"]["node_type"] > 0.01
    swapped = command(command.graphs("made.json", [untyped(graph) for graph in some]), real)
    assert swapped["paper"]["mmd"] == pytest.approx(without["paper"]["mmd"], abs=1e-12)


def test_how_a_graph_is_written_does_not_matter(command: Command) -> None:
    real = command.graphs("real.json", [STAR, TRIANGLE, PATH])
    twice = {"n": 4.0, "edges": [[3, 0], [0, 1], [1, 0], [0, 2], [0.0, 2]], "types": [1.0, 0, 0, 0], "name": "star"}
    marked = command.folder / "made.json"
    text = json.dumps({"graphs": [twice, {**PATH, "types": None}], "tool": "other"})
    marked.write_text(text, encoding="utf-8-sig")
    one = command(real, str(marked))
    assert one == command(real, command.graphs("other.json", [STAR, {**PATH, "types": [0, 0, 0]}]))


def test_self_loops(command: Command) -> None:
    loop = {"n": 2, "edges": [[0, 1], [1, 1]]}
    plain = {"n": 2, "edges": [[0, 1]]}
    real, made = command.graphs("real.json", [plain]), command.graphs("made.json", [loop])
    found = command(real, made)
    # degrees 1, 1 against 1, 3: the earth mover's distance is 1
    assert found["paper"]["mmd"]["degree"] == pytest.approx(2 - 2 * np.exp(-0.5))
    assert found["sound"]["graphs"]["novelty"] == 1
    assert found["sound"]["yield"] == 1
    assert command(made, real)["sound"]["graphs"]["novelty"] == 1


def test_empty_graphs_are_dropped(command: Command) -> None:
    real = command.graphs("real.json", [PATH, STAR, {"n": 0, "edges": []}])
    with_empty = command(real, command.graphs("made.json", [TRIANGLE, PATH, {"n": 0, "edges": []}]))
    without = command(real, command.graphs("made.json", [TRIANGLE, PATH]))
    assert with_empty["paper"] == without["paper"]
    assert with_empty["sound"]["mmd"] == without["sound"]["mmd"]
    assert with_empty["sound"]["yield"] == without["sound"]["yield"] * 2 / 3


@pytest.mark.parametrize("graphs", [[], [{"n": 0, "edges": []}]])
def test_nothing_was_generated(command: Command, graphs: list[Any]) -> None:
    real = command.graphs("real.json", [PATH])
    found = command(real, command.graphs("made.json", graphs), "--motifs", real)
    assert set(found["paper"]["mmd"].values()) == {None}
    assert found["sound"]["graphs"] == {"novelty": None, "uniqueness": None, "c2st": None}
    assert found["sound"]["yield"] == found["paper"]["gf"] == (0 if graphs else None)


def test_hundreds_of_graphs_of_different_sizes(command: Command) -> None:
    rng = np.random.default_rng(0)

    def graph() -> dict[str, Any]:
        size = int(rng.integers(1, 40))
        edges = rng.integers(0, size, (int(rng.integers(0, 60)), 2)).tolist()
        return {"n": size, "edges": edges, "types": rng.integers(0, 5, size).tolist()}

    files = [command.graphs(f"{name}.json", [graph() for _ in range(150)]) for name in ("real", "made")]
    found = command(*files)
    assert 0.3 < found["sound"]["graphs"]["c2st"] < 0.7
    assert all(0 <= value < 0.03 for value in found["sound"]["mmd"].values())


def test_a_table_for_people(command: Command) -> None:
    real, made = command.graphs("real.json", [PATH, STAR]), command.graphs("made.json", [TRIANGLE])
    found, shown = command(real, made), command.text(real, made)
    assert "made.json against real.json" in shown
    assert f"{found['paper']['mmd']['degree']:.6f}" in shown
    assert "novelty" in shown
    assert "contrast" not in shown  # what does not apply


# -- feature tables -----------------------------------------------------------------------------------


def test_feature_tables(command: Command) -> None:
    rng = np.random.default_rng(0)
    real, made = (rng.random((200, 6)) < share for share in (0.3, 0.4))
    files = command.table("real.npz", x=real.astype(np.int8)), command.table("made.npz", x=made.astype(float))
    found = command("--features", *files)
    assert found == command(*files, "--features", "--kind", "binary")
    features = found["sound"]["features"]
    assert set(features) == {"column_error", "pair_error", "row_density", "c2st", "memorisation"}
    assert features["column_error"] == pytest.approx(np.abs(real.mean(0) - made.mean(0)).mean())
    assert features["memorisation"] is None
    unit = [table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9) for table in (real, made)]
    assert found["paper"]["cosine"] == pytest.approx((unit[1] @ unit[0].T).mean())
    assert set(found["paper"]["mmd"].values()) == {None}
    assert "cosine" in command.text("--features", *files)


def test_generated_rows_of_another_kind_are_compared_all_the_same(command: Command) -> None:
    rng = np.random.default_rng(0)
    real, made = (rng.random((50, 4)) < 0.5).astype(float), rng.random((60, 4))
    files = command.table("real.npz", x=real), command.table("made.npz", x=made)
    found = command("--features", *files)
    assert found["paper"]["cosine"] == pytest.approx(mean_cosine(made, real))
    assert found == command("--features", *files, "--kind", "continuous")
    assert "made.npz" in command.refused("--features", *files, "--kind", "binary")


def test_real_rows_that_are_all_equal(command: Command) -> None:
    files = command.table("real.npz", x=np.ones((20, 3))), command.table("made.npz", x=np.zeros((20, 3)))
    found = command("--features", *files)
    assert found["sound"]["features"]["column_error"] == 1
    assert found["paper"]["cosine"] == 0


# -- refusals -----------------------------------------------------------------------------------------


def test_a_graph_file_that_is_wrong_is_named(command: Command) -> None:
    good = command.graphs("good.json", [PATH])
    bad = command.graphs("bad.json", [{"n": 1, "edges": [[0, 1]]}])
    for arguments in ((bad, good), (good, bad), (good, good, "--motifs", bad)):
        message = command.refused(*arguments)
        assert "bad.json" in message
        assert "good.json" not in message


@pytest.mark.parametrize("graphs", [[], [{"n": 0, "edges": []}]])
def test_nothing_to_compare_with(command: Command, graphs: list[Any]) -> None:
    good, none = command.graphs("good.json", [PATH]), command.graphs("none.json", graphs)
    assert "none.json holds no graph with nodes" in command.refused(none, good)
    assert "none.json holds no graph with nodes" in command.refused(good, good, "--motifs", none)


def test_a_table_that_is_none_is_named_without_advice_to_unpickle_it(command: Command) -> None:
    good, other = command.table("good.npz", x=np.eye(3)), command.graphs("other.json", [PATH])
    message = command.refused("--features", good, other)
    assert "other.json is no .npz file; write it with numpy.savez" in message
    assert "pickle" not in message


@pytest.mark.filterwarnings("error")
def test_values_out_of_range_are_named_and_none_inside_gives_a_warning(command: Command) -> None:
    rng = np.random.default_rng(0)
    good, large = (command.table(f"{name}.npz", x=rng.random((30, 2)) * 9e29) for name in ("good", "large"))
    found = command("--features", good, large)["sound"]["features"]
    assert 0 <= found["column_error"] <= 1
    beyond = command.table("beyond.npz", x=np.full((30, 2), 1e300))
    assert "beyond.npz: x holds values beyond 1e+30" in command.refused("--features", good, beyond)


def test_tables_of_different_widths_are_named(command: Command) -> None:
    files = command.table("real.npz", x=np.eye(3)), command.table("made.npz", x=np.ones((2, 4)))
    message = command.refused("--features", *files)
    assert "made.npz has 4 columns" in message
    assert "real.npz 3" in message


def test_options_that_do_not_go_together(command: Command) -> None:
    good = command.graphs("good.json", [PATH])
    assert "--kind" in command.refused(good, good, "--kind", "binary")
    table = command.table("table.npz", x=np.eye(3))
    assert "--motifs" in command.refused("--features", table, table, "--motifs", good)
