"""Times an operation on one thread or on several.

On CPython with its global lock, threads share one core, except where a library's C code releases
the lock. The timing is what a Python program gets.
"""

import threading
import time

from .operations import Operation


def measure(operation: Operation, iterations: int, threads: int) -> tuple[int, int]:
    """Returns the elapsed nanoseconds, and the sum of the checksums of all threads."""
    if threads == 1:
        start = time.perf_counter_ns()
        checksum = operation.run(iterations)
        return time.perf_counter_ns() - start, checksum
    return _on_threads(operation, iterations, threads)


def _on_threads(operation: Operation, iterations: int, threads: int) -> tuple[int, int]:
    starts: list[int] = []
    ends: list[int] = []
    checksums: list[int] = []
    errors: list[BaseException] = []
    # Reads the clock when the last thread has arrived, before any thread is released.
    gate = threading.Barrier(threads, action=lambda: starts.append(time.perf_counter_ns()))

    def work() -> None:
        gate.wait()
        try:
            checksums.append(operation.run(iterations))
        except BaseException as error:  # also a panic in a library's Rust code
            errors.append(error)
        ends.append(time.perf_counter_ns())

    workers = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return max(ends) - starts[0], sum(checksums)
