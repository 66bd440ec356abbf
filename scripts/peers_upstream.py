"""Runs the test modules of upstream MLIR through the CPU, OpenCL and NPU pipelines.

usage: peers_upstream.py TOOL CACHE [--source DIRECTORY] [--targets cpu,opencl,npu]
                         [--only REGEX] [--jobs N] [--timeout SECONDS]

TOOL is layout-opt. A module is every piece (between `// -----`) of every .mlir file below
mlir/test/Dialect/{Linalg,Tensor,SCF,Tosa,Arith,Bufferization} that stock mlir-opt accepts. For each target it must
either be lowered, or be refused with an error that has a location in the file and names a way out: what to do, after a
colon or a semicolon in the error or in a note. Modules that use upstream's test dialect, which only mlir-opt registers,
are counted as foreign. Any other outcome is a fault, and the exit status is 1:

  crashed    the process crashed
  invalid    the verifier rejected the result of a pass
  timed out  the time limit was exceeded
  unlocated  an error without a location, or no error message at all
  bare       an error without a way out

The modules come from Debian's LLVM source package: that of the release that the project builds with or, if the archive
does not have it, of the newest older one. --source names a directory with mlir/test/Dialect instead. The outcomes are
listed in CACHE/report-TARGET.txt.
"""

import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys

from debian_source import Archive, SourceError, extract

DIALECTS = ("Linalg", "Tensor", "SCF", "Tosa", "Arith", "Bufferization")
RELEASES = (22, 21, 20, 19)
PIPELINES = {
    "cpu": '--layout-to-cpu=target={#layout.cpu<lanes = 16>}',
    "opencl": '--layout-to-opencl=target={#layout.opencl}',
    "npu": '--layout-to-npu=target={#layout.npu<chip = #npu.target<"BM1684">>}',
}
FAULTS = ("crashed", "invalid", "timed out", "unlocated", "bare")
KINDS = ("lowered", "refused", "foreign", *FAULTS)
UNREGISTERED = "--allow-unregistered-dialect"

_CRASH = re.compile(r"PLEASE submit a bug report|LLVM ERROR|Assertion .* failed")
_ERROR = re.compile(r"(?m)^(.*?):? ?error: (.*)$")
_PLACE = re.compile(r":\d+:\d+$")
_NOTE = re.compile(r"(?m): note: (?!see )(.*)$")
_WAY_OUT = re.compile(r"[;:] [a-z]")


def get_source(cache):
    """Returns a directory with mlir/test/Dialect, and the name of its release."""
    for release in RELEASES:
        directory = os.path.join(cache, f"llvm-{release}")
        stamp = os.path.join(directory, ".complete")
        if os.path.exists(stamp):
            return directory, f"LLVM {release}"
    archive = Archive(cache)
    for release in RELEASES:
        directory = os.path.join(cache, f"llvm-{release}")
        package = f"llvm-toolchain-{release}"
        try:
            path = archive.download(package)
        except SourceError as error:
            print(f"{package} cannot be had: {error}", file=sys.stderr)
            continue
        wanted = tuple(f"mlir/test/Dialect/{dialect}/" for dialect in DIALECTS)
        extract(path, wanted, directory)
        os.remove(path)
        open(os.path.join(directory, ".complete"), "w", encoding="utf-8").close()
        return directory, f"LLVM {release}"
    raise SourceError("no release's source package can be had; name a directory "
                      "with --source")


def write_pieces(source, cache):
    """Writes one file per module, named after its origin, and returns their names."""
    pieces = os.path.join(cache, "modules")
    shutil.rmtree(pieces, ignore_errors=True)
    names = []
    for dialect in DIALECTS:
        root = os.path.join(source, "mlir/test/Dialect", dialect)
        for path in sorted(glob.glob(os.path.join(root, "**/*.mlir"), recursive=True)):
            with open(path, encoding="utf-8") as file:
                # An expectation that is not met would count as an error.
                text = file.read().replace("// expected-", "// ")
            parts = re.split(r"(?m)^[ \t]*// -----.*$", text)
            stem = os.path.relpath(path, os.path.dirname(root))[:-len(".mlir")]
            for number, text in enumerate(parts):
                if not text.strip():
                    continue
                name = os.path.join(pieces, f"{stem}.{number}.mlir")
                os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
                names.append(name)
    return names


def run(command, timeout):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Wall time is a last resort, because the machine may be busy with other work.
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=10 * timeout,
                              preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return None


class Parser:
    """Tests by stock mlir-opt whether it accepts a module. A call returns the options that it needs for this file, or
    None if it does not accept it. Results are cached by the contents of the file."""

    def __init__(self, cache, timeout):
        self.path = os.path.join(cache, "parsed.json")
        self.timeout = timeout
        self.known = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = json.load(file)

    def __call__(self, name):
        with open(name, "rb") as file:
            key = hashlib.sha256(file.read()).hexdigest()
        if key not in self.known:
            self.known[key] = next(
                (options for options in ([], [UNREGISTERED])
                 if (result := run(["mlir-opt-22", name, "-o", os.devnull, *options],
                                   self.timeout)) and result.returncode == 0), None)
        return self.known[key]

    def save(self):
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.known, file)


def first_error(result):
    match = _ERROR.search(result.stderr)
    return (match.group(1), match.group(2)) if match else None


def mentions_test_dialect(name):
    """Returns true if the module may contain ops that stock mlir-opt registers and layout-opt does not."""
    with open(name, encoding="utf-8") as file:
        return re.search(r"\btest[._]|\.test_", file.read()) is not None


def classify(tool, name, options, target, timeout):
    """Returns the outcome of the pipeline for `target` on a module, and the first error."""
    command = [tool, name, *options, PIPELINES[target]]
    result = run(command, timeout)
    if result is None or result.returncode in (-24, -9):
        return "timed out", ""
    error = first_error(result)
    text = error[1] if error else result.stderr.strip()[-300:]
    if result.returncode < 0 or result.returncode > 1 or _CRASH.search(result.stderr):
        return "crashed", text
    if result.returncode == 0:
        return "lowered", ""
    if not error or not _PLACE.search(error[0]) or result.stdout.strip():
        return "unlocated", text
    if mentions_test_dialect(name):
        parsed = run([tool, name, *options, "-o", os.devnull], timeout)
        if parsed is None or parsed.returncode:
            if UNREGISTERED in options:
                return "foreign", text
            return classify(tool, name, [UNREGISTERED], target, timeout)
    # An error of the verifier disappears or changes without --verify-each.
    again = run([*command, "--verify-each=false"], timeout)
    if again is None or first_error(again) != error:
        return "invalid", text
    notes = _NOTE.findall(result.stderr)
    named = any(_WAY_OUT.search(message) for message in (text, *notes))
    return ("refused" if named else "bare"), text


def write_report(path, root, found):
    """Writes every outcome, its messages sorted by frequency, and the modules of each."""
    with open(path, "w", encoding="utf-8") as file:
        for kind in KINDS:
            rows = [(name, text) for name, (other, text) in found.items() if other == kind]
            print(f"{kind}: {len(rows)}", file=file)
            if kind == "lowered":
                continue
            groups = collections.defaultdict(list)
            for name, text in rows:
                groups[re.sub(r"'[^']*'|\d+", "_", text)].append((name, text))
            for group in sorted(groups.values(), key=len, reverse=True):
                print(f"  {len(group)} x {group[0][1][:400]}", file=file)
                for name, _ in group:
                    print(f"      {os.path.relpath(name, root)}", file=file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("cache")
    parser.add_argument("--source")
    parser.add_argument("--targets", default=",".join(PIPELINES))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=60)
    arguments = parser.parse_args()
    os.makedirs(arguments.cache, exist_ok=True)
    if arguments.source:
        source, release = arguments.source, arguments.source
    else:
        source, release = get_source(arguments.cache)
    names = [name for name in write_pieces(source, arguments.cache)
             if re.search(arguments.only, name)]
    print(f"{len(names)} modules of {release}")

    faults = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        parse = Parser(arguments.cache, arguments.timeout)
        parsed = list(pool.map(parse, names))
        parse.save()
        accepted = [(name, options) for name, options in zip(names, parsed)
                    if options is not None]
        for target in arguments.targets.split(","):
            kinds = pool.map(lambda item: classify(arguments.tool, *item, target,
                                                   arguments.timeout), accepted)
            found = {name: kind for (name, _), kind in zip(accepted, kinds)}
            counts = collections.Counter(kind for kind, _ in found.values())
            write_report(os.path.join(arguments.cache, f"report-{target}.txt"),
                         os.path.join(arguments.cache, "modules"), found)
            # A target that lowers no module counts as a fault: nothing was tested.
            faults += sum(counts[kind] for kind in FAULTS) + (not counts["lowered"])
            print(f"{target}: {len(accepted)} parsed, " + ", ".join(
                f"{counts[kind]} {kind}" for kind in KINDS),
                flush=True)
    return 1 if faults or not accepted else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SourceError as error:
        sys.exit(f"peers_upstream: {error}")
