"""Gaussian diffusion of a table: continuous columns, or discrete ones that are rounded afterwards."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from dignn.core.devices import Device, at_work
from dignn.core.files import put_under, under
from dignn.core.progress import Tick
from dignn.core.seeds import Seed
from dignn.diffusion import gaussian
from dignn.diffusion.inpainting import Move, inpaint
from dignn.diffusion.schedule import cosine_signal, time_grid
from dignn.features.ditabddpm.sparse_values import normalised
from dignn.features.given import NOTHING_GIVEN, Given
from dignn.features.learning import even_times, train_on_rows
from dignn.features.levels import Levels
from dignn.features.mlp import context_columns
from dignn.features.settings import TabDDPMConfig
from dignn.features.tabddpm.network import new_denoiser
from dignn.features.tabddpm.scaling import PIECE, SCALINGS, Scaling, Standard, restored_scaling
from dignn.features.tabddpm.whitening import Whitening, common_length
from dignn.features.table import Table

# Up to so many columns a network learns them as they are.
WIDE_DENSE = 64


class GaussianTable:
    """Learns a table by Gaussian diffusion. Columns with one value are left out and come back as they are.

    Args:
        config: settings.
        rounded: whether values are moved to the nearest existing one of their column (discrete columns).
        device: where it learns and samples.
    """

    def __init__(self, config: TabDDPMConfig, rounded: bool, device: Device = "auto") -> None:
        self.config, self._device = config, device
        # Ranks of discrete columns would be spread at random; the paper's baseline takes their values.
        self._kind: type[Scaling] = Standard if rounded else SCALINGS[config.transform]
        self._rounded = rounded
        self._levels: Levels | None = None
        self._whitens = not rounded and config.transform != "standard"
        self._whitening: Whitening | None = None

    def fit(self, table: Table, seed: Seed, tick: Tick) -> dict[str, Any]:
        """Learns and returns a report. The table has at least one column with two values."""
        rows = table.rows
        self._varying = (rows.amin(0) < rows.amax(0)).nonzero()[:, 0]
        self._constant = rows[0].clone()
        rows = rows[:, self._varying]
        # Discrete columns are rounded once, to the values that exist: twice would shift what lies half-way.
        self._scaling = self._kind.of(rows, table.weight, whole=not self._rounded)
        self._levels = Levels.of(rows) if self._rounded else None
        spread = seed.child("spread").torch()
        values = torch.cat([self._scaling.encode(some, spread) for some in rows.split(PIECE)])
        self._length = 0.0
        if not self._rounded:
            self._length = common_length(table.rows)
        if self._whitens and len(self._varying) > WIDE_DENSE:
            self._whitening = Whitening.of(values, table.weight, seed.child("directions").torch())
            values = self._whitening.encode(values)
        self._bounds = values.amin(0), values.amax(0)
        own = seed.child("network")
        learned = values.size(1) if self._whitening is None else self._whitening.learned
        self._network = new_denoiser(learned, table.classes + 1, self.config, own, table.known, values=learned)

        def loss(clean: Tensor, label: Tensor, generator: torch.Generator, context: Tensor | None) -> Tensor:
            signal = cosine_signal(even_times(clean, generator))
            noisy, noise = gaussian.corrupt(clean, signal[:, None], generator)
            wanted = gaussian.target(self.config.prediction, clean, noise, signal[:, None])
            return (self._network(noisy, signal, label, context) - wanted).square().mean()

        table = replace(table, rows=values[:, :learned])
        batch, training = self.config.batch, self.config.training
        with self.at_work():
            return train_on_rows(self._network, table, loss, batch, training, seed=seed, tick=tick).to_json()

    def at_work(self) -> AbstractContextManager[torch.device]:
        """Inside, the table is on the device where it learns and samples."""
        return at_work(self, self._network, self.config.batch, self._device)

    def sample(self, label: Tensor, generator: torch.Generator, given: Given = NOTHING_GIVEN) -> Tensor:
        """A row for each label (m,).  (m, d)

        Fixed columns are noise that becomes what is given on the way, and at each step the others see them as they are
        at that noise.
        """
        label, given = label.to(self._varying.device), given.to(self._varying.device)
        known, mask = self._known(given, generator)
        learned, whitening = self._network.enter.in_features, self._whitening
        put = None if mask is None or whitening is None else whitening.known(known, mask)

        def predict(noisy: Tensor, signal: float) -> Tensor:
            now = noisy.new_full((len(noisy),), signal)
            predicted = self._network(noisy[:, :learned], now, label, given.context)
            clean = gaussian.clean_of(self.config.prediction, predicted, noisy[:, :learned], now[:, None])
            rest = now[:, None].sqrt() * noisy[:, learned:]  # what is expected of normal values
            clean = torch.cat([clean, rest], dim=1)
            if mask is None:
                return clean
            return torch.where(mask, known, clean) if put is None else put(clean)

        # Directions that are not learned need no walk, unless what is fixed says something about them.
        width = learned if mask is None else len(self._bounds[0])
        start = torch.randn(len(label), width, generator=generator).to(label.device)
        if mask is None:
            grid, rule = time_grid(self.config.sampler_steps), self.config.sampler
            bounds = self._bounds[0][:learned], self._bounds[1][:learned]
            values = gaussian.reverse(start, predict, grid, generator=generator, rule=rule, bounds=bounds)
            values = values if whitening is None else whitening.complete(values, generator)
        else:
            values = inpaint(start, *_moves(predict, self._bounds, generator))
        rows = self._scaling.decode(values if whitening is None else whitening.decode(values))
        if self._levels is not None:
            rows = self._levels.nearest(rows)
        out = self._constant.repeat(len(label), 1)
        out[:, self._varying] = rows
        return normalised(out, 2, self._length) if self._length else out

    def _known(self, given: Given, generator: torch.Generator) -> tuple[Tensor, Tensor | None]:
        """Fixed columns as they are diffused, and which they are; None for none of them."""
        if given.fixed is None:
            return self._constant, None
        fixed = given.fixed.only(self._varying)
        return self._scaling.encode(
            fixed.values.where(fixed.mask, self._constant[self._varying]), generator
        ), fixed.mask

    @property
    def chunk_cells(self) -> int:
        """Numbers that sampling holds for each row."""
        return max(self.config.width, len(self._constant))

    # -- files ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Tensor]:
        tensors = {"varying": self._varying, "constant": self._constant}
        tensors |= {"bounds.least": self._bounds[0], "bounds.greatest": self._bounds[1]}
        tensors |= put_under("scaling.", vars(self._scaling))
        if self._levels is not None:
            tensors["levels"] = self._levels.packed
        tensors["length"] = torch.tensor([self._length], dtype=torch.float64)
        if self._whitening is not None:
            tensors |= put_under("whitening.", vars(self._whitening))
        return tensors | put_under("network.", self._network.state_dict())

    def restore(self, tensors: dict[str, Tensor], labels: int) -> None:
        self._varying, self._constant = tensors["varying"], tensors["constant"]
        self._bounds = tensors["bounds.least"], tensors["bounds.greatest"]
        self._scaling = restored_scaling(under("scaling.", tensors))
        self._levels = Levels.unpacked(tensors["levels"]) if self._rounded else None
        white = under("whitening.", tensors)
        self._whitening = Whitening(**white) if white else None
        self._length = float(tensors["length"])
        known = context_columns(under("network.", tensors))
        learned = len(self._varying) if self._whitening is None else self._whitening.learned
        self._network = new_denoiser(learned, labels, self.config, Seed(0), known, values=learned)
        self._network.load_state_dict(under("network.", tensors))
        self._network.eval()


def _moves(
    predict: gaussian.PredictClean, bounds: tuple[Tensor, Tensor], generator: torch.Generator
) -> tuple[Move[Tensor], Move[Tensor]]:
    """A step towards clean values, and one back."""

    def step(noisy: Tensor, signal: Tensor, earlier: Tensor) -> Tensor:
        clean = predict(noisy, float(signal)).clamp(*bounds)
        return gaussian.posterior_step(noisy, clean, signal, earlier, generator)

    def back(noisy: Tensor, signal: Tensor, later: Tensor) -> Tensor:
        return gaussian.forward_step(noisy, signal, later, generator)

    return step, back
