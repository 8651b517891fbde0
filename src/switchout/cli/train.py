"""``switchout train``: train a run, or go on with it."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from switchout.cli.ranged import within
from switchout.cli.train_extra import needs_train_extra
from switchout.errors import SwitchOutError
from switchout.ranges import TAU, WORKERS
from switchout.runs.config_file import load_config, preset_names, preset_text

app = typer.Typer(add_completion=False, rich_markup_mode=None)
STOPPED = 143  # as the shell reports a process ended by SIGTERM

EXAMPLES = """
\b
Examples:
  switchout train phrasebook --out runs/first
  switchout train --corpus my-de-en --tau-x 1.0 --out runs/mine
  switchout train my.toml --out runs/mine --set train.steps=5000 --set seed=2
  switchout train --print-config en-vi > my.toml
  torchrun --nproc-per-node 2 -m switchout train my.toml --out runs/two
"""


@app.command(epilog=EXAMPLES)
def train(
    config: Annotated[
        str | None, typer.Argument(help="A TOML file, or the name of a preset.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Name, or folder with train.LANG, dev.LANG; settings suit its size."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="LANG", help="With --corpus: language to translate from.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="LANG", help="With --corpus: language to translate to.")
    ] = None,
    tau_x: Annotated[
        float | None,
        typer.Option(
            metavar="TEMPERATURE",
            callback=within(TAU),
            help="SwitchOut on the source; 0: none.",
        ),
    ] = None,
    tau_y: Annotated[
        float | None,
        typer.Option(
            metavar="TEMPERATURE", callback=within(TAU), help="RAML on the target; 0: none."
        ),
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Override one key; repeatable.")
    ] = None,
    restart: Annotated[bool, typer.Option(help="Move an earlier run in --out aside.")] = False,
    init_from: Annotated[
        str | None, typer.Option(metavar="RUN", help="Start from another run's weights.")
    ] = None,
    paper_gpus: Annotated[
        int,
        typer.Option(
            callback=within(WORKERS), help="As the paper on n GPUs: n x batch, steps / n."
        ),
    ] = 1,
    print_config: Annotated[
        str | None, typer.Option(metavar="PRESET", help="Print a preset and stop.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print result.json.")] = False,
) -> int:
    """Train a translation model. The same command again resumes, after whatever happened."""
    if print_config is not None:
        print(preset_text(print_config), end="")
        return 0
    if (config is None and corpus is None) or out is None:
        raise SwitchOutError(
            f"give --out RUN and --corpus FOLDER, a CONFIG.toml or a preset "
            f"({', '.join(preset_names())})"
        )
    if corpus is None and (source is not None or target is not None):
        raise SwitchOutError("--source and --target go with --corpus")
    is_first = os.environ.get("RANK", "0") == "0"  # set by torchrun
    level = logging.INFO if is_first else logging.WARNING
    logging.basicConfig(format="%(message)s", level=level, stream=sys.stderr)
    overrides = [*_noise("source", "switchout", tau_x), *_noise("target", "raml", tau_y)]
    overrides += set or []
    if init_from is not None:
        overrides.append(f"train.init_from={json.dumps(init_from)}")
    wanted = load_config(config, corpus=corpus, languages=(source, target), overrides=overrides)
    wanted = wanted.with_paper_gpus(paper_gpus)
    with needs_train_extra():
        from switchout.runs.train import train as train_run
    result = train_run(wanted, out, restart=restart)
    if is_first:
        _show(result, out, as_json=as_json)
    return 0 if result["state"] == "done" else STOPPED


def _noise(side: str, policy: str, tau: float | None) -> list[str]:
    """Return the override of a side."""
    if tau is None:
        return []
    if tau == 0:
        return [f'augment.{side}={{policy = "none"}}']
    return [f'augment.{side}={{policy = "{policy}", tau = {float(tau)!r}}}']


def _show(result: dict[str, Any], out: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result))
    elif result["state"] == "done":
        print(
            f"{out}: {result['steps']} steps, selected step {result['selected_step']}, "
            f"dev perplexity {result['dev_perplexity']:.2f}, dev BLEU {result['dev_bleu']:.2f}"
            + (f", test BLEU {result['test_bleu']:.2f}" if result["test_bleu"] is not None else "")
        )
        print(result["signature"])
    else:
        print(f"{out}: stopped at step {result['steps']}; the same command goes on from there")
