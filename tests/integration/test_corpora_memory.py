"""A corpus of the size of WMT is prepared and read in less than a gigabyte."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "corpora.py"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_four_and_a_half_million_pairs_stay_under_a_gigabyte(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("benchmark_corpora", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    for what, (_, _, megabytes) in benchmark.run(4_500_000, tmp_path).items():
        assert megabytes < 1000, what
