"""The files of a report: the page, results.json, and the table as CSV, LaTeX and text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.experiments.analysis import Analysis, analyse
from switchout.experiments.contrasts import Contrast
from switchout.experiments.experiment import Experiment, load
from switchout.files import atomic
from switchout.report.answers import answers
from switchout.report.experiment import experiment_page, signatures
from switchout.report.headline import main_table, tau_table


def write_report(folder: Path) -> dict[str, Any]:
    """Write the report of the experiment in ``folder``; return what ``results.json`` holds."""
    return write_reports([folder])[0]


def write_reports(folders: Sequence[Path]) -> list[dict[str, Any]]:
    """Write the reports of several experiments, corrected over all their contrasts."""
    experiments = {folder: load(folder) for folder in folders}
    for folder, experiment in experiments.items():
        if not experiment.root.is_dir() and (folder / "report.html").exists():
            raise SwitchOutError(
                f"{folder}: its runs are not in {experiment.root}; its report is left as it is"
            )
    return write_pages(experiments)


def write_pages(experiments: Mapping[Path, Experiment]) -> list[dict[str, Any]]:
    """Write the reports of experiments into their folders, corrected over all their contrasts."""
    found = analyse([*experiments.values()])
    every = [one for analyses in found for analysis in analyses for one in analysis.contrasts]
    n_family = max((one.n_family for one in every), default=0)
    together = (
        f"Reported together: p-values are corrected over the {n_family} contrasts of "
        f"{len(experiments)} experiments.",
    )
    written = []
    for (folder, each), analyses in zip(experiments.items(), found, strict=True):
        notes = each.notes + (together if len(experiments) > 1 else ())
        written.append(_write(folder, replace(each, notes=notes), analyses))
    return written


def _write(folder: Path, experiment: Experiment, analyses: Sequence[Analysis]) -> dict[str, Any]:
    is_tau = experiment.kind == "tau"
    table = tau_table(analyses) if is_tau else main_table(experiment.kind, analyses)
    table = replace(table, note=f"{table.note}\n{signatures(analyses)}".strip())
    told = answers(experiment, analyses)
    results = {
        "kind": experiment.kind,
        "command": experiment.command,
        "version": version("switchout"),
        "answers": told.sentences,
        "columns": [_column(analysis) for analysis in analyses],
    }
    contents = {
        "report.html": experiment_page(experiment, analyses, told),
        "results.json": json.dumps(results, ensure_ascii=False, indent=1) + "\n",
        "table.csv": table.csv(),
        "table.tex": table.latex(),
        "table.txt": table.text() + "\n\n" + table.note + "\n",
    }
    for name, content in contents.items():
        with atomic(folder / name) as partial:
            partial.write_text(content, encoding="utf-8")
    return results


def _column(analysis: Analysis) -> dict[str, Any]:
    return {
        "corpus": analysis.name,
        "data_hash": analysis.corpus.data_hash,
        "select": analysis.planned.base.train.select,
        "rows": [
            {
                "name": row.name,
                "median_test_bleu": row.median("test_bleu"),
                "n_missing": row.n_missing,
                "n_trials": analysis.planned.n_tried(row.name),
                "runs": [{**_brief(run.result), "rules": run.record["rules"]} for run in row.runs],
            }
            for row in analysis.rows
        ],
        "tried": {
            name: [{"name": row.name, **_brief(run.result)} for row in tried for run in row.runs]
            for name, tried in analysis.tried.items()
        },
        "comparisons": [_contrast(contrast) for contrast in analysis.contrasts],
        "comparisons_by_rule": {
            rule: [_contrast(contrast) for contrast in contrasts]
            for rule, contrasts in analysis.by_rule.items()
        },
        "against_first": [_contrast(contrast) for contrast in analysis.against_first],
        "unlearned": [asdict(run) for run in analysis.unlearned],
        "baseline_against_itself": analysis.same.to_dict() if analysis.same else None,
        "shipped_reference": asdict(analysis.reference) if analysis.reference else None,
        "buckets": [breakdown.to_dict() for breakdown in analysis.breakdowns],
    }


def _contrast(contrast: Contrast) -> dict[str, Any]:
    return {
        "question": contrast.question,
        "verdict": contrast.verdict,
        **contrast.test.to_dict(),
        "n_family": contrast.n_family,
        "dev": contrast.dev.to_dict(),
        "dev_agrees": contrast.sets_agree,
    }


def _brief(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in ("validations", "weights")}
