"""``switchout train``: train a run, or go on with it."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

from switchout.cli.options import Direction, Json, Overrides
from switchout.cli.verb import Argument, Option
from switchout.errors import SwitchOutError
from switchout.ranges import SEED, STEPS, TAU, WORKERS, Real
from switchout.runs.config import Config
from switchout.runs.config_file import PRESETS, load_config, preset_names, preset_text, to_toml

SWITCHED = Real(0, 0.5)  # share of words that SwitchOut and RAML can change
STOPPED = 143  # as the shell reports a process ended by SIGTERM


def train(
    config: Annotated[
        str | None,
        Argument(
            "CONFIG",
            "A TOML file, or a preset: de-en, en-de, en-vi and phrasebook with noise on both"
            " sides, multi30k without noise.",
        ),
    ] = None,
    *,
    out: Annotated[Path | None, Option("Folder of the run.", "DIR")] = None,
    corpus: Annotated[
        str | None,
        Option("Name, or folder with train.LANG, dev.LANG; settings suit its size.", "CORPUS"),
    ] = None,
    direction: Direction,
    tau_x: Annotated[
        float | None, Option("SwitchOut on the source; 0: none.", "TEMPERATURE", limits=TAU)
    ] = None,
    tau_y: Annotated[
        float | None, Option("RAML on the target; 0: none.", "TEMPERATURE", limits=TAU)
    ] = None,
    rate_x: Annotated[
        float | None, Option("Instead: share of source words changed.", "R", limits=SWITCHED)
    ] = None,
    rate_y: Annotated[
        float | None, Option("Instead: share of target words changed.", "R", limits=SWITCHED)
    ] = None,
    steps: Annotated[int | None, Option("As --set train.steps=N.", limits=STEPS)] = None,
    seed: Annotated[int | None, Option("As --set seed=N.", limits=SEED)] = None,
    overrides: Overrides = None,
    restart: Annotated[bool, Option("Move an earlier run in --out aside.")] = False,
    init_from: Annotated[str | None, Option("Start from another run's weights.", "RUN")] = None,
    paper_gpus: Annotated[
        int, Option("As the paper on n GPUs: n x batch, steps / n.", limits=WORKERS)
    ] = 1,
    print_config: Annotated[
        bool, Option("Print the settings as TOML and stop.", "--print-config")
    ] = False,
    as_json: Json = False,
) -> int:
    """Train a translation model. The same command again resumes, after whatever happened.

    Examples:
      switchout train phrasebook --out runs/first
      switchout train --corpus my-de-en --tau-x 1.0 --out runs/mine
      switchout train my.toml --out runs/mine --steps 5000 --set model.dropout=0.3
      switchout train --print-config en-vi > my.toml
      switchout train --corpus my-de-en --print-config
      torchrun --nproc-per-node 2 -m switchout train my.toml --out runs/two
    """
    if (config is None and corpus is None) or (out is None and not print_config):
        also = "" if print_config else "--out RUN and "
        raise SwitchOutError(
            f"give {also}--corpus FOLDER, a CONFIG.toml or a preset ({', '.join(preset_names())})"
        )
    languages = direction.source, direction.target
    if corpus is None and languages != (None, None):
        raise SwitchOutError("--source and --target go with --corpus")
    is_first = os.environ.get("RANK", "0") == "0"  # set by torchrun
    level = logging.INFO if is_first else logging.WARNING
    logging.basicConfig(format="%(message)s", level=level, stream=sys.stderr)
    settings = _noise("source", "switchout", tau_x, rate_x)
    settings += _noise("target", "raml", tau_y, rate_y)
    given = {"train.steps": steps, "seed": seed}
    settings += [f"{key}={value}" for key, value in given.items() if value is not None]
    settings += overrides or []
    if init_from is not None:
        settings.append(f"train.init_from={json.dumps(init_from)}")
    wanted = load_config(config, corpus=corpus, languages=languages, overrides=settings)
    wanted = wanted.with_paper_gpus(paper_gpus)
    if print_config:
        print(_as_toml(wanted, config), end="")
        return 0
    assert out is not None  # or it was refused above
    from switchout.runs.train import train as train_run

    result = train_run(wanted, out, restart=restart)
    if is_first:
        _show(result, out, as_json=as_json)
    return 0 if result["state"] == "done" else STOPPED


def _as_toml(config: Config, name: str | None) -> str:
    """Return a configuration as a file; a preset that nothing changed keeps its comments."""
    if name in preset_names() and config == load_config(PRESETS / f"{name}.toml"):
        return preset_text(name)
    return to_toml(config)


def _noise(side: str, policy: str, tau: float | None, rate: float | None) -> list[str]:
    """Return the overrides of a side; what counts as a word stays as the configuration has it."""
    if tau is None and rate is None:
        return []
    if tau is not None and rate is not None:
        xy = "x" if side == "source" else "y"
        raise SwitchOutError(f"the {side} takes either tau_{xy} or rate_{xy}, not both")
    if not tau and not rate:
        return [f'augment.{side}.policy="none"']
    strength = f"rate={rate!r}" if tau is None else f"tau={tau!r}"
    settings = (f'policy="{policy}"', strength, "rescaled=false")
    return [f"augment.{side}.{setting}" for setting in settings]


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
