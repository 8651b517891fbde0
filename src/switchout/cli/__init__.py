"""The command line: a table of verbs, each a thin file over a Python function.

* A verb's module is imported only when the verb is used, so ``switchout --help`` is instant.
* A user's mistake is one line on stderr and exit code 2, never a traceback.
* Results go to stdout (``--json`` for machines), progress to stderr.
"""

from __future__ import annotations

import os
import sys

from switchout.cli.signals import exit_code, interruptible
from switchout.cli.standard_streams import BROKEN_PIPE, describe, run_with_streams
from switchout.errors import EXTRAS, SwitchOutError, did_you_mean, not_installed

VERBS = {
    "demo": "See it work, in about five minutes.",
    "augment": "Augment a corpus of any size, as text.",
    "preview": "See what a setting does to your sentences.",
    "vocab": "Count the words of a text into a vocabulary.",
    "data": "List, get and prepare corpora.",
    "train": "Train a translation model; the same command resumes.",
    "translate": "Translate lines with a trained run.",
    "export": "Write a run as CTranslate2 or safetensors.",
    "score": "BLEU, chrF and TER of translations.",
    "compare": "Is one system better? Tests over sentences and seeds.",
    "neighbors": "Find the nearest training sentence of every test sentence.",
    "buckets": "Where does it help? By distance, length, rare words.",
    "backtranslate": "Make synthetic pairs from monolingual text.",
    "sweep": "Train every configuration of a grid with several seeds.",
    "reproduce": "The paper's tables and figures, one command each.",
    "report": "The page of a reproduce or sweep, made again.",
    "explore": "A page to play with policies.",
    "completion": "Complete verbs and options in your shell.",
}

ABOUT = ("-h", "--help", "--version")


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code; bad input is one line and 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if "_SWITCHOUT_COMPLETE" in os.environ:
        from switchout.cli import completion

        return completion.answer(list(VERBS))
    if arguments[:1] == ["help"]:  # `switchout help VERB` and `switchout VERB --help` are one
        arguments = [*arguments[1:], "--help"]
    # NumPy's products here are small: its threads gain nothing, and beside other work they spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        with interruptible():
            if not arguments or arguments[0] in ABOUT:
                return _about(arguments)
            return _run_verb(arguments[0], arguments[1:])
    except SwitchOutError as error:
        return _complain(str(error))
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        return _complain(str(not_installed(error.name)))
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        return BROKEN_PIPE
    except OSError as error:
        return _complain(describe(error))
    except UnicodeEncodeError as error:  # a word of the command line that is no text
        return _complain(f"an option is not valid UTF-8 ({error.object[:40]!r})")
    except MemoryError:
        return _complain("not enough memory for this input")
    except KeyboardInterrupt as interrupt:
        return _complain("interrupted", code=exit_code(interrupt))


def _about(arguments: list[str]) -> int:
    """Print the verbs, or the version; the verbs are no answer where one was needed."""
    if arguments[:1] == ["--version"]:
        from importlib.metadata import version

        print(f"switchout {version('switchout')}", flush=True)
        return 0
    print(_overview(), file=sys.stdout if arguments else sys.stderr, flush=True)
    return 0 if arguments else 2


def _run_verb(verb: str, arguments: list[str]) -> int:
    if verb.startswith("-"):
        raise SwitchOutError(_verb_first(verb, arguments))
    if verb not in VERBS:
        raise SwitchOutError(f"no such command {verb!r}{did_you_mean(verb, list(VERBS))}")
    import click

    from switchout.cli.verb import first_example, near_flags, parser_of, with_flags

    command = parser_of(verb)
    try:
        with command.make_context(f"switchout {verb}", arguments) as context:
            result = command.invoke(context)  # command.main would turn a broken pipe into exit 1
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        message = error.format_message()
        if isinstance(error, click.NoSuchOption) and error.ctx is not None:
            name = error.option_name
            message = f"No such option {name!r}.{near_flags(name, error.ctx)}"
        message = message.rstrip(".")
        is_form = isinstance(error, click.MissingParameter) or "unexpected extra" in message
        if is_form and isinstance(error, click.UsageError) and error.ctx is not None:
            message += f", as in: {first_example(error.ctx.command)}"
        return _complain(f"{message} (see 'switchout {verb} --help')")
    except SwitchOutError as error:
        raise SwitchOutError(with_flags(str(error), verb)) from None
    return result if isinstance(result, int) else 0


def _verb_first(option: str, words: list[str]) -> str:
    """Say where options go; of words that are verbs, one may be the value of the option."""
    verbs = [word for word in words if word in VERBS]
    if not option.strip("-"):
        return f"the verb goes first: switchout {[*verbs, 'VERB'][0]} …"
    flag = option.partition("=")[0]
    knowing = [verb for verb in verbs if _knows(verb, flag)]
    return f"options go after the verb: switchout {[*knowing, *verbs, 'VERB'][0]} {option} …"


def _knows(verb: str, flag: str) -> bool:
    from switchout.cli.verb import commands_of, flags_of

    return any(flag in flags_of(command.params) for command in commands_of(verb).values())


def _overview() -> str:
    lines = [
        "Usage: switchout VERB [OPTIONS]",
        "",
        "Noise for translation data: see it, use it, find out whether it helps.",
        "",
        *(f"  {verb:<15}{about}" for verb, about in VERBS.items()),
        "",
        "'switchout help VERB' explains a verb, with an example.",
    ]
    return "\n".join(lines)


def _complain(message: str, *, code: int = 2) -> int:
    print("switchout: " + " ".join(message.split()), file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the ``switchout`` command."""
    sys.exit(run_with_streams(run))
