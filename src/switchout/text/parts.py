"""A corpus in parts, each a task of its own: resumable, on local processes or on a Ray cluster.

Running again does only what is not done yet, and compares the hashes of all that is there: of
finished parts, of the manifest, and of each piece of the input when it is read. Output depends on
the line numbers alone, so nothing shows who did what, or how often.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.files import atomic, is_stream, named_errors, read_json, write_json
from switchout.files.reading import COMPRESSED, START_BYTES, read_start, refuse_unless_plain
from switchout.progress import Meter
from switchout.text.augmentation import Augmentation
from switchout.text.formats import COPY_BYTES, Part
from switchout.text.part_folder import (
    PartFolder,
    only_driver,
    read_result,
    tidy_if_refused,
    write_result,
)
from switchout.text.part_workers import Todo, do_parts
from switchout.text.streams import combined_hash, is_compressed, open_input
from switchout.text.tally import Tally


def run_in_parts(
    job: Augmentation,
    path: Path,
    outputs: list[str],
    *,
    engine: Engine,
    part_bytes: int,
    join: bool,
) -> tuple[Tally, str]:
    """Do all parts that are not done yet; return their numbers and the data hash.

    Args:
        job: What to do.
        path: Folder of the run; made, or continued.
        outputs: Final names, which tell the compression of the parts.
        engine: Who does them.
        part_bytes: About how much of the input is a part.
        join: Put the parts together under the final names and remove the folder.
    """
    suffix = [next((s for s in COMPRESSED if out.endswith(s)), "") for out in outputs]
    endings = tuple(f".{kind}{s}" for kind, s in zip(job.format.suffixes, suffix, strict=True))
    folder = PartFolder(path, endings)
    run = _describe(job, folder, part_bytes)
    before = set(path.iterdir()) if path.is_dir() else set()
    with only_driver(folder) as lock, tidy_if_refused(folder, before):
        if (result := read_result(lock, run, outputs)) is not None:
            if folder.lock.exists():  # killed while it cleaned up
                folder.remove()
            return Tally.from_dict(result["counts"]), result["data_hash"]
        job, manifest = _plan(job, folder, run)
        parts = [_part(entry) for entry in manifest["parts"]]
        _do_missing(job, folder, parts, engine)
        total = folder.total(len(parts), verify=join)
        if join:
            files = [folder.outputs(index) for index in range(len(parts))]
            for i, output in enumerate(outputs):
                job.format.join([part[i] for part in files], output)
            if not any(map(is_stream, outputs)):
                write_result(lock, run, outputs, total, manifest["data_hash"])
            folder.remove()
    return total, manifest["data_hash"]


def _do_missing(job: Augmentation, folder: PartFolder, parts: list[Part], engine: Engine) -> None:
    todo = {i: p for i, p in enumerate(parts) if folder.finished(i, verify=True) is None}
    n_done = len(parts) - len(todo)
    with Meter("augment", total=len(parts), unit="parts", done=n_done) as meter:
        if todo:
            do_parts(Todo(job, folder, todo, meter.advance), engine)


def _describe(job: Augmentation, folder: PartFolder, part_bytes: int) -> dict[str, Any]:
    """Return what makes a run the same run."""
    inputs = []
    for path in job.format.inputs:
        if is_stream(path):
            what = "standard input" if path == "-" else f"{path}: a pipe or device"
            raise SwitchOutError(f"{what} cannot be cut into parts: write it to a file first")
        with named_errors(path):
            status = Path(path).stat()
        inputs.append([str(Path(path).resolve()), status.st_size, status.st_mtime_ns])
    return {
        "signature": job.signature,
        "inputs": inputs,
        "columns": job.format.columns,
        "known words counted": job.count_known,
        "part_bytes": part_bytes,
        "endings": list(folder.endings),
    }


def _plan(
    job: Augmentation, folder: PartFolder, run: dict[str, Any]
) -> tuple[Augmentation, dict[str, Any]]:
    """Read the manifest of an earlier start, or cut the input and write one."""
    if folder.manifest.exists():
        manifest = _same_run(folder.manifest, run)
        return _unpacked(job, folder, anew=False), manifest
    if any(not p.name.startswith((".", "input.")) for p in folder.path.iterdir()):
        raise SwitchOutError(
            f"{folder.path}: holds other files and no manifest.json; name a new folder"
        )
    plain = _unpacked(job, folder, anew=True)  # a copy of an earlier start may be of another file
    digests = [hashlib.sha256() for _ in run["inputs"]]
    parts = plain.format.cut(run["part_bytes"], digests)
    if not parts:
        raise job.empty()
    manifest = run | {"data_hash": combined_hash(digests), "parts": [list(part) for part in parts]}
    write_json(folder.manifest, manifest | {"sha256": _hash_of(manifest)})
    return plain, manifest


def _unpacked(job: Augmentation, folder: PartFolder, *, anew: bool) -> Augmentation:
    """Return a job that reads plain copies of compressed inputs: those cannot be cut."""
    renamed: dict[str, str] = {}
    for i, path in enumerate(job.format.inputs):
        if is_compressed(path):
            copy = folder.copy_of_input(i)
            if anew or not copy.exists():
                with atomic(copy) as partial:
                    with partial.open("wb") as handle, named_errors(path):
                        shutil.copyfileobj(open_input(path), handle, COPY_BYTES)
                    refuse_unless_plain(path, read_start(partial, START_BYTES))  # by its own name
            renamed[path] = str(copy)
    return replace(job, format=job.format.renamed(renamed)) if renamed else job


def _same_run(path: Path, run: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of an earlier start of this run; refuse that of another run."""
    manifest = read_json(path)
    if manifest.pop("sha256", None) != _hash_of(manifest):
        raise SwitchOutError(f"{path}: damaged; remove the folder and run again")
    different = [key for key in run if manifest.get(key) != run[key]]
    if different:
        raise SwitchOutError(
            f"{path}: belongs to another run (different: {', '.join(different)});"
            " name another folder or remove this one"
        )
    return manifest


def _part(entry: list[Any]) -> Part:
    first_line, n_lines, ranges, hashes = entry
    return Part(first_line, n_lines, tuple((a, b) for a, b in ranges), tuple(hashes))


def _hash_of(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
