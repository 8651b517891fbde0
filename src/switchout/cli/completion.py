"""``switchout completion``: what a shell needs to complete verbs and options."""

from __future__ import annotations

import os
from typing import Annotated

import click
from click.shell_completion import ShellComplete, get_completion_class

from switchout.cli.verb import Argument, parser_of
from switchout.errors import SwitchOutError

VARIABLE = "_SWITCHOUT_COMPLETE"  # set by the shell while it asks; cli.run looks for it
SHELLS = ("bash", "zsh", "fish")


def completion(shell: Annotated[str, Argument("SHELL", "bash, zsh or fish.")]) -> None:
    """Print a script that completes verbs and options in your shell.

    Example:
      switchout completion bash > ~/.switchout-completion
      echo 'source ~/.switchout-completion' >> ~/.bashrc
    """
    if shell not in SHELLS:
        raise SwitchOutError(f"no completion for {shell!r}: choose from {', '.join(SHELLS)}")
    print(_completer(shell, []).source())


def answer(verbs: list[str]) -> int:
    """Print the completions that the shell asks for; they need the parsers of all verbs."""
    shell = os.environ[VARIABLE].partition("_")[0]
    print(_completer(shell, verbs).complete())
    return 0


def _completer(shell: str, verbs: list[str]) -> ShellComplete:
    """Return what serves a shell: one parser with all verbs below it."""
    kind = get_completion_class(shell)
    assert kind is not None
    family = click.Group("switchout", {verb: parser_of(verb) for verb in verbs})
    return kind(family, {}, "switchout", VARIABLE)
