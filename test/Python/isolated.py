# RUN: %python %s
"""Checks that a process of isolated() ends when its parent is killed."""

import gc
import os
import signal
import subprocess
import sys
import time

from layout_mlir.isolated import isolated

CHILD = """
import os, time
from layout_mlir.isolated import isolated

def endless(pipe):
    os.write(pipe, f"{os.getpid()}\\n".encode())
    time.sleep(60)

isolated(endless, os.dup(1))
"""

parent = subprocess.Popen([sys.executable, "-B", "-c", CHILD], stdout=subprocess.PIPE, text=True)
assert parent.stdout is not None
child = int(parent.stdout.readline())
parent.send_signal(signal.SIGKILL)
parent.wait()


def runs(process: int) -> bool:
    """Returns false for a process that ended, even before it is waited for."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


if sys.platform == "linux":
    end = time.monotonic() + 10
    while runs(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not runs(child), f"process {child} still runs"
else:
    os.kill(child, signal.SIGKILL)


class Waits:
    """Garbage that would wait forever in another process, as a session of ONNX Runtime waits for its threads."""

    def __init__(self) -> None:
        self.cycle, self.process = self, os.getpid()

    def __del__(self) -> None:
        if os.getpid() != self.process:
            time.sleep(60)


gc.disable()
Waits()
isolated(gc.collect, seconds=20)
