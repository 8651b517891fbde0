"""SwitchOut and its relatives: exact augmentation policies for translation data.

Wang, Pham, Dai, Neubig: "SwitchOut: an Efficient Data Augmentation Algorithm for Neural Machine
Translation" (EMNLP 2018). No framework is imported here; names load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchout.errors import SwitchOutError
    from switchout.policies import (
        RAML,
        Chain,
        Hamming,
        Pair,
        Policy,
        Similar,
        Stream,
        SwitchOut,
        WordDropout,
        policy_from_dict,
    )
    from switchout.policies.maxent import MaxEnt
    from switchout.policies.rewards import raml_bleu, raml_edit_distance
    from switchout.policies.similarity_table import SimilarityTable
    from switchout.policies.switchout import switch_out
    from switchout.text import LineAugmenter, augment_files, augment_lines
    from switchout.words import Words

_HOME = {
    "Words": "words",
    "switch_out": "policies.switchout",
    "SwitchOutError": "errors",
    "MaxEnt": "policies.maxent",
    "SimilarityTable": "policies.similarity_table",
    "raml_bleu": "policies.rewards",
    "raml_edit_distance": "policies.rewards",
    "augment_files": "text",
    "augment_lines": "text",
    "LineAugmenter": "text",
    **dict.fromkeys(
        (
            "Chain",
            "Hamming",
            "Pair",
            "Policy",
            "RAML",
            "Similar",
            "Stream",
            "SwitchOut",
            "WordDropout",
            "policy_from_dict",
        ),
        "policies",
    ),
}

__all__ = [  # noqa: RUF022 (in the order of the documentation)
    "Words",
    "switch_out",
    "SwitchOut",
    "Hamming",
    "WordDropout",
    "RAML",
    "Similar",
    "SimilarityTable",
    "Chain",
    "Pair",
    "Policy",
    "Stream",
    "policy_from_dict",
    "MaxEnt",
    "raml_bleu",
    "raml_edit_distance",
    "augment_files",
    "augment_lines",
    "LineAugmenter",
    "SwitchOutError",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("switchout")
    if name not in _HOME:
        raise AttributeError(f"module 'switchout' has no attribute {name!r}")
    value = getattr(import_module(f"switchout.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
