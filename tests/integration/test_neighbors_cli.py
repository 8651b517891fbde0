"""``switchout neighbors`` and ``buckets`` as a user calls them."""

from __future__ import annotations

import gzip
import json
import os
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from switchout.cli import run
from switchout.evaluation.neighbors import find_neighbors
from switchout.files import read_lines

DATA = Path(os.environ.get("SWITCHOUT_DATA", Path(__file__).parents[3] / "shared" / "data"))
WORDS = ["the", "cat", "sat", "on", "a", "mat", ".", "<unk>", "R&D", "Mary's"]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def text(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(4, 12))) for _ in range(n)]


def damaged(lines: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in line.split())
        for line in lines
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "train", text(300, 0))
    test = write(tmp_path / "test", text(80, 1))
    reference = read_lines(test)
    write(tmp_path / "ref", reference)
    for i in range(2):
        write(tmp_path / f"base{i}", damaged(reference, 0.35, i))
        write(tmp_path / f"new{i}", damaged(reference, 0.15, 10 + i))
    return tmp_path


def outcome(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def searched(
    capsys: pytest.CaptureFixture[str], folder: Path, *more: object, train: str = "train"
) -> tuple[int, str, str]:
    return outcome(
        capsys, "neighbors", "--train", folder / train, "--test", folder / "test",
        "--out", folder / "nn.tsv", *more,
    )  # fmt: skip


def test_file_holds_wer_and_index_of_brute_force(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = searched(capsys, folder, "--json")
    assert code == 0
    summary = json.loads(out)
    assert summary["train_sentences"] == 300
    assert summary["test_sentences"] == 80
    train = [line.split(" ") for line in read_lines(folder / "train")]
    test = [line.split(" ") for line in read_lines(folder / "test")]
    distances = cdist(test, train, scorer=Levenshtein.distance)
    expected = distances.argmin(axis=1)
    lines = [line.split("\t") for line in read_lines(folder / "nn.tsv")]
    assert [int(index) for _, index in lines] == expected.tolist()
    wer = distances.min(axis=1) / [len(x) for x in test]
    np.testing.assert_allclose([float(w) for w, _ in lines], wer, atol=1e-6)
    assert all(len(w.partition(".")[2]) >= 6 for w, _ in lines)


def test_compressed_input_and_any_worker_count_give_the_same_bytes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searched(capsys, folder, "--workers", 1)
    once = (folder / "nn.tsv").read_bytes()
    (folder / "train.gz").write_bytes(gzip.compress((folder / "train").read_bytes()))
    code, _, _ = searched(capsys, folder, "--workers", 3, train="train.gz")
    assert code == 0
    assert (folder / "nn.tsv").read_bytes() == once


def test_ray_shards_give_the_same_bytes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ray")
    searched(capsys, folder)
    local = (folder / "nn.tsv").read_bytes()
    code, _, err = searched(capsys, folder, "--engine", "ray", "--workers", 2)
    assert code == 0, err
    assert (folder / "nn.tsv").read_bytes() == local


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "train").write_text(""), "train: the training set is empty"),
        (lambda f: (f / "train").unlink(), "train: no such file"),
        (lambda f: (f / "test").write_bytes(b"a\n\xff\n"), "test:2: not valid UTF-8"),
        (lambda f: (f / "nn.tsv").symlink_to(f / "test"), "is also the input --test"),
    ],
    ids=["empty-train", "missing", "not-utf-8", "output-is-input"],
)
def test_bad_input_is_one_line_and_leaves_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str], spoil, message: str  # type: ignore[no-untyped-def]
) -> None:  # fmt: skip
    spoil(folder)
    had_file = (folder / "nn.tsv").exists()
    code, out, err = searched(capsys, folder)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert (folder / "nn.tsv").exists() == had_file


def test_an_empty_test_file_gives_an_empty_result(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "test").write_text("")
    code, _, _ = searched(capsys, folder)
    assert code == 0
    assert (folder / "nn.tsv").read_bytes() == b""


@pytest.mark.skipif(not DATA.exists(), reason="no real corpora at SWITCHOUT_DATA")
@pytest.mark.parametrize(
    ("corpus", "language"),
    [("iwslt15_en_vi", "vi"), ("multi30k_de_en", "de"), ("tatoeba_de_en", "en")],
)
def test_exact_on_random_subsets_of_real_sentences(corpus: str, language: str) -> None:
    rng = random.Random(0)
    train = rng.sample(read_lines(DATA / corpus / f"train.{language}.gz"), 4000)
    test = rng.sample(read_lines(DATA / corpus / f"test.{language}.gz"), 200)
    found = find_neighbors(train, test)
    split = [[[w for w in line.split(" ") if w] for line in lines] for lines in (test, train)]
    distances = cdist(*split, scorer=Levenshtein.distance)
    np.testing.assert_array_equal(found.distances, distances.min(axis=1))
    np.testing.assert_array_equal(found.indices, distances.argmin(axis=1))


def bucketed(
    capsys: pytest.CaptureFixture[str], folder: Path, *more: object
) -> tuple[int, str, str]:
    runs = [f"{name}={folder / name}0,{folder / name}1" for name in ("base", "new")]
    return outcome(
        capsys, "buckets", "--ref", folder / "ref", "--baseline", runs[0], "--system", runs[1],
        "--tokenize", "none", "--resamples", 200, *more,
    )  # fmt: skip


def test_buckets_from_the_file_equal_buckets_from_the_texts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    searched(capsys, folder)
    code, from_file, err = bucketed(
        capsys, folder, "--by", "wer", "--neighbors", folder / "nn.tsv", "--json"
    )
    assert code == 0, err
    code, from_text, _ = bucketed(
        capsys, folder, "--by", "wer", "--train", folder / "train", "--test", folder / "test",
        "--json",
    )  # fmt: skip
    assert code == 0
    one, two = (json.loads(o)[0] for o in (from_file, from_text))
    assert one["systems"][0]["buckets"] == two["systems"][0]["buckets"]
    assert sum(bucket["sentences"] for bucket in one["buckets"]) == 80
    assert one["systems"][0]["trend"]["per"] == "1.0 of WER"


def test_without_by_everything_possible_is_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = bucketed(capsys, folder, "--json")
    assert [b["by"] for b in json.loads(out)] == ["length"]
    (folder / "known").write_text("the\ncat\n")
    _, out, _ = bucketed(
        capsys, folder, "--test", folder / "test", "--vocab", folder / "known", "--json"
    )
    assert [b["by"] for b in json.loads(out)] == ["length", "unknown"]
    code, out, _ = bucketed(capsys, folder, "--train", folder / "train", "--test", folder / "test")
    assert code == 0
    for title in ("nearest training sentence", "rarest source word", "unknown source words"):
        assert title in out


def test_figure_is_a_reproducible_svg_with_every_bucket(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one.svg", "two.svg"):
        code, _, err = bucketed(
            capsys, folder, "--by", "length", "--edges", "6,9", "--plot", folder / name
        )
        assert code == 0, err
    assert (folder / "one.svg").read_bytes() == (folder / "two.svg").read_bytes()
    words = "".join(ElementTree.parse(folder / "one.svg").getroot().itertext())
    for label in ("≤ 5", "6–8", "≥ 9", "words of the reference", "BLEU over base"):
        assert label in words


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--by", "wer"], "by wer need --neighbors"),
        (["--by", "size"], "'size'"),
        (["--by", "length", "--edges", "5,x"], "--edges 5,x"),
        (["--by", "length", "--edges", "9,5"], "must be finite and increase"),
        (["--test", "test", "--train", "train", "--edges", "5"], "exactly one --by"),
        (["--neighbors", "short.tsv"], "short.tsv has 1 lines"),
        (["--neighbors", "ref"], "ref:1: expected WER"),
        (["--plot", "figure.doc"], "must end in .svg"),
        (["--test", "short.tsv", "--train", "train"], "short.tsv has 1 lines"),
        (["--train", "train"], "--train needs --test, the source side of the test set"),
        (["--vocab", "train"], "--vocab needs --test, the source side of the test set"),
    ],
    ids=[
        "no-wer", "by", "edges", "order", "many", "short", "not-tsv", "plot", "test", "train",
        "vocab",
    ],
)  # fmt: skip
def test_bad_buckets_are_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    (folder / "short.tsv").write_text("0.5\t1\n")
    named = [folder / m if (folder / m).exists() or m == "figure.doc" else m for m in more]
    code, out, err = bucketed(capsys, folder, *named)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
