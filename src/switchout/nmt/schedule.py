"""Learning rate as a pure function of the step, so that a resume has nothing to restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["noam", "steps", "linear", "constant"]


@dataclass(frozen=True)
class Schedule:
    """Learning rate of the 1-based step.

    Attributes:
        kind: ``noam``: the legacy schedule of Vaswani et al. 2017, eq. 3, times ``learning_rate``.
            ``steps``: the paper's (appendix A.4): constant, then multiplied by ``decay`` at step
            ``decay_from`` and again after every ``decay_every`` steps.
            ``linear``: falls to zero just after ``total`` steps. ``constant``: stays.
        learning_rate: The peak, or the factor of ``noam``.
        warmup: Steps over which the rate rises linearly; ``noam`` cannot do without.
        d_model: Width of the model, for ``noam``.
        total: Steps of the run, for ``linear``.

    Example:
        >>> paper = Schedule("steps", learning_rate=0.001)
        >>> [round(paper.rate(step), 8) for step in (1, 7999, 8000, 8999, 9000)]
        [0.001, 0.001, 0.00097, 0.00097, 0.0009409]
    """

    kind: Kind
    learning_rate: float
    warmup: int = 0
    decay: float = 0.97
    decay_every: int = 1000
    decay_from: int = 8000
    d_model: int = 512
    total: int = 100_000

    def rate(self, step: int) -> float:
        """Return the learning rate of 1-based ``step``."""
        if self.kind == "noam":
            rise = step * self.warmup**-1.5
            return float(self.learning_rate * self.d_model**-0.5 * min(step**-0.5, rise))
        return self.learning_rate * min(1.0, step / max(1, self.warmup)) * self._fall(step)

    def _fall(self, step: int) -> float:
        if self.kind == "steps" and step >= self.decay_from:
            return float(self.decay ** ((step - self.decay_from) // self.decay_every + 1))
        if self.kind == "linear":
            left = (self.total + 1 - step) / max(1, self.total + 1 - self.warmup)
            return max(0.0, min(1.0, left))
        return 1.0
