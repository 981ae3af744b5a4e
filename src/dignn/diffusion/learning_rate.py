"""How the learning rate goes: it rises, stays, and falls to zero; the fall can begin earlier than planned."""

from __future__ import annotations

import math

from dignn.diffusion.settings import TrainingConfig


class Schedule:
    """The learning rate of a training, as a share of the full one.

    Args:
        config: how it goes.
        steps: that are planned.

    Attributes:
        end: the step before which training ends.
    """

    def __init__(self, config: TrainingConfig, steps: int) -> None:
        self._config, self._rising = config, config.warm_up * steps
        self._fall = (1 - config.settle) * steps if config.settle else self._rising  # where the fall begins
        self.end = steps

    def rate(self, step: int) -> float:
        """The share at a step."""
        if step < self._rising:
            return (step + 1) / (self._rising + 1)
        if step < self._fall or not self._config.cosine:
            return 1.0
        return 0.5 * (1 + math.cos(math.pi * (step - self._fall) / (self.end - self._fall)))

    def shorten(self, step: int) -> None:
        """Ends a training that gets no better: at once where the rate does not settle, else by a fall that begins now.

        A fall that has begun goes on as it is. It takes the planned share of all steps, so that a training that was
        shortened ends as one that was planned to be as short.
        """
        settle = self._config.settle
        if not settle:
            self.end = min(self.end, step)
        elif step < self._fall:
            self._fall = float(step)
            self.end = min(self.end, math.ceil(step / (1 - settle)) if settle < 1 else step)
