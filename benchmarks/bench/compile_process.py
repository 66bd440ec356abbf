"""Runs one compilation for ./dev bench --compile, in a process that has loaded nothing else."""

import os
import pathlib
import re
import resource
import time


def compile_once(path, processors):
    os.sched_setaffinity(0, processors)
    os.environ["LAYOUT_CACHE"] = ""
    import layout_mlir

    def read_times():
        used = resource.getrusage(resource.RUSAGE_SELF)
        return time.perf_counter(), used.ru_utime + used.ru_stime, used.ru_stime

    before = read_times()
    layout_mlir.compile(path)
    passed, worked, system = (after - start for start, after in zip(before, read_times(), strict=True))
    libraries = count_library_bytes()
    from .peer_process import peak_bytes  # imported here because it loads numpy

    return {"seconds": passed, "worked": worked, "system": system, "bytes": peak_bytes(), "libraries": libraries}


def count_library_bytes():
    """Returns the resident clean bytes of the program and its shared libraries; processes share these pages."""
    bytes, counts = 0, False
    for line in pathlib.Path("/proc/self/smaps").read_text(encoding="utf-8").splitlines():
        if mapping := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)", line):
            counts = ".so" in pathlib.Path(mapping[1]).name or mapping[1] == os.path.realpath("/proc/self/exe")
        elif counts and (size := re.match(r"(?:Shared|Private)_Clean:\s*(\d+)", line)):
            bytes += 1024 * int(size[1])
    return bytes
