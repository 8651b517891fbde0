"""The policies a configuration names, over the words of its vocabularies."""

from __future__ import annotations

from typing import Any

from switchout.corpora.vocabulary import PAD, Vocabulary
from switchout.errors import SwitchOutError
from switchout.experiments.config import Augment, Side


def build_noise(augment: Augment, source: Vocabulary, target: Vocabulary) -> Any:
    """Return the `switchout.Pair` of both sides' policies, or None where neither has one."""
    if augment.source.policy == augment.target.policy == "none":
        return None
    from switchout import Pair

    return Pair(
        source=_policy(augment.source, source, "augment.source"),
        target=_policy(augment.target, target, "augment.target"),
    )


def _policy(side: Side, vocabulary: Vocabulary, key: str) -> Any:
    if side.policy == "none":
        return None
    from switchout import policy_from_dict

    words = vocabulary.words(unk_is_word=side.unk_is_word)
    description: dict[str, Any] = {"policy": side.policy, "words": words.to_dict()}
    if side.policy == "word_dropout":
        description["null_id"] = PAD
    description |= {"tau": side.tau} if side.tau is not None else {"rate": side.rate}
    try:
        return policy_from_dict(description)
    except (ValueError, TypeError) as error:
        raise SwitchOutError(f"[{key}] {error}") from None
