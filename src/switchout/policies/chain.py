"""Policies one after another on a side."""

from __future__ import annotations

from typing import Any, ClassVar

from switchout.policies.policy import Policy
from switchout.sampling.address import MAX_SLOTS


class Chain(Policy):
    """Apply policies one after another, each with randomness of its own.

    Only sampling: a sentence can come about in many ways, so its probability has no closed form.

    Example:
        >>> import switchout as so
        >>> words = so.Words(32000)
        >>> so.Chain(so.SwitchOut(words, tau=1.0), so.WordDropout(words, rate=0.1))
        Chain(SwitchOut(tau=1.0), WordDropout(rate=0.1, null_id=0))
    """

    name: ClassVar[str] = "chain"

    def __init__(self, *policies: Policy) -> None:
        if not policies:
            raise ValueError("Chain needs at least one policy")
        for policy in policies:
            if not isinstance(policy, Policy):
                raise TypeError(f"Chain takes policies, got {policy!r}")
        self.policies = policies
        self.steps = tuple(step for policy in policies for step in policy.steps)
        if len(self.steps) > MAX_SLOTS:
            raise ValueError(f"at most {MAX_SLOTS} policies can be chained, got {len(self.steps)}")

    def to_dict(self) -> dict[str, Any]:
        return {"policy": self.name, "policies": [policy.to_dict() for policy in self.policies]}

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.policies))})"
