"""Memory-mapped ids: what goes in comes out, drops are counted, nothing half-written appears."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchout.corpora import encoded
from switchout.corpora.codec import Codec
from switchout.corpora.encoded import EncodedPairs
from switchout.corpora.vocabulary import UNK
from switchout.errors import SwitchOutError

CODEC = Codec.word(["a b c d e"])
LINES = st.lists(st.sampled_from("abcdex"), max_size=6).map(" ".join)


def build(folder: Path, pairs: list[tuple[str, str]], max_length: int = 4) -> EncodedPairs:
    return EncodedPairs.build(folder, enumerate(pairs), (CODEC, CODEC), max_length=max_length)


@settings(deadline=None, max_examples=50)
@given(pairs=st.lists(st.tuples(LINES, LINES)), chunk=st.integers(1, 3))
def test_pairs_come_back_with_their_line_numbers(pairs: list[tuple[str, str]], chunk: int) -> None:
    ids = [(CODEC.encode(src), CODEC.encode(tgt)) for src, tgt in pairs]
    kept = [i for i, (s, t) in enumerate(ids) if 0 < len(s) <= 4 and 0 < len(t) <= 4]
    n_empty = sum(not s or not t for s, t in ids)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoded, "CHUNK", chunk)
        if not kept:
            with pytest.raises(SwitchOutError, match="no training pair left"):
                build(Path(folder) / "ids", pairs)
            assert list(Path(folder).iterdir()) == []
            return
        built = build(Path(folder) / "ids", pairs)
        assert [built.src(i).tolist() for i in range(len(built))] == [ids[i][0] for i in kept]
        assert [built.tgt(i).tolist() for i in range(len(built))] == [ids[i][1] for i in kept]
        assert built.example_ids.tolist() == kept
        assert built.src_lengths.tolist() == [len(ids[i][0]) for i in kept]
        assert built.tgt_lengths.tolist() == [len(ids[i][1]) for i in kept]
        assert built.unknown["tgt"] == sum(ids[i][1].count(UNK) for i in kept)
        assert built.drops == {"empty": n_empty, "too long": len(pairs) - len(kept) - n_empty}


def test_dtypes_are_int32_words_and_int64_addresses(tmp_path: Path) -> None:
    built = build(tmp_path / "ids", [("a b", "c")])
    assert built.src(0).dtype == np.int32
    assert built.example_ids.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        built.src(0)[0] = 9


def test_example_ids_may_come_from_another_range(tmp_path: Path) -> None:
    examples = enumerate([("a", "a"), ("", ""), ("b", "b")], 1 << 40)
    built = EncodedPairs.build(tmp_path / "ids", examples, (CODEC, CODEC), max_length=9)
    assert built.example_ids.tolist() == [1 << 40, (1 << 40) + 2]


def test_an_interrupted_build_leaves_nothing(tmp_path: Path) -> None:
    def examples() -> Iterator[tuple[int, tuple[str, str]]]:
        yield 0, ("a", "b")
        raise SwitchOutError("the disk caught fire")

    build(tmp_path / "ids", [("a", "b")])
    with pytest.raises(SwitchOutError, match="fire"):
        EncodedPairs.build(tmp_path / "ids", examples(), (CODEC, CODEC), max_length=9)
    assert [path.name for path in tmp_path.iterdir()] == ["ids"]
    assert len(EncodedPairs(tmp_path / "ids")) == 1


def test_a_folder_of_other_things_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("work of years")
    with pytest.raises(SwitchOutError, match=r"has no pairs.json: choose another folder"):
        build(tmp_path, [("a", "b")])
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.parametrize("name", ["src.ids", "tgt.ends", "example_ids"])
def test_a_truncated_file_is_named(tmp_path: Path, name: str) -> None:
    build(tmp_path / "ids", [("a b", "c d")] * 3)
    path = tmp_path / "ids" / name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SwitchOutError, match=f"{name}: missing or truncated"):
        EncodedPairs(tmp_path / "ids")
