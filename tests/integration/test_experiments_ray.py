"""A table on a Ray cluster of three nodes, one of which is lost in the middle."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from train_toys import write_config, write_corpus

from switchout.engines import Engine
from switchout.engines.ray import import_ray
from switchout.experiments.experiment import CorpusRows, Experiment
from switchout.experiments.paper import table1_rows
from switchout.experiments.reproduce import Request, base_config
from switchout.experiments.training import train_all
from switchout.runs.finished import finished

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster():
    pytest.importorskip("ray")
    import_ray()  # with statistics off
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False}
    )
    cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


def test_table_completes_when_a_node_is_lost(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path / "toy.toml", write_corpus(tmp_path / "toy-xx-yy"))
    request = Request(["toy-xx-yy"], preset="toy.toml", overrides=["train.steps=400"])
    rows = table1_rows(base_config("toy-xx-yy", request), taus=(1.0, 1.1), n_seeds=1)
    experiment = Experiment("table1", (CorpusRows("toy", tuple(rows)),), "", tmp_path / "runs")
    doomed = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    lost: list[str] = []

    def lose_a_node() -> None:
        while len(begun := sorted(Path(tmp_path / "runs").glob("*/resume/step-*"))) < 2:
            time.sleep(0.05)
        lost.extend(path.parent.parent.name for path in begun)
        cluster.remove_node(doomed, allow_graceful=False)

    threading.Thread(target=lose_a_node, daemon=True).start()
    failures = train_all(experiment.jobs(), Engine("ray", ray_address=cluster.address))
    assert lost
    assert failures == []
    assert all(finished(job.folder) for job in experiment.jobs())
