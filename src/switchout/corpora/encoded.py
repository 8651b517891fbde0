"""Training pairs as ids in memory-mapped files, so that millions of them stay out of RAM.

A folder: ``src.ids`` and ``tgt.ids`` (int32, sentence after sentence), ``src.ends`` and
``tgt.ends`` (int64, where each sentence ends), ``example_ids`` (int64), ``pairs.json`` last.
All little-endian. Neither ``<s>`` nor ``</s>`` is stored: the batch puts them where it wants them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from switchout.corpora.codec import Codec
from switchout.corpora.vocabulary import UNK
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder, read_json, write_json
from switchout.ranges import COUNT_OR_NONE

FACTS = "pairs.json"
CHUNK = 1 << 16  # pairs held in memory while building


class EncodedPairs:
    """Pairs of id sequences on disk, read through a memory map.

    Attributes:
        src_ids, tgt_ids: All sentences of a side, one after the other, [words].
        src_ends, tgt_ends: Where each sentence ends there, [pairs].
        src_lengths, tgt_lengths: Words per sentence, [pairs].
        example_ids: Address of each pair's randomness: its 0-based line before drops, [pairs].
        drops: How many pairs were left out, by reason.
        unknown: How many words are unknown, by side: ``src`` and ``tgt``.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        facts = read_json(self.folder / FACTS)
        try:
            self.drops: dict[str, int] = facts["drops"]
            self.unknown: dict[str, int] = facts["unknown"]
            sizes = {name: COUNT_OR_NONE.check(facts["sizes"][name], name) for name in _FILES}
        except (KeyError, TypeError, SwitchOutError) as error:
            raise SwitchOutError(f"{self.folder / FACTS}: damaged ({error}); build again") from None
        maps = {name: _map(self.folder / name, size) for name, size in sizes.items()}
        self.src_ids, self.src_ends = maps["src.ids"], maps["src.ends"]
        self.tgt_ids, self.tgt_ends = maps["tgt.ids"], maps["tgt.ends"]
        self.example_ids = maps["example_ids"]
        self.src_lengths = np.diff(self.src_ends, prepend=0).astype(np.int32)
        self.tgt_lengths = np.diff(self.tgt_ends, prepend=0).astype(np.int32)

    @classmethod
    def open(cls, folder: Path | str) -> EncodedPairs:
        """Open what `build` wrote."""
        return cls(folder)

    @classmethod
    def build(
        cls,
        folder: Path | str,
        src_lines: Iterable[str],
        tgt_lines: Iterable[str],
        src_codec: Codec,
        tgt_codec: Codec,
        max_length: int,
        *,
        example_ids: Iterable[int] | None = None,
    ) -> EncodedPairs:
        """Encode the lines into ``folder``, streaming; drop pairs with an empty or a long side.

        Args:
            folder: Appears when complete; an earlier result there is replaced.
            src_lines, tgt_lines: Equally many lines of text.
            src_codec, tgt_codec: How each side becomes ids.
            max_length: Most tokens of a side, ``</s>`` not counted.
            example_ids: One per line; 0, 1, 2, … by default. Synthetic pairs take theirs from
                another range, so that no two pairs share their randomness.
        """
        folder = Path(folder)
        ids = count() if example_ids is None else example_ids
        with atomic_folder(folder, marker=FACTS) as partial:
            with _Writer(partial) as writer:
                lines = zip(src_lines, tgt_lines, strict=True)
                for (src_line, tgt_line), example_id in zip(
                    lines, ids, strict=example_ids is not None
                ):
                    src, tgt = src_codec.encode(src_line), tgt_codec.encode(tgt_line)
                    writer.add(src, tgt, example_id, max_length)
            if not writer.n_pairs:
                drops = ", ".join(f"{n} {why}" for why, n in writer.drops.items()) or "no lines"
                raise SwitchOutError(f"no training pair left ({drops}; max_length = {max_length})")
            facts = {
                "drops": dict(writer.drops),
                "unknown": writer.unknown,
                "sizes": writer.sizes,
            }
            write_json(partial / FACTS, facts)
        return cls(folder)

    def __len__(self) -> int:
        return len(self.example_ids)

    def __reduce__(self) -> tuple[type[EncodedPairs], tuple[Path]]:
        return EncodedPairs, (self.folder,)  # a worker process maps the files itself

    def src(self, i: int) -> NDArray[np.int32]:
        """Return the source ids of pair ``i``, [time]; read-only."""
        end = self.src_ends[i]
        ids: NDArray[np.int32] = self.src_ids[end - self.src_lengths[i] : end]
        return ids

    def tgt(self, i: int) -> NDArray[np.int32]:
        """Return the target ids of pair ``i``, [time]; read-only."""
        end = self.tgt_ends[i]
        ids: NDArray[np.int32] = self.tgt_ids[end - self.tgt_lengths[i] : end]
        return ids


_FILES = {
    "src.ids": "<i4",
    "src.ends": "<i8",
    "tgt.ids": "<i4",
    "tgt.ends": "<i8",
    "example_ids": "<i8",
}


def _map(path: Path, size: int) -> Any:
    dtype = np.dtype(_FILES[path.name])
    if not path.is_file() or path.stat().st_size != size * dtype.itemsize:
        raise SwitchOutError(f"{path}: missing or truncated; build again")
    return np.memmap(path, dtype=dtype, mode="r", shape=(size,)).view(np.ndarray)


class _Writer:
    """Appends pairs to the five files, a chunk at a time."""

    def __init__(self, folder: Path):
        self._files = {name: (folder / name).open("wb") for name in _FILES}
        self._pending: dict[str, list[int]] = {name: [] for name in _FILES}
        self.drops: Counter[str] = Counter({"empty": 0, "too long": 0})
        self.sizes = dict.fromkeys(_FILES, 0)
        self.n_pairs = 0
        self._ends = {"src": 0, "tgt": 0}
        self.unknown = {"src": 0, "tgt": 0}

    def add(self, src: list[int], tgt: list[int], example_id: int, max_length: int) -> None:
        if not src or not tgt:
            self.drops["empty"] += 1
            return
        if len(src) > max_length or len(tgt) > max_length:
            self.drops["too long"] += 1
            return
        for side, ids in (("src", src), ("tgt", tgt)):
            self._ends[side] += len(ids)
            self.unknown[side] += ids.count(UNK)
            self._pending[f"{side}.ids"] += ids
            self._pending[f"{side}.ends"].append(self._ends[side])
        self._pending["example_ids"].append(example_id)
        self.n_pairs += 1
        if self.n_pairs % CHUNK == 0:
            self._flush()

    def _flush(self) -> None:
        for name, values in self._pending.items():
            self._files[name].write(np.array(values, dtype=_FILES[name]).tobytes())
            self.sizes[name] += len(values)
            values.clear()

    def __enter__(self) -> _Writer:
        return self

    def __exit__(self, *error: object) -> None:
        self._flush()
        for handle in self._files.values():
            handle.close()
