"""RAML as the paper runs it: Algorithm 1 on the target side."""

from __future__ import annotations

from typing import ClassVar

from switchout.policies.switchout import SwitchOut


class RAML(SwitchOut):
    """Algorithm 1 on the target side, as RAML is run in the paper's experiments.

    The exact policy of appendix A.2 with negative Hamming distance is `Hamming`.
    """

    name: ClassVar[str] = "raml"
    default_side: ClassVar[str] = "target"
