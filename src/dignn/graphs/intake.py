"""Data in any form that users of PyTorch Geometric have: everything below sees one graph, or a list of graphs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, TypeAlias

import torch
from torch.utils.data import DataLoader, Dataset, default_collate, default_convert
from torch_geometric.data import Batch, Data, FeatureStore, GraphStore, HeteroData
from torch_geometric.loader import LinkLoader, NodeLoader, RandomNodeLoader, data_list_loader
from torch_geometric.loader.dataloader import Collater

from dignn.core.errors import SchemaError

Graphs: TypeAlias = Data | HeteroData | list[Data | HeteroData]


def given_graphs(data: Any) -> Graphs:
    """One graph (whose nodes are classified) or a list of graphs (which are classified), from what a user has.

    Args:
        data: a ``Data`` or ``HeteroData``; a list or tuple of them; a ``Batch``, for its graphs; a ``Dataset`` of torch
            or PyTorch Geometric, for its graphs, or for the only one; a ``DataLoader``, for its dataset, and a
            ``NeighborLoader`` or another that samples one graph, for that graph; a pair of a ``FeatureStore`` and a
            ``GraphStore``. What is plain already is returned as it is.

    Raises:
        SchemaError: it is something else than one graph, or graphs of one class; or a loader changes them.
    """
    if isinstance(data, DataLoader):
        return _only(given_graphs(_loaded(data)))
    if isinstance(data, Dataset):
        return _only(given_graphs(_items(data)))
    if isinstance(data, Batch):
        return _checked(_graphs_in(data))
    if isinstance(data, (Data, HeteroData)):
        return data
    if _is_store_pair(data):
        return _assembled(*data)
    if not isinstance(data, Sequence) or isinstance(data, str):
        raise _strange(f"a {type(data).__name__}")
    return _checked([graph for item in data for graph in (_graphs_in(item) if isinstance(item, Batch) else [item])])


def graphs_of(data: Any) -> list[Data | HeteroData]:
    """The graphs that a user gave, in any form, one or many.

    Raises:
        SchemaError: as :func:`given_graphs` does.
    """
    found = given_graphs(data)
    return found if isinstance(found, list) else [found]


def _loaded(loader: DataLoader) -> Any:
    """What a loader loads from, where it hands that over as it is."""
    samples = isinstance(loader, (NodeLoader, LinkLoader, RandomNodeLoader))
    found = loader.data if samples else loader.dataset  # type: ignore[attr-defined]  # such loaders have it
    if not isinstance(found, (Data, HeteroData, Dataset, Sequence)) or isinstance(found, range):
        raise _strange(f"a {type(loader).__name__} over a {type(found).__name__}")
    if samples and getattr(loader, "transform", None) is not None:
        raise SchemaError(
            f"This {type(loader).__name__} has a transform, so the model was trained on other graphs than those it "
            "loads from; apply the transform to the data, and give that"
        )
    if not (samples or _keeps(loader.collate_fn)):
        raise SchemaError(
            f"This {type(loader).__name__} has a collate_fn of its own, so the model may have been trained on other "
            "graphs than those it loads from; give the graphs as the model takes them, as a list or Dataset"
        )
    return found


def _keeps(collate: Any) -> bool:
    """Whether a function that makes batches is known to leave their graphs as they are."""
    plain = (Batch.from_data_list, default_collate, default_convert, data_list_loader.collate_fn)
    return isinstance(collate, Collater) or collate in plain


def _strange(found: str) -> SchemaError:
    return SchemaError(f"The data is {found}; give a Data, a HeteroData, or a list, Dataset or DataLoader of them")


def _checked(graphs: list[Any]) -> list[Data | HeteroData]:
    strange = next((graph for graph in graphs if not isinstance(graph, (Data, HeteroData))), None)
    if strange is not None:
        raise SchemaError(f"The list of graphs holds a {type(strange).__name__}; give Data or HeteroData objects")
    if not graphs:
        raise SchemaError("The list of graphs is empty; give at least one graph")
    if len({isinstance(graph, HeteroData) for graph in graphs}) > 1:
        raise SchemaError("The list mixes Data and HeteroData; give graphs of one class")
    return graphs


def _only(graphs: Graphs) -> Graphs:
    """The graph of a data set that has one: its nodes are classified."""
    return graphs[0] if isinstance(graphs, list) and len(graphs) == 1 else graphs


def _items(dataset: Any) -> list[Any]:
    try:
        return [dataset[number] for number in range(len(dataset))]
    except (TypeError, NotImplementedError):
        raise _strange(f"a {type(dataset).__name__} without a length or numbered items") from None


def _graphs_in(batch: Any) -> list[Data | HeteroData]:
    try:
        return batch.to_data_list()
    except (RuntimeError, TypeError, AttributeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise SchemaError(f"This Batch cannot be taken apart ({reason}); give its graphs as a list") from error


# -- stores -------------------------------------------------------------------------------------------


def _is_store_pair(data: Any) -> bool:
    """Whether it is features and edges of one graph; two graphs are stores, too, and are two graphs."""
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        return False
    graphs = all(isinstance(item, (Data, HeteroData)) for item in data)
    return not graphs and isinstance(data[0], FeatureStore) and isinstance(data[1], GraphStore)


def _assembled(features: FeatureStore, edges: GraphStore) -> Data | HeteroData:
    """The graph whose features and edges these stores hold."""
    tensors, indices = features.get_all_tensor_attrs(), edges.get_all_edge_attrs()
    if not tensors and not indices:
        raise SchemaError("The stores are empty; put tensors and edges into them")
    homogeneous = all(group is None for group in (*(a.group_name for a in tensors), *(a.edge_type for a in indices)))
    graph: Any = Data() if homogeneous else HeteroData()
    for attribute in tensors:
        whole = copy.copy(attribute)
        whole.index = None  # all rows
        store = graph if homogeneous else graph[whole.group_name]
        store[whole.attr_name] = torch.as_tensor(features.get_tensor(whole))
    for attribute in {a.edge_type: a for a in indices}.values():  # one of several layouts of the same edges
        row, column, _ = edges.coo([attribute.edge_type]) if homogeneous else _coo(edges, attribute.edge_type)
        store = graph if homogeneous else graph[attribute.edge_type]
        store.edge_index = torch.stack([row, column])
        ends = (None,) * 2 if homogeneous else (attribute.edge_type[0], attribute.edge_type[-1])
        for end, size in zip(ends, attribute.size or (), strict=False):
            nodes = graph if homogeneous else graph[end]
            if nodes.get("x") is None and size is not None:
                nodes.num_nodes = int(size)
    return graph


def _coo(edges: GraphStore, edge_type: Any) -> tuple[torch.Tensor, torch.Tensor, Any]:
    rows, columns, order = edges.coo([edge_type])
    return rows[edge_type], columns[edge_type], order[edge_type]
