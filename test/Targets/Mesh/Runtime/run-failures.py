# REQUIRES: mpi, clang
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that a rank that dies, leaves or hangs, and a message of the wrong length, end all ranks soon, with an error
# that names a rank and the conversion.
import pathlib
import sys
import time

from mesh_programs import Case, prepare, start
from mesh_ranks import Distribution

folder = pathlib.Path(sys.argv[1])
four = {"x": 4}
case = Case(Distribution(four, [["x"], []]), Distribution(four, [[], ["x"]]), (10, 6))
command, environment = prepare(folder / "four", [case])
AT = "in layout.convert at"


def run(fault, ranks=4, limit="60", **more):
    begin = time.monotonic()
    done = start(command, ranks, seconds=50, MESH_FAULT=fault, MESH_FAULTY="2", LAYOUT_MPI_TIMEOUT=limit,
                 **environment, **more)
    seconds = time.monotonic() - begin
    text = done.stdout + done.stderr
    assert (done.returncode == 0) == (fault == ""), f"{fault}: {done.returncode}\n{text}"
    assert seconds < 40, f"{fault}: took {seconds} s\n{text}"
    return text


def expect(text, *parts):
    assert any(all(part in line for part in parts) for line in text.splitlines()), f"no line with {parts}:\n{text}"


run("")
past = start(command, 4, LD_PRELOAD=environment["LD_PRELOAD"].split(":")[0])
expect(past.stderr, "has sent or received messages without libLayoutMPIRuntime, which must be linked before MPI", AT)
assert past.returncode != 0
expect(run("kill"), "rank 2", "signal 9")
expect(run("kill"), "is ended by signal 15", AT, "from rank", "bytes")
expect(run("crash"), "rank 2 dies of signal 11", AT)
expect(run("exit"), "rank 2 exits with status 3", AT)
expect(run("truncate"), "fails at MPI_Recv: the message was truncated to", AT, "receiving from rank 2")
expect(run("short"), "rank 2 fails at MPI_Recv: MPI_ERR_TRUNCATE", AT, "receiving from rank")
expect(run("leave"), "rank 2 exits with status 0", AT)
text = run("hang", limit="2")
expect(text, "gives up MPI_", "after 2 s (LAYOUT_MPI_TIMEOUT)", AT)
expect(text, AT, "rank 2 (")
expect(run("ranks", ranks=3), "rank 0 is one of 3 processes; mpirun -np 4 starts one for each device of the mesh", AT)
expect(run("limit", limit="soon"), "has LAYOUT_MPI_TIMEOUT=soon, which is not a number of seconds")
