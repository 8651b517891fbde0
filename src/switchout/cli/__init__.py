"""The command line: a table of verbs, each a thin file over a Python function.

* A verb's module is imported only when the verb is used, so ``switchout --help`` is instant.
* A user's mistake is one line on stderr and exit code 2, never a traceback.
* Results go to stdout (``--json`` for machines), progress to stderr.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version
from typing import Any

import click
import typer

from switchout.errors import SwitchOutError, did_you_mean

VERBS = {
    "augment": "Augment a corpus of any size, as text.",
    "data": "List, get and prepare corpora.",
    "train": "Train a translation model from a TOML file; the same command resumes.",
    "translate": "Translate lines with a trained run.",
    "export": "Write a run as CTranslate2 or safetensors.",
    "score": "BLEU, chrF and TER of translations.",
    "compare": "Is one system really better? Significance over sentences and seeds.",
    "neighbors": "Find the nearest training sentence of every test sentence.",
    "buckets": "Where does it help? Gain by distance, length, rare and unknown words.",
    "backtranslate": "Make synthetic pairs from monolingual text.",
    "sweep": "Train every configuration of a grid with several seeds.",
    "reproduce": "The paper's tables and figures, one command each.",
    "report": "One page about finished runs.",
    "explore": "A page to play with policies.",
}


class LazyVerbs(click.Group):
    """A group whose commands live in ``switchout.cli.<verb>`` as a typer ``app``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from importlib.util import find_spec

        return [verb for verb in VERBS if find_spec(f"switchout.cli.{verb}") is not None]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(ctx):
            hint = did_you_mean(name, self.list_commands(ctx))
            raise click.UsageError(f"no such command {name!r}{hint}")
        command: click.Command = typer.main.get_command(import_module(f"switchout.cli.{name}").app)
        command.name = name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb, VERBS[verb]) for verb in self.list_commands(ctx)])


@click.group(cls=LazyVerbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("switchout"), prog_name="switchout")
def cli() -> None:
    """Data augmentation for translation: sample it, apply it to corpora, prove that it helps."""


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; bad input is one line and 2."""
    try:
        result: Any = cli.main(args=arguments, prog_name="switchout", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "switchout"
        return _complain(f"{error.format_message()} (see '{where} --help')")
    except (SwitchOutError, click.ClickException) as error:
        return _complain(str(error))
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        sys.stderr.close()
        return 141
    except OSError as error:
        return _complain(f"{error.filename or 'file system'}: {error.strerror or error}")
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", code=130)
    return result if isinstance(result, int) else 0


def _complain(message: str, *, code: int = 2) -> int:
    print("switchout: " + " ".join(message.split()), file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the ``switchout`` command."""
    sys.exit(run())
