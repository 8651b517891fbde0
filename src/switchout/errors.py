"""The one exception for a user's mistake: its text is all that the command line prints."""

from __future__ import annotations


class SwitchOutError(ValueError):
    """Bad input. The message names the file, line or key, and says what to do, in one line."""


def did_you_mean(word: str, choices: list[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for a near miss, else the list of what exists."""
    from difflib import get_close_matches

    # The first of the names that it begins: of two that are as near, difflib takes the last.
    begun = [choice for choice in choices if choice.startswith(f"{word}_")]
    near = begun or get_close_matches(word, choices, n=1)
    return f" (did you mean {near[0]!r}?)" if near else f" (choose from: {', '.join(choices)})"
