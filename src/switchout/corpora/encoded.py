"""Training pairs as ids in memory-mapped files, so that millions of them stay out of RAM.

A folder: ``src.ids`` and ``tgt.ids`` (int32, sentence after sentence), ``src.ends`` and
``tgt.ends`` (int64, where each sentence ends), ``example_ids`` (int64), ``pairs.json`` last.
All little-endian. Neither ``<s>`` nor ``</s>`` is stored: the batch puts them where it wants them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from switchout.corpora.codec import Codecs
from switchout.corpora.vocabulary import UNK
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder, read_json, write_json
from switchout.ranges import COUNT_OR_NONE

FACTS = "pairs.json"
CHUNK = 1 << 16  # pairs held in memory while building


class EncodedPairs:
    """Pairs of id sequences on disk, as `build` wrote them, read through a memory map.

    Attributes:
        src_ids, tgt_ids: All sentences of a side, one after the other, [words].
        src_ends, tgt_ends: Where each sentence ends there, [pairs].
        src_lengths, tgt_lengths: Words per sentence, [pairs].
        example_ids: Address of each pair's randomness, [pairs].
        drops: How many pairs were left out, by reason.
        unknown: How many words are unknown, by side: ``src`` and ``tgt``.
    """

    def __init__(self, folder: Path | str):
        folder = Path(folder)
        facts = read_json(folder / FACTS)
        try:
            self.drops: dict[str, int] = facts["drops"]
            self.unknown: dict[str, int] = facts["unknown"]
            sizes = {name: COUNT_OR_NONE.check(facts["sizes"][name], name) for name in _FILES}
        except (KeyError, TypeError, SwitchOutError) as error:
            raise SwitchOutError(f"{folder / FACTS}: damaged ({error}); build again") from None
        maps = {name: _map(folder / name, size) for name, size in sizes.items()}
        self.src_ids, self.src_ends = maps["src.ids"], maps["src.ends"]
        self.tgt_ids, self.tgt_ends = maps["tgt.ids"], maps["tgt.ends"]
        self.example_ids = maps["example_ids"]
        self.src_lengths = np.diff(self.src_ends, prepend=0).astype(np.int32)
        self.tgt_lengths = np.diff(self.tgt_ends, prepend=0).astype(np.int32)

    @classmethod
    def build(
        cls,
        folder: Path | str,
        examples: Iterable[tuple[int, tuple[str, str]]],
        codecs: Codecs,
        *,
        max_length: int,
    ) -> EncodedPairs:
        """Encode the text into ``folder``, streaming; drop pairs with an empty or a long side.

        Args:
            folder: Appears when complete; an earlier result there is replaced.
            examples: The id of each pair, and its lines of source and target. No two pairs may
                have one id: they would share their randomness.
            codecs: How source and target become ids.
            max_length: Most tokens of a side, ``</s>`` not counted.
        """
        folder = Path(folder)
        with atomic_folder(folder, marker=FACTS) as partial:
            with _Writer(partial) as writer:
                for example_id, (src_line, tgt_line) in examples:
                    src, tgt = codecs[0].encode(src_line), codecs[1].encode(tgt_line)
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
