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
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from switchout.augment.counts import Counts
from switchout.augment.formats import Chunk, Part
from switchout.augment.job import Job
from switchout.augment.local import run_part
from switchout.augment.streams import COMPRESSED
from switchout.errors import SwitchOutError
from switchout.files import atomic

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

    def finished(self, index: int) -> Counts | None:
        """Return the counts of a part if it is done and its files are as it left them."""
        try:
            record = json.loads(self.record(index).read_text("utf-8"))
            sizes = [path.stat().st_size for path in self.outputs(index)]
            if sizes != [entry["bytes"] for entry in record["files"]]:
                return None
            return Counts.from_dict(record["counts"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, index: int, counts: Counts) -> None:
        """Declare a part done."""
        files = [
            {"name": path.name, "bytes": path.stat().st_size, "sha256": _sha256(path)}
            for path in self.outputs(index)
        ]
        _write_json(self.record(index), {"files": files, "counts": counts.to_dict()})


def open_folder(job: Job, path: Path, outputs: list[str], manifest: dict[str, Any]) -> Folder:
    """Make or check the folder of a run; refuse one that belongs to another run."""
    suffix = [next((s for s in COMPRESSED if out.endswith(s)), "") for out in outputs]
    endings = tuple(f".{kind}{s}" for kind, s in zip(job.format.suffixes, suffix, strict=False))
    if not path.parent.is_dir():
        raise SwitchOutError(f"{path}: the folder {path.parent} does not exist")
    path.mkdir(exist_ok=True)
    known = path / "manifest.json"
    if known.exists():
        _check_same(known, manifest)
    elif any(path.iterdir()):
        raise SwitchOutError(f"{path}: is not empty and holds no manifest.json; name a new folder")
    else:
        _write_json(known, manifest)
    return Folder(path, endings)


def make_manifest(job: Job, parts: list[Part]) -> dict[str, Any]:
    """Describe a run: what, on which files, in which parts."""
    inputs = []
    for path in job.format.inputs:
        status = Path(path).stat()
        inputs.append(
            {
                "path": str(Path(path).resolve()),
                "bytes": status.st_size,
                "mtime": status.st_mtime_ns,
            }
        )
    return {
        "signature": job.signature,
        "inputs": inputs,
        "parts": [[p.first_line, p.n_lines, [list(r) for r in p.ranges]] for p in parts],
    }


def do_part(job: Job, folder: Folder, index: int, part: Part) -> None:
    """Do one part, wherever this runs."""
    parent = os.getppid()

    def check_driver(_: Chunk) -> None:
        if os.getppid() != parent:  # the driver is dead; whoever comes next does this part
            os._exit(_ORPHANED)

    paths = [str(path) for path in folder.outputs(index)]
    counts = run_part(job, paths, part=part, sync=True, on_chunk=check_driver)
    folder.save(index, counts)


def run_local(
    job: Job, folder: Folder, todo: dict[int, Part], workers: int, on_done: Callable[[int], None]
) -> None:
    """Do parts on processes of this machine, ``workers`` at a time."""
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
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


def _child(complaint: Any, job: Job, folder: Folder, index: int, part: Part) -> None:
    try:
        do_part(job, folder, index, part)
    except SwitchOutError as error:
        complaint.send(str(error))
        sys.exit(1)


def _raise_complaint(complaint: Any) -> None:
    try:
        if complaint.poll():
            raise SwitchOutError(complaint.recv())
    except EOFError:  # it died without a word
        pass
    finally:
        complaint.close()


def run_ray(
    job: Job,
    folder: Folder,
    todo: dict[int, Part],
    workers: int,
    on_done: Callable[[int], None],
    address: str | None,
) -> None:
    """Do parts as tasks of a Ray cluster; Ray repeats those whose worker died."""
    from switchout.ray_engine import check_nodes_see, start_ray

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


def _check_same(path: Path, manifest: dict[str, Any]) -> None:
    try:
        known = json.loads(path.read_text("utf-8"))
    except ValueError:
        raise SwitchOutError(f"{path}: damaged; remove the folder and run again") from None
    plain = json.loads(json.dumps(manifest))
    different = [key for key in plain if known.get(key) != plain[key]]
    if different:
        raise SwitchOutError(
            f"{path}: belongs to another run (different: {', '.join(different)});"
            " name another folder or remove this one"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _write_json(path: Path, data: Any) -> None:
    with atomic(path) as partial:
        partial.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
