"""A policy from its name and strength: the one place where a name becomes an object.

Text (`switchout.text`), training (`switchout.runs.noise`), the drop-ins and `policy_from_dict` all
come here.
"""

from __future__ import annotations

import logging
from typing import Any

from switchout.errors import did_you_mean
from switchout.policies.chain import Chain
from switchout.policies.hamming import Hamming
from switchout.policies.hamming_policy import HammingPolicy
from switchout.policies.pair import Pair
from switchout.policies.policy import Policy, RulePolicy
from switchout.policies.raml import RAML
from switchout.policies.similar import Similar
from switchout.policies.similarity_table import SimilarityTable
from switchout.policies.switchout import SwitchOut
from switchout.policies.word_dropout import WordDropout
from switchout.words import Words

log = logging.getLogger(__name__)

POLICIES: dict[str, type[Policy]] = {
    kind.name: kind for kind in (SwitchOut, RAML, Hamming, WordDropout, Similar, Chain)
}
NAMES = ["switchout", "raml", "hamming", "word_dropout", "similar"]  # that have one strength
OF_SIDE = {"source": "switchout", "target": "raml"}  # where nobody names a policy
TOO_MUCH = 0.49  # share of changed words beyond which little is left; 0.5 as tau goes to infinity
USUAL_LENGTH = 25
USUAL = " (usual: tau 0.5 to 1.1)"
USABLE = {  # what to take instead, where that range is another's
    "hamming": "; a rate of 0.1, or rescaled = true in a configuration, is usable",
    "word_dropout": "; a rate of 0.1 is usable",
}


def make_policy(
    name: str,
    words: Words,
    *,
    tau: float | None = None,
    rate: float | None = None,
    rescaled: bool = False,
    null_id: int = 0,
    table: SimilarityTable | None = None,
) -> RulePolicy:
    """Return the policy of a name at a temperature, or at a share of changed words.

    Args:
        name: One of `NAMES`.
        words: Which ids are words.
        tau, rate: Temperature, or expected share of changed words; exactly one of them.
        rescaled: Of ``hamming``: see `Hamming.rescaled`.
        null_id: Of ``word_dropout``: what a dropped word becomes.
        table: Of ``similar``: what each word may become.

    Example:
        >>> make_policy("switchout", Words(32000), tau=1.0)
        SwitchOut(tau=1.0)
        >>> make_policy("hamming", Words(32000), rate=0.1).expected_changes(10).round(6)
        np.float64(1.0)
    """
    if name not in NAMES:
        raise ValueError(f"no policy {name!r}{did_you_mean(str(name), NAMES)}")
    if (tau is None) == (rate is None):
        both = "" if tau is None else ", not both"
        raise ValueError(f"policy {name!r} needs either tau or rate{both}")
    if rescaled and (name != "hamming" or tau is None):
        raise ValueError("'rescaled' belongs to tau of the policy 'hamming'")
    if name == "similar":
        return _similar(words, tau, table)
    if name == "word_dropout":
        if rate is None:
            return WordDropout.for_tau(words, tau=tau, null_id=null_id)  # type: ignore[arg-type]
        return WordDropout(words, rate=rate, null_id=null_id)
    if name == "hamming":
        return _hamming(words, tau, rate, rescaled)
    kind = SwitchOut if name == "switchout" else RAML
    return kind(words, tau, rate=rate)


def expected_share(policy: Policy) -> float | None:
    """Return the share of words of a usual sentence that change; None: no closed form.

    Example:
        >>> round(expected_share(SwitchOut(Words(32000), tau=1.0)), 3)
        0.023
    """
    if not isinstance(policy, HammingPolicy):
        return None
    return float(policy.expected_changes(USUAL_LENGTH)) / USUAL_LENGTH


def warn_if_too_much(policy: Policy, where: str) -> None:
    """Say so when a policy changes about half of the words of a usual sentence, or more."""
    share = expected_share(policy)
    if share is not None and share > TOO_MUCH:
        log.warning(
            "warning: %s: %s changes %.1f%% of the words%s",
            where, policy.name, 100 * share, USABLE.get(policy.name, USUAL),
        )  # fmt: skip


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
    if name == "chain":
        return Chain(*(policy_from_dict(part) for part in settings["policies"]))
    if name not in NAMES:
        known = [*NAMES, "chain", "pair"]
        raise ValueError(f"unknown policy {name!r}{did_you_mean(str(name), known)}")
    words = Words(**settings.pop("words"))
    if "table" in settings:
        settings["table"] = SimilarityTable(words, **settings["table"])
    return make_policy(name, words, **settings)


def _similar(words: Words, tau: float | None, table: SimilarityTable | None) -> Similar:
    if tau is None:
        raise ValueError("policy 'similar' needs tau, not rate")
    if table is None:
        raise ValueError("policy 'similar' needs a table of similar words")
    return Similar(words, table, tau=tau)


def _hamming(words: Words, tau: float | None, rate: float | None, rescaled: bool) -> Hamming:
    if tau is None:
        assert rate is not None  # `make_policy` has checked that there is one of them
        return Hamming.for_rate(words, rate=rate)
    return Hamming.rescaled(words, tau) if rescaled else Hamming(words, tau)
