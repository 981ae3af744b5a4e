"""Multinomial diffusion of a discrete table as TabDDPM has it: columns change towards uniform noise."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.core.devices import Device, at_work
from dignn.core.files import put_under, under
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.diffusion.categorical import CategoricalNoise
from dignn.diffusion.samplers import of_state, reverse, reverse_given
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.features.given import NOTHING_GIVEN, Given
from dignn.features.learning import even_times, train_on_rows
from dignn.features.levels import Levels
from dignn.features.mlp import context_columns
from dignn.features.settings import TabDDPMConfig
from dignn.features.tabddpm.network import new_denoiser
from dignn.features.table import Table


class MultinomialTable:
    """Learns a table by multinomial diffusion of the values that exist in each column.

    A column with k values has k - 1 *slots*: the network sees 1 in the slot of its value and -1 in others, and gives
    the logit of each slot's value against the column's first value. So a binary column enters as one centred bit.

    Args:
        config: settings.
        device: where it learns and samples.
    """

    def __init__(self, config: TabDDPMConfig, device: Device = "auto") -> None:
        self.config, self._device = config, device

    def fit(self, table: Table, seed: Seed, tick: Tick) -> dict[str, Any]:
        """Learns and returns a report. The table has at least one column with two values."""
        self._set_levels(Levels.of(table.rows))
        own = seed.child("network")
        self._network = new_denoiser(len(self._slot_column), table.classes + 1, self.config, own, table.known)
        self._start_from_frequencies(table)

        def loss(rows: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None) -> Tensor:
            clean = self._levels.encode(rows)
            signal = cosine_signal(even_times(rows, generator))
            noisy = self._noise.corrupt(clean, signal[:, None], generator)
            return F.cross_entropy(self._logits(noisy, signal, label, context), clean)

        batch, training = self.config.batch, self.config.training
        with self.at_work():
            return train_on_rows(self._network, table, loss, batch, training, seed=seed, tick=tick).to_json()

    def at_work(self) -> AbstractContextManager[torch.device]:
        """Inside, the table is on the device where it learns and samples."""
        return at_work(self, self._network, self.config.batch, self._device)

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """A row for each label (m,).  (m, d)"""
        label, given = label.to(self._padded.device), given.to(self._padded.device)

        def predict(noisy: Tensor, signal: float) -> Tensor:
            now = torch.full((len(label),), signal, device=label.device)
            chance = self._logits(noisy, now, label, given.context).softmax(1).transpose(1, 2)
            return self._levels.certain(chance.contiguous(), given.fixed)

        start = self._noise.prior((len(label), len(self._levels.values)), generator)
        if given.fixed is not None:
            made = reverse_given(self._noise, start, predict, generator=generator)
        else:
            grid = time_grid(self.config.sampler_steps)
            noises, state = {"table": self._noise}, {"table": start}
            made = reverse(noises, state, of_state(predict), grid, generator=generator)["table"]
        return self._levels.decode(made)

    @property
    def chunk_cells(self) -> int:
        """Numbers that sampling holds for each row."""
        return max(self.config.width, self._levels.values.numel())

    # -- helpers --------------------------------------------------------------------------------------

    def _set_levels(self, levels: Levels) -> None:
        self._levels = levels
        there = levels.values.isfinite()
        self._noise = CategoricalNoise(there / there.sum(1, keepdim=True))
        self._slot_column, place = there[:, 1:].nonzero(as_tuple=True)
        self._slot_code = place + 1
        # Logits of all values before the network's are put in: 0 for a first value, none for padding.
        self._padded = torch.where(there, 0.0, -torch.inf).T.contiguous()

    def _logits(self, noisy: Tensor, signal: Tensor, label: Tensor, context: Tensor | None) -> Tensor:
        """(B, d), (B,), (B,), (B, k) -> (B, K, d), which is faster than (B, d, K) to normalise"""
        bits = (noisy[:, self._slot_column] == self._slot_code).float() * 2 - 1
        logits = self._padded.repeat(len(noisy), 1, 1)
        logits[:, self._slot_code, self._slot_column] = self._network(bits, signal, label, context)
        return logits

    def _start_from_frequencies(self, table: Table) -> None:
        """The first prediction: each column's own distribution."""
        count = torch.zeros(self._levels.values.shape, dtype=torch.float64)
        for rows, weight in zip(table.rows.split(1024), table.weight.double().split(1024), strict=True):
            code = self._levels.encode(rows)
            row, column = code.nonzero(as_tuple=True)
            count.index_put_((column, code[row, column]), weight[row], accumulate=True)
        logit = count.log() - (table.weight.double().sum() - count.sum(1, keepdim=True)).log()
        with torch.no_grad():
            self._network.leave.bias.copy_(logit[self._slot_column, self._slot_code])

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        return put_under("network.", self._network.state_dict()) | {"levels": self._levels.packed}

    def restore(self, tensors: dict[str, Tensor], labels: int) -> None:
        self._set_levels(Levels.unpacked(tensors["levels"]))
        known = context_columns(under("network.", tensors))
        self._network = new_denoiser(len(self._slot_column), labels, self.config, Seed(0), known)
        self._network.load_state_dict(under("network.", tensors))
        self._network.eval()
