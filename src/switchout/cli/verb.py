"""A verb is a plain function: its parameters are the options, its docstring is the help.

* An option is an ``Annotated`` type with an `Option`; a parameter that is a dataclass stands for
  its fields, so that verbs share declarations. Its ``GROUP`` is their heading in the help.
* The help of all verbs has one look: ``-h``, every default, values with names that say what they
  are, options in groups, 80 columns, what follows ``Example`` in the docstring at the end.
* The library speaks of parameters; in its errors the command line puts the flags of the verb.

Click does the parsing. (Typer, which reads such functions too, loads pydantic for it: 0.1 s.)
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click

from switchout.errors import listed, nearest
from switchout.ranges import Real, Whole

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 80}
METAVARS = {Path: "FILE", int: "N", float: "NUMBER", str: "TEXT"}
WIDEST_NAME = 24  # columns; the help of longer ones begins on the next line
Sections = dict[str, list[tuple[click.Parameter, str]]]


class Option:
    """How an option is spelt and explained.

    Args:
        help: A sentence.
        names: Its flags, by default that of the parameter's name, and what its value is called.
        limits: What numbers it takes.
        unit: Its number is multiplied by this.

    Example:
        >>> from typing import Annotated
        >>> def count(workers: Annotated[int, Option("Threads.", limits=Whole(1, 8))] = 1): ...
    """

    def __init__(
        self, help: str, *names: str, limits: Whole | Real | None = None, unit: int | None = None
    ):
        self.help = help
        self.flags = tuple(name for name in names if name.startswith("-"))
        self.metavar = next((name for name in names if not name.startswith("-")), None)
        self._limits, self._unit = limits, unit

    def checked(self, context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        """Return the value, or refuse it by its flag."""
        if value is None or self._limits is None:
            return value
        number = self._limits.check(value, flag_of(parameter))
        return number if self._unit is None else int(number * self._unit)

    def made(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return it for click."""
        kind, is_list = _value_of(kind)
        given = default is not inspect.Parameter.empty
        flags = self.flags or (f"--{name.replace('_', '-')}",)
        if kind is bool and not self.flags:
            flags = (f"{flags[0]}/--no-{flags[0][2:]}",)
        settings: dict[str, Any] = {"default": default} if given and default is not None else {}
        return click.Option(
            [name, *flags],
            help=self.help,
            metavar=None if kind is bool else self.metavar or METAVARS.get(kind),
            type=_type_of(kind, self.metavar),
            is_flag=kind is bool or None,  # False: its value must not begin with a dash
            multiple=is_list,
            required=not given,
            # That a flag is off, and a text empty, goes without saying.
            show_default=given and default is not False and default != "",
            callback=self.checked,
            **settings,
        )


class Argument(Option):
    """A word without a flag: what it is called, and what it is."""

    def __init__(self, metavar: str, help: str):
        super().__init__(help, metavar)

    def made(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return it for click."""
        kind, is_list = _value_of(kind)
        required = default is inspect.Parameter.empty
        return click.Argument(
            [name],
            metavar=self.metavar if required else f"[{self.metavar}]",
            type=_type_of(kind, self.metavar),
            nargs=-1 if is_list else 1,
            required=required,
        )


def _value_of(kind: Any) -> tuple[Any, bool]:
    """Return the type of one value, and whether there may be several.

    Example:
        >>> _value_of(list[str] | None)
        (<class 'str'>, True)
    """
    if NoneType in get_args(kind):
        kind = next(part for part in get_args(kind) if part is not NoneType)
    return (get_args(kind)[0], True) if get_origin(kind) is list else (kind, False)


def _type_of(kind: Any, metavar: str | None) -> Any:
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if kind is Path or metavar in ("FILE", "DIR"):  # it must not exist: whoever opens it complains
        return click.Path(path_type=kind, readable=False)
    return kind


def flag_of(parameter: click.Parameter) -> str:
    """Return the long spelling of an option."""
    return max(parameter.opts, key=len)


class Family(click.Group):
    """Verbs of two words; who types only the first is told what may follow."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a missing word."""
        if not args and not ctx.resilient_parsing:  # as while a shell asks for completions
            ctx.fail(f"Missing command: {', '.join(self.commands)}")
        return super().parse_args(ctx, args)


class Verb(click.Command):
    """A command whose help lists its options in groups."""

    sections: Sections

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a value that is given twice: click would forget the first without a word."""
        if not ctx.resilient_parsing:
            try:
                _, _, given = self.make_parser(ctx).parse_args(list(args))
            except click.NoSuchOption as error:
                raise click.NoSuchOption(_as_typed(error.option_name, args), ctx=ctx) from None
            once = [
                one for one in given
                if isinstance(one, click.Option) and not (one.multiple or one.is_flag)
            ]  # fmt: skip
            for one in once:
                if once.count(one) > 1:
                    ctx.fail(f"{flag_of(one)} is given twice")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then a section for each group of options."""
        groups = {
            title: [_record(parameter, help, ctx) for parameter, help in parameters]
            for title, parameters in self.sections.items()
        }
        help_option = self.get_help_option(ctx)
        assert help_option is not None
        groups.setdefault("Options", []).append(_record(help_option, "", ctx))
        longest = max(len(names) for records in groups.values() for names, _ in records)
        width = min(WIDEST_NAME, longest)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl([(n.ljust(width), text) for n, text in records], col_max=width)


def _as_typed(option: str, words: list[str]) -> str:
    """Return the word that an unknown option is from: of ``-tau-x`` click names only ``-t``."""
    if len(option) == 2:
        option = next((word for word in words if word.startswith(option)), option)
    return option.partition("=")[0]


def _record(parameter: click.Parameter, help: str, ctx: click.Context) -> tuple[str, str]:
    if isinstance(parameter, click.Argument):
        return parameter.metavar or "", help
    return parameter.get_help_record(ctx) or ("", "")


def parser_of(verb: str) -> click.Command:
    """Return the parser of a verb: the function of its name in the module of its name.

    A module with ``COMMANDS`` is a family of verbs, as ``switchout data`` is.
    """
    module = import_module(f"switchout.cli.{verb}")
    family = getattr(module, "COMMANDS", None)
    if family is None:
        return _command(verb, getattr(module, verb))
    commands: dict[str, click.Command] = {
        name: _command(name, function) for name, function in family.items()
    }
    about = (module.__doc__ or "").partition(": ")[2].capitalize()
    return Family(verb, commands, help=about, context_settings=SETTINGS)


def commands_of(verb: str) -> dict[str, click.Command]:
    """Return the commands of a verb by what one types: itself, or all of its family.

    Example:
        >>> list(commands_of("data"))
        ['data list', 'data get', 'data prepare']
    """
    parser = parser_of(verb)
    if not isinstance(parser, click.Group):
        return {verb: parser}
    return {f"{verb} {name}": command for name, command in parser.commands.items()}


def _command(name: str, function: Callable[..., Any]) -> Verb:
    sections: Sections = {}
    parts: dict[str, Any] = {}
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            parts[parameter.name] = kind
            title = getattr(kind, "GROUP", "Options")
            sections.setdefault(title, []).extend(_fields(kind))
        else:
            option, help = _declared(parameter, kind)
            title = "Arguments" if isinstance(option, click.Argument) else "Options"
            sections.setdefault(title, []).append((option, help))

    def call(**values: Any) -> Any:
        for name, value in values.items():
            if isinstance(value, tuple):  # of an option that may be repeated
                values[name] = list(value) or None
        for name, kind in parts.items():
            values[name] = kind(**{field.name: values.pop(field.name) for field in fields(kind)})
        return function(**values)

    above, below = _texts(function)
    parameters = [option for options in sections.values() for option, _ in options]
    verb = Verb(name, SETTINGS, call, parameters, help=above, epilog=below)
    verb.sections = sections
    return verb


def _fields(group: Any) -> Iterator[tuple[click.Parameter, str]]:
    hints = get_type_hints(group, include_extras=True)
    for parameter in inspect.signature(group).parameters.values():
        yield _declared(parameter, hints[parameter.name])


def _declared(parameter: inspect.Parameter, annotated: Any) -> tuple[click.Parameter, str]:
    kind, option = get_args(annotated)
    return option.made(parameter.name, kind, parameter.default), option.help


def _texts(function: Callable[..., Any]) -> tuple[str, str]:
    """Return what stands above the options and, from the examples on, what stands below."""
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    first = [text.startswith("Example") for text in paragraphs].index(True)
    # \b: the lines of a paragraph stay as they are
    marked = [f"\b\n{text}" if "\n  " in text else text for text in paragraphs]
    return "\n\n".join(marked[:first]), "\n\n".join(marked[first:])


def first_example(command: click.Command) -> str:
    """Return the first command among the examples of a verb's help, in one line.

    Example:
        >>> first_example(parser_of("export"))[:16]
        'switchout export'
    """
    examples = [line.strip() for line in (command.epilog or "").replace("\\\n", "").split("\n")]
    return next(" ".join(line.split()) for line in examples if line.startswith("switchout "))


def flags_of(parameters: Iterable[click.Parameter]) -> list[str]:
    """Return all spellings of options, those that switch off included.

    Example:
        >>> [flag for flag in flags_of(parser_of("train").params) if "restart" in flag]
        ['--restart', '--no-restart']
    """
    options = (parameter for parameter in parameters if isinstance(parameter, click.Option))
    return [flag for option in options for flag in (*option.opts, *option.secondary_opts)]


def near_flags(name: str, context: click.Context) -> str:
    """Return ``" Did you mean …?"``: all flags that a name begins, else the nearest one.

    Example:
        >>> train = click.Context(parser_of("train"))
        >>> near_flags("--tau", train)
        " Did you mean '--tau-x' (source) or '--tau-y' (target)?"
        >>> near_flags("--config", train)
        ' CONFIG is given without a flag.'
    """
    parameters = context.command.get_params(context)
    if argument := _argument_called(name.lstrip("-"), parameters):
        return f" {argument} is given without a flag."
    flags = flags_of(parameters)
    if len(name) > 2:  # -tau-x is --tau-x
        name = f"--{name.lstrip('-')}"
    begun = [flag for flag in flags if flag.startswith(name)]
    if name == "--version":
        begun = ["switchout --version"]
    sides = {"-x": " (source)", "-y": " (target)"}
    near = [f"{flag!r}{sides.get(flag[-2:], '')}" for flag in begun or _nearest_flags(name, flags)]
    return f" Did you mean {listed(near, 'or')}?" if near else ""


def _nearest_flags(name: str, flags: Sequence[str]) -> list[str]:
    """Return the nearest flags; that all begin with dashes makes none of them near."""
    near = nearest(name.lstrip("-"), [flag.lstrip("-") for flag in flags])
    return [flag for flag in flags if flag.lstrip("-") in near]


def _argument_called(name: str, parameters: Iterable[click.Parameter]) -> str:
    """Return the argument somebody took for an option, as the help calls it; empty: none."""
    for parameter in parameters:
        shown = (parameter.metavar or "").strip("[]")
        names = [parameter.name, *re.findall("[a-z]+", shown.lower())]
        if isinstance(parameter, click.Argument) and name in names:
            return shown
    return ""


def with_flags(message: str, verb: str) -> str:
    """Put flags where a message of the library names parameters.

    A name with an underscore is surely one; others must stand before ``=`` or ``must be``. What
    stands after ``=`` or a quotation mark is somebody's value, whatever it looks like.

    Example:
        >>> with_flags("engine=x: unknown; parts= needs part_bytes", "augment")
        '--engine x: unknown; --parts needs --part-mb'
        >>> with_flags("overrides=tau_x=1: unknown key 'tau_x'", "train")
        "--set tau_x=1: unknown key 'tau_x'"
    """
    flags = {
        parameter.name or "": flag_of(parameter)
        for command in commands_of(verb).values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }
    sure, maybe = (
        "|".join(name for name in flags if ("_" in name) == is_sure) or "(?!)"  # nothing matches
        for is_sure in (True, False)
    )
    name = rf"(?<![\w/.='-])(?:({sure})(?![\w/.-])|({maybe})(?==| must be\b))"
    value = r"(?:=True\b|(=(?=[^\s,;:]))|=)?"

    def flag(found: re.Match[str]) -> str:
        return f"{flags[found[1] or found[2]]}{' ' if found[3] else ''}"

    return re.sub(name + value, flag, message)
