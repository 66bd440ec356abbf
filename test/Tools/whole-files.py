# Check that tools write output files completely or not at all: with a full disk, a file size limit, an unwritable
# folder, and when they are killed.

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

import numpy as np

from layout_mlir.tools import find_tool, whole_file

folder = pathlib.Path(sys.argv[1])
OLD = "what was there before\n"
elements = ", ".join(str(i % 97) + ".5" for i in range(5000))
module = folder / "in.mlir"
module.write_text(f"""func.func @main(%x: tensor<5000xf32>) -> tensor<5000xf32> {{
  %c = arith.constant dense<[{elements}]> : tensor<5000xf32>
  %r = arith.addf %x, %c : tensor<5000xf32>
  return %r : tensor<5000xf32>
}}
""")
compiled, values = folder / "in.ll.mlir", folder / "x.npy"
np.save(values, np.zeros(5000, np.float32))
target = "--layout-to-cpu=target={#layout.cpu<lanes = 8>}"
subprocess.run([find_tool("layout-opt"), module, target, "-o", compiled], check=True)
layout = "#layout.blocked<\"NCHW\" to \"NCHW16c\">"
graph = "--layout-print-graph=target={#layout.cpu<lanes = 8>} output="


def commands(output):
    """Yields a command for each tool that writes `output`."""
    yield ["layout-opt", module, "-o", output]
    yield ["layout-opt", module, f"{graph}{output}", "-o", os.devnull]
    yield ["layout-run", compiled, f"--input={values}", f"--output={output}"]
    yield ["layout-run", compiled, f"--input={values}", f"--json={output}"]
    yield ["layout-translate", "--layout-to-svg", "--shape=1x17x9x9", layout, "-o", output]


def run(command, limit=None):
    def restrict():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return subprocess.run([find_tool(command[0]), *map(str, command[1:])],
                          preexec_fn=restrict if limit is not None else None,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def left_over(output):
    return [path.name for path in output.parent.iterdir() if path.name.endswith(".part")]


def check_too_large(done, command):
    """Checks the end of a program whose file got too large; the system kills it unless it ignores the signal."""
    killed = done.returncode in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ)
    assert killed or done.returncode == 1 and "File too large" in done.stderr, (command, done)


def check_failed(done, command, *reasons):
    assert done.returncode not in (0, -6, -11), (command, done)
    assert any(reason in done.stderr for reason in reasons), (command, done.stderr[:500])
    assert "PLEASE submit a bug report" not in done.stderr, command


out = folder / "out"
out.mkdir()
output = out / "file"
for number, command in enumerate(commands(output)):
    whole = run(command)
    assert whole.returncode == 0, (command, whole.stderr)
    size = output.stat().st_size
    output.write_text(OLD)
    # The limit is below the size of the file.
    check_too_large(run(command, limit=max(size // 2, 8)), command)
    assert output.read_text() == OLD and not left_over(output), command
    output.unlink()
    check_too_large(run(command, limit=max(size // 2, 8)), command)
    assert not output.exists() and not left_over(output), command
for command in commands("/dev/full"):
    check_failed(run(command), command, "No space left on device")
# Even a privileged user cannot create files here.
for command in commands("/proc/self/none"):
    check_failed(run(command), command, "No such file", "Permission denied")

# Killed while it writes: its input never ends.
output.write_text(OLD)
reader = subprocess.Popen([find_tool("layout-opt"), "-", "-o", output], stdin=subprocess.PIPE)
reader.stdin.write(b"func.func @f() { return }\n" * 10)
reader.stdin.flush()
time.sleep(0.3)
reader.kill()
reader.wait()
assert output.read_text() == OLD

# The Python tools behave equally.
for error in (OSError("full"), KeyboardInterrupt()):
    try:
        with whole_file(output) as file:
            file.write("half")
            raise error
    except (OSError, KeyboardInterrupt):
        pass
    assert output.read_text() == OLD and not left_over(output)
with whole_file(output) as file:
    file.write("new\n")
assert output.read_text() == "new\n"
done = subprocess.run([sys.executable, "-m", "networks", "mobilenet_v2", "--small", "-o",
                       "/dev/full"], stderr=subprocess.PIPE, text=True)
assert done.returncode != 0 and "No space left" in done.stderr, done.stderr
