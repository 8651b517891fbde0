"""A corpus in parts, each a task of its own: resumable, on local processes or on a Ray cluster.

The folder of a run:

* ``manifest.json``: what is done to which input, and the parts it was cut into;
* ``000012.src``, ``000012.tgt``: the output of part 12, complete once it has this name;
* ``000012.json``: its counts and the size and hash of its files, written last.

Running again does only what has no valid ``.json``. A part is done by one worker; if that dies, by
another. Output depends on the line numbers alone, so nothing shows who did what, or how often.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files import atomic, is_stream, naming
from switchout.text.augmentation import Augmentation
from switchout.text.formats import COPY_BYTES, Chunk, Part
from switchout.text.one_pass import run_part
from switchout.text.streams import COMPRESSED, is_compressed, open_input
from switchout.text.tally import Tally

ATTEMPTS = 3  # of a part whose worker died
_ORPHANED = 17


@dataclass(frozen=True)
class Folder:
    """The folder of a run in parts.

    Attributes:
        path: Where.
        endings: Of the output files of a part, such as ``.src.gz``.
    """

    path: Path
    endings: tuple[str, ...]

    def outputs(self, index: int) -> list[Path]:
        """Return the output files of a part."""
        return [self.path / f"{index:06d}{ending}" for ending in self.endings]

    def record(self, index: int) -> Path:
        """Return the file that says that a part is done."""
        return self.path / f"{index:06d}.json"

    def finished(self, index: int) -> Tally | None:
        """Return the counts of a part if it is done and its files are as it left them."""
        try:
            record = json.loads(self.record(index).read_text("utf-8"))
            sizes = [path.stat().st_size for path in self.outputs(index)]
            if sizes != [entry["bytes"] for entry in record["files"]]:
                return None
            return Tally.from_dict(record["counts"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, index: int, counts: Tally) -> None:
        """Declare a part done."""
        files = [
            {"name": path.name, "bytes": path.stat().st_size, "sha256": _sha256(path)}
            for path in self.outputs(index)
        ]
        _write_json(self.record(index), {"files": files, "counts": counts.to_dict()})


def run_in_parts(
    job: Augmentation,
    path: Path,
    outputs: list[str],
    *,
    part_bytes: int,
    do_todo: Callable[[Augmentation, Folder, dict[int, Part], Callable[[int], None]], None],
    on_done: Callable[[int, int], None],
    join: bool,
) -> tuple[Tally, str]:
    """Do all parts that are not done yet; return counts and data hash.

    Args:
        job: What to do.
        path: Folder of the run; made, or continued.
        outputs: Final names, which tell the compression of the parts.
        part_bytes: About how much of the input is a part.
        do_todo: `run_local` or `run_ray`.
        on_done: Called with the number of parts done and of all.
        join: Put the parts together under the final names and remove the folder.
    """
    suffix = [next((s for s in COMPRESSED if out.endswith(s)), "") for out in outputs]
    endings = tuple(f".{kind}{s}" for kind, s in zip(job.format.suffixes, suffix, strict=True))
    folder = Folder(path, endings)
    job, manifest = _plan(job, folder, part_bytes)
    parts = [Part(line, n, tuple(map(tuple, ranges))) for line, n, ranges in manifest["parts"]]
    done = {i: counts for i in range(len(parts)) if (counts := folder.finished(i)) is not None}
    todo = {i: part for i, part in enumerate(parts) if i not in done}
    on_done(len(done), len(parts))
    if todo:
        do_todo(job, folder, todo, lambda index: on_done(1, len(parts)))
    total = Tally()
    for index in range(len(parts)):
        counts = folder.finished(index)
        if counts is None:
            raise SwitchOutError(f"{folder.record(index)}: missing or damaged; run again")
        total.merge(counts)
    if join:
        files = [folder.outputs(index) for index in range(len(parts))]
        for i, output in enumerate(outputs):
            job.format.join([part[i] for part in files], output)
        shutil.rmtree(path)
    return total, manifest["data_hash"]


def _plan(
    job: Augmentation, folder: Folder, part_bytes: int
) -> tuple[Augmentation, dict[str, Any]]:
    """Read the manifest of an earlier run, or cut the input and write one."""
    for path in filter(is_stream, job.format.inputs):
        what = "standard input" if path == "-" else f"{path}: a pipe or device"
        raise SwitchOutError(f"{what} cannot be cut into parts: write it to a file first")
    if not folder.path.parent.is_dir():
        raise SwitchOutError(f"{folder.path}: the folder {folder.path.parent} does not exist")
    folder.path.mkdir(exist_ok=True)
    inputs = []
    for path in job.format.inputs:
        with naming(path):
            status = Path(path).stat()
        inputs.append([str(Path(path).resolve()), status.st_size, status.st_mtime_ns])
    run = {
        "signature": job.signature,
        "inputs": inputs,
        "part_bytes": part_bytes,
        "endings": list(folder.endings),
    }
    known = folder.path / "manifest.json"
    plain = _unpacked(job, folder.path)
    if known.exists():
        return plain, _same_run(known, run)
    if any(not p.name.startswith((".", "input.")) for p in folder.path.iterdir()):
        raise SwitchOutError(
            f"{folder.path}: holds other files and no manifest.json; name a new folder"
        )
    digests = [hashlib.sha256() for _ in inputs]
    parts = plain.format.cut(part_bytes, digests)
    manifest = run | {
        "data_hash": combined_hash(digests),
        "parts": [[p.first_line, p.n_lines, [list(r) for r in p.ranges]] for p in parts],
    }
    _write_json(known, manifest)
    return plain, manifest


def _unpacked(job: Augmentation, folder: Path) -> Augmentation:
    """Return a job that reads plain copies of compressed inputs: those cannot be cut."""
    renamed: dict[str, str] = {}
    for i, path in enumerate(job.format.inputs):
        if is_compressed(path):
            copy = folder / f"input.{i}"
            if not copy.exists():
                with atomic(copy) as partial, partial.open("wb") as handle, naming(path):
                    shutil.copyfileobj(open_input(path), handle, COPY_BYTES)
            renamed[path] = str(copy)
    return replace(job, format=job.format.renamed(renamed)) if renamed else job


def combined_hash(digests: list[Any]) -> str:
    """Return one hash for the content of all input files."""
    return hashlib.sha256("".join(d.hexdigest() for d in digests).encode()).hexdigest()[:16]


def do_part(job: Augmentation, folder: Folder, index: int, part: Part) -> None:
    """Do one part, wherever this runs."""
    parent = os.getppid()

    def check_driver(_: Chunk) -> None:
        if os.getppid() != parent:  # the driver is dead; whoever comes next does this part
            os._exit(_ORPHANED)

    paths = [str(path) for path in folder.outputs(index)]
    counts = run_part(job, paths, part=part, sync=True, on_chunk=check_driver)
    folder.save(index, counts)


def run_local(
    job: Augmentation,
    folder: Folder,
    todo: dict[int, Part],
    on_done: Callable[[int], None],
    *,
    workers: int,
) -> None:
    """Do parts on processes of this machine, ``workers`` at a time."""
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    queue, attempts = list(todo), dict.fromkeys(todo, 0)
    running: dict[Any, tuple[Any, int, Any]] = {}
    try:
        while queue or running:
            while queue and len(running) < workers:
                index = queue.pop(0)
                attempts[index] += 1
                complaint, child_end = context.Pipe(duplex=False)
                process = context.Process(
                    target=_child, args=(child_end, job, folder, index, todo[index])
                )
                process.start()
                child_end.close()
                running[process.sentinel] = (process, index, complaint)
            for sentinel in wait(list(running)):
                process, index, complaint = running.pop(sentinel)
                process.join()
                _raise_complaint(complaint)
                if process.exitcode == 0:
                    on_done(index)
                elif attempts[index] < ATTEMPTS:
                    queue.insert(0, index)
                else:
                    raise SwitchOutError(
                        f"part {index}: its worker died {ATTEMPTS} times (exit code"
                        f" {process.exitcode}); finished parts stay in {folder.path}"
                    )
    finally:
        for process, _, _ in running.values():
            process.kill()
            process.join()


def _child(complaint: Any, job: Augmentation, folder: Folder, index: int, part: Part) -> None:
    try:
        do_part(job, folder, index, part)
    except SwitchOutError as error:
        complaint.send(str(error))
        sys.exit(1)
    except KeyboardInterrupt:  # the driver, too, got it, and says so
        os._exit(130)


def _raise_complaint(complaint: Any) -> None:
    try:
        if complaint.poll():
            raise SwitchOutError(complaint.recv())
    except EOFError:  # it died without a word
        pass
    finally:
        complaint.close()


def run_ray(
    job: Augmentation,
    folder: Folder,
    todo: dict[int, Part],
    on_done: Callable[[int], None],
    *,
    workers: int,
    address: str | None,
) -> None:
    """Do parts as tasks of a Ray cluster; Ray repeats those whose worker died."""
    from switchout.engines.ray import check_nodes_see, start_ray

    with start_ray(address=address, workers=workers) as ray:
        check_nodes_see(ray, folder.path)
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(do_part)
        shared_job, shared_folder = ray.put(job), ray.put(folder)
        tasks = {
            task.remote(shared_job, shared_folder, index, part): index
            for index, part in todo.items()
        }
        while tasks:
            ready, _ = ray.wait(list(tasks))
            for reference in ready:
                try:
                    ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    if isinstance(error.cause, SwitchOutError):
                        raise SwitchOutError(str(error.cause)) from None
                    raise
                on_done(tasks.pop(reference))


def _same_run(path: Path, run: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of an earlier start of this run; refuse that of another run."""
    try:
        known: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError:
        raise SwitchOutError(f"{path}: damaged; remove the folder and run again") from None
    different = [key for key in run if known.get(key) != run[key]]
    if different:
        raise SwitchOutError(
            f"{path}: belongs to another run (different: {', '.join(different)});"
            " name another folder or remove this one"
        )
    return known


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _write_json(path: Path, data: Any) -> None:
    with atomic(path) as partial:
        partial.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
