"""Policies one after another on a side."""

from __future__ import annotations

from typing import Any, ClassVar

from switchout.policies.base import Policy
from switchout.sampling.address import Address
from switchout.sampling.backends import Array
from switchout.sampling.philox import MAX_SLOTS


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
        self.n_slots = sum(policy.n_slots for policy in policies)
        if self.n_slots > MAX_SLOTS:
            raise ValueError(f"at most {MAX_SLOTS} policies can be chained, got {self.n_slots}")

    def sample_at(
        self,
        tokens: Array,
        address: Address,
        *,
        example_ids: Any,
        frozen: Array | None = None,
        lengths: Any = None,
        out: Array | None = None,
    ) -> Array:
        if lengths is not None:
            raise TypeError("a Chain counts the words anew before each policy: leave lengths out")
        slot = address.slot
        for policy in self.policies:
            here = Address(address.seed, address.epoch, address.side, slot)
            tokens = policy.sample_at(tokens, here, example_ids=example_ids, frozen=frozen, out=out)
            slot += policy.n_slots
        return tokens

    def to_dict(self) -> dict[str, Any]:
        return {"policy": self.name, "policies": [policy.to_dict() for policy in self.policies]}

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.policies))})"
