"""A corpus in parts, each a task of its own: resumable, on local processes or on a Ray cluster.

The folder of a run:

* ``manifest.json``: what is done to which input, and the parts it was cut into;
* ``000012.src``, ``000012.tgt``: the output of part 12, complete once it has this name;
* ``000012.json``: its counts and the size and hash of its files, written last;
* ``input.0``: a compressed input, unpacked; ``.driver``: locked by the one driver.

Running again does only what has no valid ``.json``, and compares the hashes of all that is there:
of finished parts, of the manifest, and of each piece of the input when it is read. A part is done
by one worker; if that dies, by another. Output depends on the line numbers alone, so nothing shows
who did what, or how often.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import multiprocessing
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, BinaryIO

from switchout.errors import SwitchOutError
from switchout.files import atomic, is_stream, named_errors, read_json, write_json
from switchout.files.writing import sweep
from switchout.text.augmentation import Augmentation
from switchout.text.formats import COPY_BYTES, Chunk, Part
from switchout.text.one_pass import run_part
from switchout.text.streams import COMPRESSED, combined_hash, is_compressed, open_input
from switchout.text.tally import Tally

log = logging.getLogger(__name__)

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

    @property
    def manifest(self) -> Path:
        """The file that says what is done to which input, and in which parts."""
        return self.path / "manifest.json"

    @property
    def lock(self) -> Path:
        """The file that the driver locks; in the end it holds the result."""
        return self.path / ".driver"

    def copy_of_input(self, index: int) -> Path:
        """Return where a compressed input is unpacked to."""
        return self.path / f"input.{index}"

    def outputs(self, index: int) -> list[Path]:
        """Return the output files of a part."""
        return [self.path / f"{index:06d}{ending}" for ending in self.endings]

    def record(self, index: int) -> Path:
        """Return the file that says that a part is done."""
        return self.path / f"{index:06d}.json"

    def finished(self, index: int, *, verify: bool) -> Tally | None:
        """Return the numbers of a part if it is done and its files are as it left them.

        Args:
            index: Which part.
            verify: Compare hashes, not only sizes.
        """
        try:
            record = read_json(self.record(index))
            for path, entry in zip(self.outputs(index), record["files"], strict=True):
                if path.stat().st_size != entry["bytes"]:
                    return None
                if verify and _sha256(path) != entry["sha256"]:
                    return None
            return Tally.from_dict(record["counts"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, index: int, tally: Tally) -> None:
        """Declare a part done."""
        files = [
            {"name": path.name, "bytes": path.stat().st_size, "sha256": _sha256(path)}
            for path in self.outputs(index)
        ]
        write_json(self.record(index), {"files": files, "counts": tally.to_dict()})

    def remove(self) -> None:
        """Remove all that is ours, the lock last: whoever resumes after a kill still finds it."""
        sweep(self.path, again=True)
        ours = re.compile(r"input\.\d+|\d{6,}\.\w+(\.\w+)?|manifest\.json")
        for path in self.path.iterdir():
            if ours.fullmatch(path.name):
                path.unlink()
        self.lock.unlink()
        with suppress(OSError):  # somebody put a file of his own there
            self.path.rmdir()


DoTodo = Callable[[Augmentation, Folder, dict[int, Part], Callable[[int], None]], None]


def run_in_parts(
    job: Augmentation,
    path: Path,
    outputs: list[str],
    *,
    part_bytes: int,
    do_todo: DoTodo,
    on_done: Callable[[int, int], None],
    join: bool,
) -> tuple[Tally, str]:
    """Do all parts that are not done yet; return their numbers and the data hash.

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
    run = _describe(job, folder, part_bytes)
    before = set(path.iterdir()) if path.is_dir() else set()
    with only_driver(folder) as lock, _tidy_if_refused(folder, before):
        if (result := _result(lock, run, outputs)) is not None:
            if folder.lock.exists():  # killed while it cleaned up
                folder.remove()
            return Tally.from_dict(result["counts"]), result["data_hash"]
        job, manifest = _plan(job, folder, run)
        parts = [_part(entry) for entry in manifest["parts"]]
        done = {i for i in range(len(parts)) if folder.finished(i, verify=True) is not None}
        on_done(len(done), len(parts))
        if todo := {i: part for i, part in enumerate(parts) if i not in done}:
            do_todo(job, folder, todo, lambda index: on_done(1, len(parts)))
        total = _total(folder, len(parts), verify=join)
        if join:
            _join(job, folder, outputs, len(parts))
            if not any(map(is_stream, outputs)):
                _write_result(lock, run, outputs, total, manifest["data_hash"])
            folder.remove()
    return total, manifest["data_hash"]


@contextmanager
def only_driver(folder: Folder) -> Iterator[BinaryIO]:
    """Yield the locked file of a folder's driver; wait while there is another driver.

    The system drops the lock of a process that dies: there is no clock to be wrong.
    """
    if not folder.path.parent.is_dir():
        raise SwitchOutError(f"{folder.path}: the folder {folder.path.parent} does not exist")
    while True:
        folder.path.mkdir(exist_ok=True)
        try:
            lock = folder.lock.open("a+b")
        except FileNotFoundError:  # a driver that has just finished removed the folder
            continue
        with lock:
            _wait_for(lock, folder.path)
            lock.seek(0)
            is_there = _is_open_as(folder.lock, lock)
            if is_there or lock.read(1):  # otherwise it was removed before there was a result
                yield lock
                return


@contextmanager
def _tidy_if_refused(folder: Folder, before: set[Path]) -> Iterator[None]:
    """Leave no trace of a run that is refused before its first part is done.

    Args:
        folder: Of the run, locked.
        before: What stood in it before the run; none of that is touched.
    """
    try:
        yield
    except SwitchOutError:
        if not before and not any(folder.path.glob("[0-9]*.json")):
            folder.remove()
        elif folder.lock not in before and not folder.manifest.exists():
            folder.lock.unlink(missing_ok=True)
        raise


def _is_open_as(path: Path, lock: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def _wait_for(lock: BinaryIO, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.warning("%s: another process works there; waiting for it", path)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _describe(job: Augmentation, folder: Folder, part_bytes: int) -> dict[str, Any]:
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
        "part_bytes": part_bytes,
        "endings": list(folder.endings),
    }


def _plan(
    job: Augmentation, folder: Folder, run: dict[str, Any]
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
    manifest = run | {"data_hash": combined_hash(digests), "parts": [list(part) for part in parts]}
    write_json(folder.manifest, manifest | {"sha256": _hash_of(manifest)})
    return plain, manifest


def _unpacked(job: Augmentation, folder: Folder, *, anew: bool) -> Augmentation:
    """Return a job that reads plain copies of compressed inputs: those cannot be cut."""
    renamed: dict[str, str] = {}
    for i, path in enumerate(job.format.inputs):
        if is_compressed(path):
            copy = folder.copy_of_input(i)
            if anew or not copy.exists():
                with atomic(copy) as partial, partial.open("wb") as handle, named_errors(path):
                    shutil.copyfileobj(open_input(path), handle, COPY_BYTES)
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


def _total(folder: Folder, n_parts: int, *, verify: bool) -> Tally:
    total = Tally()
    for index in range(n_parts):
        tally = folder.finished(index, verify=verify)
        if tally is None:
            raise SwitchOutError(f"{folder.record(index)}: missing or damaged; run again")
        total.merge(tally)
    return total


def _join(job: Augmentation, folder: Folder, outputs: list[str], n_parts: int) -> None:
    files = [folder.outputs(index) for index in range(n_parts)]
    for i, output in enumerate(outputs):
        job.format.join([part[i] for part in files], output)


def _write_result(
    lock: BinaryIO, run: dict[str, Any], outputs: list[str], total: Tally, data_hash: str
) -> None:
    """Say what became of the run, for a driver that waits, or resumes half a clean-up."""
    result = {
        "run": run,
        "outputs": _sizes(outputs),
        "counts": total.to_dict(),
        "data_hash": data_hash,
    }
    lock.truncate(0)
    lock.write(json.dumps(result).encode())
    lock.flush()
    os.fsync(lock.fileno())


def _result(lock: BinaryIO, run: dict[str, Any], outputs: list[str]) -> dict[str, Any] | None:
    """Return what another driver of the same run left, if its outputs are still there."""
    lock.seek(0)
    try:
        result = json.loads(lock.read())
        is_same = result["run"] == run and result["outputs"] == _sizes(outputs)
    except (OSError, ValueError, KeyError, TypeError):  # most often: empty
        return None
    return result if is_same else None


def _sizes(outputs: list[str]) -> list[list[Any]]:
    return [[os.path.realpath(path), Path(path).stat().st_size] for path in outputs]


def do_part(job: Augmentation, folder: Folder, index: int, part: Part) -> None:
    """Do one part, wherever this runs."""
    parent = os.getppid()

    def check_driver(_: Chunk) -> None:
        if os.getppid() != parent:  # the driver is dead; whoever comes next does this part
            os._exit(_ORPHANED)

    paths = [str(path) for path in folder.outputs(index)]
    digests = [hashlib.sha256() for _ in part.sha256]
    tally = run_part(job, paths, part=part, sync=True, digests=digests, on_chunk=check_driver)
    for path, digest, expected in zip(job.format.inputs, digests, part.sha256, strict=True):
        if digest.hexdigest() != expected:
            raise SwitchOutError(
                f"{path}: has changed since the run in {folder.path} began (part {index});"
                " remove that folder and run again"
            )
    folder.save(index, tally)


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


def _hash_of(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
