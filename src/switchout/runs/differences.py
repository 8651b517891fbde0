"""What runs that are compared differ in, besides what is compared: their noise and seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.runs.config_file import deciding_values
from switchout.runs.folder import read_run_config
from switchout.runs.sealed import read_sealed


def differences(systems: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    """Yield a line on other settings than the noise, on every system whose runs have not one noise,
    and on every run that was made longer or shorter.
    """
    settings = {
        name: [deciding_values(read_run_config(run)) for run in runs]
        for name, runs in systems.items()
    }
    every = [values for of_system in settings.values() for values in of_system]
    if told := _differing(every, is_noise=False):
        yield f"besides noise and seed, the runs differ in {told}"
    for name, of_system in settings.items():
        if told := _differing(of_system, is_noise=True):
            yield f"{name}: its runs differ in {told}, so they are not one system with other seeds"
    for run in (run for runs in systems.values() for run in runs):
        path = run / "result.json"
        result = read_sealed(path) if path.is_file() else {}
        if before := ", ".join(map(str, result.get("steps_before", ()))):
            steps = result["steps"]
            yield (
                f"{run}: its steps were {before} before they were {steps}, so it is not a run of "
                f"{steps} steps from the start"
            )


def _differing(settings: Sequence[dict[str, Any]], *, is_noise: bool) -> str:
    """Return the keys of the noise, or the others, that have several values, and these."""
    told = []
    for key in settings[0] if settings else ():
        values = list(dict.fromkeys(str(each[key]) for each in settings))
        if len(values) > 1 and key != "seed" and key.startswith("augment.") == is_noise:
            told.append(f"{key} ({', '.join(values)})")
    return ", ".join(told)


def check_paired(systems: Sequence[Sequence[str]]) -> None:
    """Refuse systems, each a list of runs, whose run k has not the seed of the first one's."""
    first, *others = systems
    for other in others:
        for run, its_pair in zip(first, other, strict=False):
            seed, its_seed = (read_run_config(Path(each)).seed for each in (run, its_pair))
            if seed != its_seed:
                raise SwitchOutError(
                    f"paired=True: {run} has seed {seed} and {its_pair} has seed {its_seed}; "
                    "give the runs in the order of their seeds"
                )
