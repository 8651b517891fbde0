"""Put finished runs into the table of their experiment: python results/collect.py OUT [NAME]

OUT is what ``--out`` named; NAME that of the study, by default OUT's. Of a declared study its name
and ``--runs``, the folder of its runs, are enough. What the table has is kept, what has finished
since is added. README.md says what a line holds.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from declared import experiment_of, is_declared
from table import HERE, Study, brief, in_common, pack, read, whole, write

from switchout.corpora import Corpus
from switchout.errors import SwitchOutError
from switchout.evaluation.features import features_of, words_of
from switchout.evaluation.metrics import Metric
from switchout.experiments.contrasts import bleu_of
from switchout.experiments.experiment import Experiment, load, records
from switchout.runs.config import Config, flatten
from switchout.runs.finished import Finished
from switchout.runs.job import corpus_of

SPLITS = ("dev", "test")
DERIVED = {"state", "policy", "tau_x", "tau_y", "weights", "selected_step", "validations"}


def collect(experiment: Experiment, name: str) -> Study:
    """Return the table with all that is finished."""
    if len(experiment.corpora) > 1:
        raise SwitchOutError(f"{name}: a table is of one corpus, and this experiment has several")
    [planned] = experiment.corpora
    rows = records(experiment, planned.rows)
    tried = {key: records(experiment, trials) for key, trials in planned.tried.items()}
    if (HERE / f"{name}.jsonl").is_file():
        study = read(name)
    else:
        configs = [_flat(row.row.config) for group in (rows, *tried.values()) for row in group]
        study = Study(name, {"corpus": planned.name, "config": in_common(configs)})
    whole = experiment_of(name) if is_declared(name) else experiment
    study.shared["planned"] = {row.name: list(row.seeds) for row in whole.corpora[0].rows}
    expected = {job.key for job in whole.jobs()}
    corpus = corpus_of(planned.base)
    metrics = {split: bleu_of(corpus, split) for split in SPLITS}
    for tried_for, group in {"": rows, **tried}.items():
        for row in group:
            configs_of_runs = {job.key: _flat(job.config) for job in experiment.of(row.row)}
            for run in row.runs:
                if run.folder.name not in study.runs:
                    if not tried_for and run.folder.name not in expected:
                        # Rows of two studies may share names: their seeds would be mixed.
                        raise SwitchOutError(
                            f"{name}: {row.name} seed {run.seed} is no run of this study"
                        )
                    facts = _line(run, configs_of_runs[run.folder.name], metrics, study)
                    study.runs[run.folder.name] = {"rows": [], "tried_for": tried_for, **facts}
                names = study.runs[run.folder.name]["rows"]
                names += [row.name] if row.name not in names else []
    if study.runs and "sentences" not in study.shared:
        study.shared["bleu"] = metrics["test"].signature
        study.shared["sentences"] = _sentences(corpus)
    return study


def _flat(config: Config) -> dict[str, Any]:
    """The configuration by dotted keys, without a seed and without a path of this machine."""
    flat = {key: value for key, value in flatten(config).items() if key != "seed"}
    return {**flat, "data.corpus": Path(flat["data.corpus"]).name}


def _line(
    run: Finished, config: dict[str, Any], metrics: dict[str, Metric], study: Study
) -> dict[str, Any]:
    shared = study.shared["config"]
    result = {k: v for k, v in run.result.items() if k not in DERIVED | {"bleu_signature"}}
    rules = run.record["rules"]
    return {
        "seed": run.seed,
        "key": run.folder.name,
        **{k: v for k, v in result.items() if k not in ("seed", "dev_bleu", "test_bleu")},
        "set": {k: v for k, v in config.items() if k not in shared or shared[k] != v},
        "rules": {
            rule: {k: v for k, v in facts.items() if k != "is_selected"}
            for rule, facts in rules.items()
        },
        "validations": run.result["validations"],
        "machine": run.record["machine"],
        "matches": {
            str(facts["step"]): {split: _packed(run, rule, split, metrics) for split in SPLITS}
            for rule, facts in rules.items()
        },
    }


def _packed(run: Finished, rule: str, split: str, metrics: dict[str, Metric]) -> str:
    statistics = metrics[split].statistics(run.lines(split, rule=rule))
    if not np.array_equal(whole(brief(statistics), statistics[:, 1]), statistics):
        raise SwitchOutError(f"{run.folder}: statistics of {split} cannot be kept in brief")
    return pack(brief(statistics))


def _sentences(corpus: Corpus) -> dict[str, dict[str, str]]:
    """What tests over sentences need to know about them; texts are not kept."""
    found: dict[str, dict[str, str]] = {}
    for split in SPLITS:
        sources, references = corpus.pairs(split)
        found[split] = {
            "reference": pack(bleu_of(corpus, split).statistics(references)[:, 1]),
            "words": pack(np.array([len(words_of(line)) for line in references])),
            "source": pack(np.array([len(words_of(line)) for line in sources])),
        }
    sources, references = corpus.pairs("test")
    train = list(corpus.lines("train", "source"))
    for feature in features_of(references, sources=sources, train=train):
        if feature.name == "wer":  # the distance in words: whole numbers
            lengths = np.array([len(words_of(line)) for line in sources])
            found["test"]["distance"] = pack(np.rint(feature.values * lengths))
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("out", type=Path, help="what --out named, or a study")
    parser.add_argument("name", nargs="?", help="of the study; default: that of OUT")
    parser.add_argument("--runs", type=Path, help="where its runs are")
    given = parser.parse_args()
    try:
        is_name = is_declared(str(given.out)) and given.runs
        experiment = experiment_of(str(given.out)) if is_name else load(given.out)
        if given.runs:
            experiment = replace(experiment, root=given.runs)
        study = collect(experiment, given.name or given.out.name)
    except SwitchOutError as error:
        parser.error(str(error))
    write(study)
    n_done = sum(len(study.of(row)) for row in study.rows)
    print(f"{study.name}: {n_done} of {study.n_planned} runs")
