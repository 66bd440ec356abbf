"""./dev bench --peers: networks compared with ONNX Runtime, OpenVINO, IREE and TVM, on the same ONNX files.

Every runtime has its own process, which is stopped while another one runs. They run alternately, and the fastest run of
each counts, in processor time on one thread. Times are printed only after the results agree with those of ONNX Runtime.
Seconds to load are from the path of the file to a callable function: for ours without a cache, and in a second process
with it. Memory is the increase by loading. FMA and STREAM are the shares of the measured peaks of this machine that the
network with layouts reaches, counting the operations of products and convolutions, and the bytes of inputs, weights and
results once. Peers are as pip installs them; neither they nor ours are tuned for a network.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

import numpy as np
import onnx

import layout_mlir
from layout_mlir.report import difference
from layout_mlir.tools import ToolError, whole_file

from . import onnx_networks

HERE = pathlib.Path(__file__).parent
ORACLE = "ONNX Runtime"
OURS = "laid out"
RUNTIMES = ("untouched", OURS, ORACLE, "OpenVINO", "IREE", "TVM")
TOLERANCE = 1e-3  # relative to the largest value of a result
TURNS = 20
# The environment that ./dev creates for this benchmark.
PYTHON = pathlib.Path(os.environ.get("LAYOUT_BUILD_DIR", "")) / "runtimes/venv/bin/python"
CACHE_FILE = "/sys/devices/system/cpu/cpu0/cache/index3/size"


def measure_peaks(threads, folder):
    """Returns the GFLOP/s of multiply-adds, and the GB/s of STREAM's triad on arrays larger than the caches."""
    program, cache = folder / "peaks", pathlib.Path(CACHE_FILE)
    size = int(cache.read_text().rstrip("K\n")) * 1024 if cache.exists() else 32 << 20
    subprocess.run([os.environ.get("CXX", "c++"), "-O3", "-march=native", "-pthread",
                    HERE / "peaks.cpp", "-o", program], check=True)
    done = subprocess.run([program, str(threads), str(4 * size)], check=True, capture_output=True)
    flops, stream = map(float, done.stdout.split())
    return {"gflops": flops, "stream_gb": stream}


class Peer:
    """A process of peer_process.py, which is stopped between requests."""

    def __init__(self, runtime, path, args, threads, cache):
        python = sys.executable if runtime in ("untouched", OURS) else args.python
        self.runtime, self.folder, self.limit, self.left = runtime, path.parent, args.limit, args.seconds
        self.words = path.parent / f"{runtime}.log"
        with self.words.open("w") as words:
            self.process = subprocess.Popen(
                [python, "-P", HERE / "peer_process.py", runtime, path, str(threads), path.parent],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True,
                start_new_session=True, env={**os.environ, "XDG_CACHE_HOME": str(cache)})
        self.row = self._read()
        if "error" not in self.row:
            self.row |= self._compare()

    def _read(self):
        timer = threading.Timer(self.limit, self._signal, [signal.SIGKILL])
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if not line:
            words = self.words.read_text(errors="replace").splitlines() or [""]
            return {"error": f"ended with status {self.process.wait()}: {words[-1][:200]}"}
        self._signal(signal.SIGSTOP)
        return json.loads(line)

    def _signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass  # the process has ended

    def _compare(self):
        """Returns {"difference": number}, the largest difference of the results from those of ONNX Runtime, relative to
        the largest value, or {"error": text} if it is too large or the shapes differ."""
        expected, found = ([np.load(path) for path in sorted(self.folder.glob(f"{runtime}.*.npy"))]
                           for runtime in (ORACLE, self.runtime))
        if [each.shape for each in expected] != [each.shape for each in found]:
            return {"error": "results of other shapes"}
        relative = [difference(a, b)[1] for a, b in zip(expected, found)]
        if None in relative:
            return {"error": "results are no numbers"}
        largest = max(relative)
        return {"error": f"results off by {largest:.1g}"} if largest > TOLERANCE else {"difference": largest}

    def run(self, seconds):
        """Runs the model for some seconds and records the fastest run."""
        self._signal(signal.SIGCONT)
        print(seconds, file=self.process.stdin, flush=True)
        answer = self._read()
        self.left -= max(seconds, answer.get("seconds", 0))
        self.row["error" if "error" in answer else "run_seconds"] = answer.get("error") or min(
            answer["seconds"], self.row.get("run_seconds", float("inf")))

    def time_runs(self, seconds):
        """Returns the wall times of all runs in some seconds, or an empty list if the process has ended."""
        self._signal(signal.SIGCONT)
        print(seconds, "all", file=self.process.stdin, flush=True)
        answer = self._read()
        if "error" in answer:
            self.row["error"] = answer["error"]
        return answer.get("times", [])

    def end(self):
        self._signal(signal.SIGKILL)
        self.process.communicate()


def measure(path, args, threads):
    """Returns the row of each runtime by name."""
    peers = []
    try:
        for runtime in sorted(args.runtimes, key=lambda name: name != ORACLE):
            print(f"  {runtime} ...", end="", file=sys.stderr, flush=True)
            cache = path.parent / f"cache-{runtime}"
            peer = Peer(runtime, path, args, threads, cache)
            peers.append(peer)
            if runtime == OURS and "error" not in peer.row:
                second = Peer(runtime, path, args, threads, cache)
                second.end()
                peer.row["second_seconds"] = second.row.get("seconds")
            print(" " + (peer.row.get("error") or f"{peer.row['seconds']:.1f} s"), file=sys.stderr)
            if runtime == ORACLE and "error" in peer.row:
                raise ToolError(f"ONNX Runtime says what is right, and has no answer: {peer.row['error']}")
        while round_of := [peer for peer in peers if "error" not in peer.row and peer.left > 0]:
            for peer in round_of:
                peer.run(args.seconds / TURNS)
    finally:
        for peer in peers:
            peer.end()
    rows = {peer.runtime: peer.row for peer in peers}
    return {name: rows.get(name, {"error": "not selected"}) for name in RUNTIMES}


def measure_network(name, args, counts, folder):
    """Returns the row of a network, with its results for each number of threads."""
    model = onnx_networks.make(name, args.small)
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    for number, array in enumerate(onnx_networks.draw_inputs(model)):
        np.save(folder / f"{number:02}.npy", array)
    flops, touched = onnx_networks.count(model)
    row = {"network": name, "flops": flops, "bytes": touched, "runtimes": {},
           "moved": sum(each.bytes_read + each.bytes_written
                        for each in layout_mlir.assign(path).conversions)}
    for threads in counts:
        print(f"{name}, threads: {threads}", file=sys.stderr)
        row["runtimes"][threads] = measure(path, args, threads)
    return row


def show(result, key, factor=1.0):
    return "-" if "error" in result else f"{factor * result[key]:.3g}"


def print_table(title, header, lines):
    print(f"\n{title}\n")
    for line in (header, ["---"] + ["---:"] * (len(header) - 1), *lines):
        print(f"| {' | '.join(line)} |")


def print_times(rows, threads, peaks):
    def share(amount, seconds, peak):
        return f"{100 * amount / seconds / peak / 1e9:.0f} %" if seconds else "-"

    lines = []
    for row in rows:
        results = row["runtimes"][threads]
        ours = results[OURS].get("run_seconds")
        lines.append([
            row["network"], *(show(results[name], "run_seconds", 1e3) for name in RUNTIMES),
            share(row["flops"], ours, peaks["gflops"]), share(row["bytes"], ours, peaks["stream_gb"]),
            f"{row['moved'] / 1e6:.1f}",
            f"{max(each.get('difference', 0) for each in results.values()):.0e}"])
    print_table(f"Milliseconds, threads: {threads}; multiply-adds reach {peaks['gflops']:.0f} GFLOP/s, "
                f"STREAM {peaks['stream_gb']:.1f} GB/s",
                ["network", *RUNTIMES, "FMA", "STREAM", "MB moved", "difference"], lines)


def print_loading(rows, threads):
    lines = []
    for row in rows:
        results = row["runtimes"][threads]
        lines.append([row["network"], show(results[OURS], "second_seconds"),
                      *(f"{show(results[name], 'seconds')} / {show(results[name], 'bytes', 1e-6)}"
                        for name in RUNTIMES)])
    print_table(f"Seconds to load, and MB that this takes; threads: {threads}",
                ["network", f"{OURS}, again", *RUNTIMES], lines)


def print_notes(rows):
    """Prints the versions, and the reasons for results that are missing in the tables."""
    releases, missing = {}, {}
    for row in rows:
        for results in row["runtimes"].values():
            for name, result in results.items():
                if result.get("version"):
                    releases[name] = result["version"]
                if "error" in result:
                    missing.setdefault((name, result["error"]), {})[row["network"]] = None
    print("\n" + ", ".join(f"{name} {release}" for name, release in releases.items()))
    for (name, error), networks in missing.items():
        print(f"- {name}: {error} ({', '.join(networks)})")


def add_options(parser, runtimes, seconds, counted):
    """Adds the options for networks, runtimes and runs. `counted` is the help text of `--seconds`."""
    onnx_networks.add_options(parser)
    parser.add_argument("--runtimes", metavar="A,B", type=lambda text: text.split(","), default=runtimes,
                        help=f"only these of {', '.join(runtimes)}; {ORACLE} says what is right")
    parser.add_argument("--seconds", type=float, default=seconds, help=counted)
    parser.add_argument("--limit", type=float, default=900, help="seconds that it may take to load")
    parser.add_argument("--python", default=PYTHON if os.access(PYTHON, os.X_OK) else sys.executable,
                        help="that has the others (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")


def parse_options(parser, argv, runtimes):
    """Returns the arguments. Its runtimes must be in `runtimes` and include the oracle."""
    args = parser.parse_args(argv)
    if unknown := set(args.runtimes) - set(runtimes) or {ORACLE} - set(args.runtimes):
        parser.error(f"--runtimes: {', '.join(unknown)}: it takes {ORACLE} and others of {', '.join(runtimes)}")
    return args


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, RUNTIMES, 2, "that each runtime runs at least")
    args = parse_options(parser, argv, RUNTIMES)
    names = onnx_networks.get_built(parser, args)
    rows, counts, failed = [], sorted({1, args.threads}), False
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
        peaks = {threads: measure_peaks(threads, pathlib.Path(scratch)) for threads in counts}
        for name in names:
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                try:
                    rows.append(measure_network(name, args, counts, pathlib.Path(folder)))
                except ToolError as error:
                    print(f"{name}: {error}", file=sys.stderr)
                    failed = True
            if args.json:  # written after each network, so that an interrupted run keeps its results
                with whole_file(args.json) as file:
                    file.write(json.dumps({"peaks": peaks, "rows": rows}, indent=1) + "\n")
    for threads in counts:
        print_times(rows, threads, peaks[threads])
    print_loading(rows, 1)
    print_notes(rows)
    return 1 if failed else 0
