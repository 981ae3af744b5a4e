"""Gaussian and multinomial diffusion of a mixed table together, as TabDDPM has it: codes and values at the same time.

Codes change towards their frequencies in the class, values towards normal noise, and one network sees both and predicts
both. As in marginal diffusion it adds to what is known of a code without it: log m(k) + log q(x_t | k) for a code k of
frequency m(k). A value is learned only where its code says that it counts.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from dignn.core.devices import Device, at_work
from dignn.core.files import put_under, under
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.diffusion import gaussian
from dignn.diffusion.categorical import CategoricalNoise, draw
from dignn.diffusion.inpainting import inpaint
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.features.given import NOTHING_GIVEN, Given
from dignn.features.learning import even_times, train_on_rows
from dignn.features.mlp import context_columns
from dignn.features.settings import TabDDPMConfig
from dignn.features.tabddpm.decomposition import Decomposition
from dignn.features.tabddpm.network import new_denoiser
from dignn.features.tabddpm.scaling import SCALINGS
from dignn.features.table import Table

# Steps in which codes and values are made; on tables of worlds 4 and 5, 50 made rows that were told no worse.
MIXED_STEPS = 24
# A class's frequencies are mixed with those of all rows as if so many more rows had been seen.
_BORROWED = 1.0

Noisy = tuple[Tensor, Tensor]
"""Codes (m, U) long and values (m, V)."""


class MixedTable:
    """Learns a table of several kinds of columns.

    Args:
        config: settings.
        device: where it learns and samples.
    """

    def __init__(self, config: TabDDPMConfig, device: Device = "auto") -> None:
        self.config, self._device = config, device

    # -- learning -------------------------------------------------------------------------------------

    def fit(self, table: Table, seed: Seed, tick: Tick) -> dict[str, Any]:
        """Learns and returns a report. The table has at least one column with two values."""
        self._decomposition = parts = Decomposition.of(table, SCALINGS[self.config.transform])
        code, values = parts.encode(table.rows, seed.child("spread").torch())
        self._set_slots()
        self._marginal = self._frequencies(code, table)
        self._bounds = values.amin(0), values.amax(0)
        self._new_network(table.classes + 1, seed.child("network"), table.known)

        def loss(rows: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None) -> Tensor:
            clean, value = rows[:, : code.size(1)].long(), rows[:, code.size(1) :]
            signal = cosine_signal(even_times(rows, generator))
            marginal = self._marginal[label]
            noisy = CategoricalNoise(marginal).corrupt(clean, signal[:, None], generator)
            counts = clean[:, self._valued] == self._other
            # What does not count is noise all the way, as it is when rows are made.
            value = torch.where(counts, value, gaussian.standard_normal(value, generator))
            blurred, noise = gaussian.corrupt(value, signal[:, None], generator)
            logits, velocity = self._predict((noisy, blurred), signal, label, context, marginal)
            wanted = gaussian.target("velocity", value, noise, signal[:, None])
            error = ((velocity - wanted).square() * counts).sum(1)
            missed = F.cross_entropy(logits.flatten(0, 1), clean.flatten(), reduction="sum") / len(rows)
            return (missed + error.mean()) / rows.size(1)

        learned = replace(table, rows=torch.cat([code.float(), values], dim=1))
        batch, training = self.config.batch, self.config.training
        with self.at_work():
            return train_on_rows(self._network, learned, loss, batch, training, seed=seed, tick=tick).to_json()

    def at_work(self) -> AbstractContextManager[torch.device]:
        """Inside, the table is on the device where it learns and samples."""
        return at_work(self, self._network, self.config.batch, self._device)

    def _set_slots(self) -> None:
        """A unit with k codes has k - 1 slots, as in :class:`MultinomialTable`."""
        codes = self._decomposition.codes
        there = torch.arange(max(codes)) < torch.tensor(codes)[:, None]  # (U, K)
        self._there, self._valued, self._other = there, self._decomposition.valued, self._decomposition.other
        first = torch.zeros_like(there)
        first[:, 0] = True
        self._slot = (there & ~first).flatten().nonzero()[:, 0]

    def _new_network(self, labels: int, seed: Seed, context: int) -> None:
        values = len(self._valued)
        size = len(self._slot) + values
        self._network = new_denoiser(size, labels, self.config, seed, context, values=values)

    def _frequencies(self, code: Tensor, table: Table) -> Tensor:
        """How often each unit has each code, by label.  (L, U, K)"""
        units, most = self._there.shape
        count = torch.zeros(table.classes + 1, units, most, dtype=torch.float64)
        weight = table.label_weight
        for value in range(most):
            count[:, :, value] = weight @ (code == value).double()
        count += _BORROWED * table.weight.double().mean() * count[-1:] / count[-1:].sum(2, keepdim=True)
        return (count / count.sum(2, keepdim=True)).float()

    def _predict(
        self, noisy: Noisy, signal: Tensor, label: Tensor, context: Tensor | None, marginal: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Logits of clean codes (B, U, K), -inf for codes that a unit does not have, and velocities (B, V)."""
        code, values = noisy
        unit, slot = self._slot // self._there.size(1), self._slot % self._there.size(1)
        bits = (code[:, unit] == slot).float() * 2 - 1
        said = self._network(torch.cat([bits, values], dim=1), signal, label, context)
        out = marginal.new_zeros(len(code), self._there.numel()).index_copy(1, self._slot, said[:, : len(self._slot)])
        index = code[..., None]
        here = marginal.gather(2, index)  # m(x_t)
        seen = (1 + signal[:, None, None] / ((1 - signal[:, None, None]) * here).clamp_min(1e-9)).log()
        return out.view_as(marginal) + marginal.log().scatter_add(2, index, seen), said[:, len(self._slot) :]

    # -- sampling -------------------------------------------------------------------------------------

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """A row for each label (m,).  (m, d)"""
        known = self._known(given, generator)
        label, given = label.to(self._there.device), given.to(self._there.device)
        marginal = self._marginal[label]
        noise = CategoricalNoise(marginal)

        def predict(noisy: Noisy, signal: Tensor) -> Noisy:
            """Probabilities of clean codes, and expected clean values."""
            now = noisy[1].new_full((len(label),), float(signal))
            logits, velocity = self._predict(noisy, now, label, given.context, marginal)
            clean = gaussian.clean_of("velocity", velocity, noisy[1], now[:, None]).clamp(*self._bounds)
            return known(logits.softmax(-1), clean)

        def step(noisy: Noisy, signal: Tensor, earlier: Tensor) -> Noisy:
            chance, clean = predict(noisy, signal)
            if float(earlier) < 1:
                chance = noise.posterior(noisy[0], chance, signal.to(label.device), earlier.to(label.device))
            if given.fixed is None:
                return draw(chance, generator), flow.step(noisy[1], clean, signal, earlier)
            return draw(chance, generator), gaussian.posterior_step(noisy[1], clean, signal, earlier, generator)

        def back(noisy: Noisy, signal: Tensor, later: Tensor) -> Noisy:
            place = label.device
            code = noise.renoise(noisy[0], signal.to(place), later.to(place), generator)
            return code, gaussian.forward_step(noisy[1], signal, later, generator)

        flow = gaussian.Flow()
        start = noise.prior((len(label), len(self._there)), generator)
        state = start, torch.randn(len(label), len(self._valued), generator=generator).to(label.device)
        if given.fixed is not None:
            state = inpaint(state, step, back)
        else:
            for signal, earlier in pairwise(cosine_signal(time_grid(MIXED_STEPS))):
                state = step(state, signal, earlier)
        return self._decomposition.decode(state[0].cpu(), state[1].cpu())

    def _known(self, given: Given, generator: torch.Generator) -> Any:
        """What puts fixed columns into predicted codes and values: a function of both.

        A unit is fixed where all its columns are, or, of a category with a column for each value, where the one that
        is 1 is.
        """
        if given.fixed is None:
            return lambda chance, clean: (chance, clean)
        parts, fixed = self._decomposition, given.fixed
        rows = fixed.values.where(fixed.mask, parts.constant)
        code, value = parts.encode(rows, generator)
        allowed = parts.allowed(fixed)  # (m, U, K) codes that agree with what is fixed
        single = allowed.sum(2) == 1
        code = torch.where(single, allowed.float().argmax(2), code)
        place = self._there.device
        allowed, value = allowed.to(place), value.to(place).clamp(*self._bounds)
        column = torch.tensor([int(parts.units[unit].columns[0]) for unit in parts.valued.tolist()], dtype=torch.long)
        counts = ((code[:, parts.valued] == parts.other) & fixed.mask[:, column]).to(place)

        def put(chance: Tensor, clean: Tensor) -> Noisy:
            kept = (chance + 1e-12) * allowed
            return kept / kept.sum(2, keepdim=True), torch.where(counts, value, clean)

        return put

    @property
    def chunk_cells(self) -> int:
        """Numbers that sampling holds for each row."""
        return max(self.config.width, self._there.numel() + len(self._valued))

    def context(self, rows: Tensor) -> Tensor:
        """Rows as a context of others: bits and values.  (m, slots + V)"""
        code, values = self._decomposition.encode(rows, torch.Generator().manual_seed(0))
        unit, slot = self._slot // self._there.size(1), self._slot % self._there.size(1)
        return torch.cat([(code[:, unit] == slot).float(), values], dim=1)

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        tensors = {"marginal": self._marginal, "bounds.least": self._bounds[0], "bounds.greatest": self._bounds[1]}
        tensors |= put_under("parts.", self._decomposition.state())
        return tensors | put_under("network.", self._network.state_dict())

    def restore(self, tensors: dict[str, Tensor], labels: int) -> None:
        self._decomposition = Decomposition.restored(under("parts.", tensors))
        self._set_slots()
        self._marginal = tensors["marginal"]
        self._bounds = tensors["bounds.least"], tensors["bounds.greatest"]
        self._new_network(labels, Seed(0), context_columns(under("network.", tensors)))
        self._network.load_state_dict(under("network.", tensors))
        self._network.eval()
