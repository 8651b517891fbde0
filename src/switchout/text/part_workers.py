"""Who does the parts of a corpus: processes of this machine, or tasks of a Ray cluster.

A part is done by one worker; if that dies, by another. Local workers are forked from the driver, so
that they share its vocabulary and hash table: a pool that sends its calls would copy both for every
part.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.files.writing import sweep
from switchout.text.augmentation import Augmentation
from switchout.text.formats import Chunk, Part
from switchout.text.part_folder import PartFolder

ATTEMPTS = 3  # of a part whose worker died
_ORPHANED = 17


@dataclass(frozen=True)
class Todo:
    """Parts to be done.

    Attributes:
        job: What to do.
        folder: Where they go.
        parts: By number.
        on_done: Called after each of them.
    """

    job: Augmentation
    folder: PartFolder
    parts: dict[int, Part]
    on_done: Callable[[], None]


def do_parts(todo: Todo, engine: Engine) -> None:
    """Do some parts, on processes of this machine or as tasks of a Ray cluster."""
    try:
        if engine.name == "ray":
            _run_ray(todo, engine)
        else:
            _run_local(todo, engine.workers or 1)
    except BaseException:  # the workers are gone; what they had half-written goes, too
        sweep(todo.folder.path, again=True)
        raise


def do_part(job: Augmentation, folder: PartFolder, index: int, part: Part) -> None:
    """Do one part, wherever this runs."""
    parent = os.getppid()

    def check_driver(_: Chunk) -> None:
        if os.getppid() != parent:  # the driver is dead; whoever comes next does this part
            os._exit(_ORPHANED)

    paths = [str(path) for path in folder.outputs(index)]
    digests = [hashlib.sha256() for _ in part.sha256]
    tally = job.run(paths, part=part, sync=True, digests=digests, on_chunk=check_driver)
    for path, digest, expected in zip(job.format.inputs, digests, part.sha256, strict=True):
        if digest.hexdigest() != expected:
            raise SwitchOutError(
                f"{path}: has changed since the run in {folder.path} began (part {index});"
                " remove that folder and run again"
            )
    folder.save(index, tally)


def _run_local(todo: Todo, workers: int) -> None:
    """Do parts on processes of this machine, ``workers`` at a time."""
    context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    for noise in todo.job.noises:
        _ = noise.lexicon.compiled  # made here, it is there in all forked processes
    queue, attempts = list(todo.parts), dict.fromkeys(todo.parts, 0)
    running: dict[Any, tuple[Any, int, Any]] = {}
    try:
        while queue or running:
            while queue and len(running) < workers:
                index = queue.pop(0)
                attempts[index] += 1
                complaint, child_end = context.Pipe(duplex=False)
                part = (todo.job, todo.folder, index, todo.parts[index])
                process = context.Process(target=_child, args=(child_end, *part))
                process.start()
                child_end.close()
                running[process.sentinel] = (process, index, complaint)
            for sentinel in wait(list(running)):
                process, index, complaint = running.pop(sentinel)
                process.join()
                _raise_complaint(complaint)
                if process.exitcode == 0:
                    todo.on_done()
                elif attempts[index] < ATTEMPTS:
                    queue.insert(0, index)
                else:
                    raise SwitchOutError(
                        f"part {index}: its worker died {ATTEMPTS} times (exit code"
                        f" {process.exitcode}); finished parts stay in {todo.folder.path}"
                    )
    finally:
        for process, _, _ in running.values():
            process.kill()
            process.join()


def _child(complaint: Any, job: Augmentation, folder: PartFolder, index: int, part: Part) -> None:
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


def _run_ray(todo: Todo, engine: Engine) -> None:
    """Do parts as tasks of a Ray cluster; Ray repeats those whose worker died."""
    from switchout.engines.ray import check_nodes_see, start_ray

    with start_ray(address=engine.ray_address, workers=engine.workers) as ray:
        check_nodes_see(ray, todo.folder.path)
        task = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(do_part)
        shared_job, shared_folder = ray.put(todo.job), ray.put(todo.folder)
        tasks = [task.remote(shared_job, shared_folder, i, part) for i, part in todo.parts.items()]
        while tasks:
            ready, tasks = ray.wait(tasks)
            for reference in ready:
                try:
                    ray.get(reference)
                except ray.exceptions.RayTaskError as error:
                    if isinstance(error.cause, SwitchOutError):
                        raise SwitchOutError(str(error.cause)) from None
                    raise
                todo.on_done()
