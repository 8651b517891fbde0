"""Augmentation policies: exact distributions over sentences, sampled at addresses.

The three steps of equation 2 for each: sample, say how probable, describe yourself as plain data.
"""

from __future__ import annotations

from typing import Any

from switchout.errors import did_you_mean
from switchout.policies.base import HammingPolicy, Policy
from switchout.policies.chain import Chain
from switchout.policies.hamming import Hamming
from switchout.policies.pair import Pair
from switchout.policies.raml import RAML
from switchout.policies.similar import Similar
from switchout.policies.similarity import SimilarityTable
from switchout.policies.stream import Stream
from switchout.policies.switchout import SwitchOut
from switchout.policies.word_dropout import WordDropout
from switchout.words import Words

POLICIES: dict[str, type[Policy]] = {
    kind.name: kind for kind in (SwitchOut, RAML, Hamming, WordDropout, Similar, Chain)
}

__all__ = [
    "POLICIES",
    "RAML",
    "Chain",
    "Hamming",
    "HammingPolicy",
    "Pair",
    "Policy",
    "Similar",
    "Stream",
    "SwitchOut",
    "WordDropout",
    "policy_from_dict",
]


def policy_from_dict(data: dict[str, Any]) -> Any:
    """Return the policy (or `Pair`) that ``to_dict`` described.

    Example:
        >>> policy_from_dict(SwitchOut(Words(9), tau=0.5).to_dict())
        SwitchOut(tau=0.5)
    """
    settings = dict(data)
    name = settings.pop("policy", None)
    if name == "pair":
        return Pair(**{side: p and policy_from_dict(p) for side, p in settings.items()})
    if name not in POLICIES:
        raise ValueError(f"unknown policy {name!r}{did_you_mean(str(name), [*POLICIES, 'pair'])}")
    if name == "chain":
        return Chain(*(policy_from_dict(part) for part in settings["policies"]))
    settings["words"] = words = Words(**settings["words"])
    if "table" in settings:
        settings["table"] = SimilarityTable(words, **settings["table"])
    return POLICIES[name](**settings)
