"""The examples that need nothing but the test environment; the others: tests/integrations."""

from __future__ import annotations

import re

import pytest

from examples import run_example


def test_pytorch(tmp_path):
    pytest.importorskip("torch")
    printed = run_example("pytorch_loader.py", tmp_path)
    losses = [float(loss) for loss in re.findall(r"loss ([\d.]+)", printed)]
    assert len(losses) == 3
    assert losses[2] < losses[0]


def test_fine_tuning_of_a_translation_model(tmp_path):
    pytest.importorskip("transformers")
    printed = run_example("nllb_finetune.py", tmp_path)
    assert float(re.search(r"'eval_loss': '?([\d.]+)", printed).group(1)) > 0
