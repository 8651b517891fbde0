"""Augmentation policies: exact distributions over sentences, sampled at addresses.

The three steps of equation 2 for each: sample, say how probable, describe yourself as plain data.
"""

from __future__ import annotations

from switchout.policies.chain import Chain
from switchout.policies.factory import POLICIES, make_policy, policy_from_dict
from switchout.policies.hamming import Hamming
from switchout.policies.hamming_policy import HammingPolicy
from switchout.policies.pair import Pair
from switchout.policies.policy import Policy
from switchout.policies.raml import RAML
from switchout.policies.similar import Similar
from switchout.policies.stream import Stream
from switchout.policies.switchout import SwitchOut
from switchout.policies.word_dropout import WordDropout

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
    "make_policy",
    "policy_from_dict",
]
