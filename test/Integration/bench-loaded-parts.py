# Check the load of ./dev bench --loaded, and the statistics of its times.
# REQUIRES: onnx, python-extension
# RUN: %python %s
import os
import pathlib
import signal
import subprocess
import sys
import time

from bench import loaded, onnx_networks
from layout_mlir.tools import ToolError


def busy_children(parent):
    """Returns the busy processes of a parent."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            words = (path.parent / "cmdline").read_text()
        except OSError:  # the process has ended
            continue
        if fields[0] != "Z" and f"\0{parent}\0" in words and loaded.BUSY in words:
            found.append(int(path.parent.name))
    return found


def wait_for(count, parent):
    end = time.monotonic() + 60
    while len(busy_children(parent)) != count:
        assert time.monotonic() < end, (count, busy_children(parent))
        time.sleep(0.05)


# Processes end with the block, also after an error, and with the process that started them.
with loaded.busy_processes(2):
    wait_for(2, os.getpid())
assert not busy_children(os.getpid())
try:
    with loaded.busy_processes(1):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    assert not busy_children(os.getpid())
code = "import time; from bench import loaded\nwith loaded.busy_processes(1): print(flush=True); time.sleep(600)"
with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as starter:
    starter.stdout.readline()
    wait_for(1, starter.pid)
    starter.send_signal(signal.SIGKILL)
wait_for(0, starter.pid)

# The ratio is that of medians, to the faster peer of each round; a round without peers has no ratio.
ROUNDS = [{"laid out": [1, 2, 9], "ONNX Runtime": [4], "OpenVINO": [1]},
          {"laid out": [3], "ONNX Runtime": [2, 2], "OpenVINO": [5]},
          {"laid out": [4], "ONNX Runtime": [4]}, {"laid out": [1]}, {"ONNX Runtime": [1]}]
assert loaded.compare(ROUNDS) == 1.5
assert loaded.compare(ROUNDS[3:]) is None
assert [loaded.show_ratio(each) for each in (None, 1.2, 1.25)] == ["-", "1.20", "1.25 !"]

# Dynamic sizes become the given ones, or 1.
graph = onnx_networks.Graph("dynamic")
model = graph.model(graph.op("Add", graph.input("x", "n", 3, "w"), graph.input("y", "n", 3, "w")))
loaded.fix_shapes(model, {"x": [2, 3, 5]})
sizes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in model.graph.input]
assert sizes == [[2, 3, 5], [1, 3, 1]], sizes
for shape, reason in (({"z": [1, 3, 5]}, "the model has no such input, it has x, y"),
                      ({"x": [3, 5]}, "--shape x=3x5: the input has 3 dims")):
    try:
        loaded.fix_shapes(model, shape)
        raise AssertionError(shape)
    except ToolError as error:
        assert reason in str(error), error
