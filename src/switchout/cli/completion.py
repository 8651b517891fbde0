"""``switchout completion``: what a shell needs to complete verbs and options."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from switchout.errors import SwitchOutError

VARIABLE = "_SWITCHOUT_COMPLETE"  # set by the shell while it asks; cli.run looks for it
SHELLS = ("bash", "zsh", "fish")
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print a script that completes verbs and options in your shell.

    \b
    Example:
      switchout completion bash > ~/.switchout-completion
      echo 'source ~/.switchout-completion' >> ~/.bashrc
    """
    from typer._completion_shared import get_completion_script

    if shell not in SHELLS:
        raise SwitchOutError(f"no completion for {shell!r}: choose from {', '.join(SHELLS)}")
    print(get_completion_script(prog_name="switchout", complete_var=VARIABLE, shell=shell))


def answer(verbs: list[str]) -> int:
    """Print the completions that the shell asks for; they need the parsers of all verbs."""
    from typer.completion import completion_init  # type: ignore[attr-defined]

    completion_init()
    try:
        _family(verbs).main(prog_name="switchout", complete_var=VARIABLE)
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0
    return 0


def _family(verbs: list[str]) -> Any:
    """Return one parser with all verbs below it."""
    root = typer.Typer(add_completion=False)
    for verb in verbs:
        app = getattr(import_module(f"switchout.cli.{verb}"), "app", None)
        if app is None:
            continue
        if len(app.registered_commands) > 1:
            root.add_typer(app, name=verb)
        else:
            app.registered_commands[0].name = verb
            root.registered_commands += app.registered_commands
    return typer.main.get_command(root)
