"""What happens to one side of a corpus: plain data that travels to any worker."""

from __future__ import annotations

from dataclasses import dataclass, replace

from switchout.errors import SwitchOutError, did_you_mean
from switchout.policies.base import RulePolicy
from switchout.policies.factory import make_policy
from switchout.text.lexicon import NO_WORDS, Lexicon, word_bytes
from switchout.words import Words

SIDES = ("source", "target")
POLICIES = ["switchout", "raml", "hamming", "word_dropout"]


@dataclass(frozen=True)
class SideNoise:
    """The noise of one side; without policy the side stays as it is.

    Attributes:
        side: "source" or "target".
        policy: One of `POLICIES`, or None.
        tau, rate: Temperature, or share of changed words; exactly one of them.
        lexicon: The known words.
        null_word: What word dropout leaves behind.
        encoder: File of the tokenizer that splits raw text into pieces; None: split already.

    Example:
        >>> SideNoise("source", "switchout", tau=1.0).check()
    """

    side: str
    policy: str | None = None
    tau: float | None = None
    rate: float | None = None
    lexicon: Lexicon = NO_WORDS
    null_word: str = "<unk>"
    encoder: str | None = None

    @property
    def signature(self) -> str:
        """The part of a signature that describes this side."""
        if self.policy is None:
            return "none"
        how = f"tau={self.tau:g}" if self.tau is not None else f"rate={self.rate:g}"
        null = f",null={self.null_word}" if self.policy == "word_dropout" else ""
        encoded = ",encoded" if self.encoder else ""
        return f"{self.policy}({how}{null}),vocab={self.lexicon.digest}{encoded}"

    @property
    def needs_words(self) -> bool:
        """Whether there is noise, but nothing to draw from yet."""
        return self.policy is not None and not self.lexicon.known

    def check(self) -> None:
        """Refuse a wrong policy or parameter before any word is known."""
        if self.policy == "word_dropout":
            word_bytes(self.null_word, "null_word")
        if self.policy is not None:
            self._made(Words(2, special_ids=()))

    def with_lexicon(self, lexicon: Lexicon) -> SideNoise:
        """Return the same noise with words to draw from."""
        if len(lexicon.known) < 2:
            raise SwitchOutError(
                f"{lexicon.name}: holds {len(lexicon.known)} word(s) that may be drawn"
                f" ({lexicon.n_special} special): at least two are needed"
            )
        return replace(self, lexicon=lexicon)

    def made(self) -> RulePolicy | None:
        """Return the policy over the ranks of the known words."""
        return None if self.policy is None else self._made(self.lexicon.words)

    def _made(self, words: Words) -> RulePolicy:
        xy = "x" if self.side == "source" else "y"
        if self.policy not in POLICIES:
            near = did_you_mean(str(self.policy), POLICIES)
            raise SwitchOutError(f"policy_{xy}: no policy {self.policy!r}{near}")
        if (self.tau is None) == (self.rate is None):
            raise SwitchOutError(f"the {self.side} takes either tau_{xy} or rate_{xy}, not both")
        try:
            return make_policy(self.policy, words, tau=self.tau, rate=self.rate)
        except (ValueError, TypeError) as error:
            raise SwitchOutError(f"{self.side}: {error}") from None
