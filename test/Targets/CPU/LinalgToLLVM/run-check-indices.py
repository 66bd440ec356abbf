# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that an index out of bounds ends a program with an error, with and without layouts.

import pathlib
import subprocess
import sys

import numpy as np
from index_cases import Case, lookups, loops, nested

import layout_mlir

folder = pathlib.Path(sys.argv[1])
WAYS = {"plain": "--layout-linalg-to-llvm", "laid out": "--layout-to-cpu=target={#layout.cpu<lanes = 16>}"}


def check(case: Case, lowered: pathlib.Path, way: str) -> None:
    command = ["layout-run", lowered, "--opt-level=1"]
    for number, array in enumerate(case.inputs):
        np.save(folder / f"in{number}.npy", array)
        command.append(f"--input={folder}/in{number}.npy")
    outputs = [] if isinstance(case.wanted, str) else [folder / f"out{i}.npy" for i in range(len(case.wanted))]
    done = subprocess.run([*command, *(f"--output={path}" for path in outputs)], text=True, capture_output=True)
    if isinstance(case.wanted, str):
        assert done.returncode == 1 and f"an assertion does not hold: {case.wanted}\n" in done.stderr, \
            (case.name, way, done.returncode, done.stderr)
        return
    assert done.returncode == 0, (case.name, way, done.stderr)
    for path, wanted in zip(outputs, case.wanted, strict=True):
        np.testing.assert_array_equal(np.load(path), wanted, err_msg=f"{case.name}, {way}")


cases = [*lookups(), *nested(), *loops()]
for way, passes in WAYS.items():
    known: dict[str, pathlib.Path] = {}
    for case in cases:
        if case.text not in known:
            source, lowered = folder / "source.mlir", folder / f"{way[0]}{len(known)}.mlir"
            source.write_text(case.text)
            subprocess.run(["layout-opt", source, passes, "-o", lowered], check=True)
            known[case.text] = lowered
        check(case, known[case.text], way)

# Without the checks, the access is unchecked: nothing asserts.
source.write_text(cases[0].text)
plain = subprocess.run(["layout-opt", source, "--layout-linalg-to-llvm=check-indices=false"], text=True,
                       capture_output=True, check=True)
assert "abort" not in plain.stdout

# Python raises, and the program can run again.
case = next(case for case in cases if isinstance(case.wanted, str))
program = layout_mlir.compile(case.text)
good = cases[0]
for _ in range(3):
    try:
        program(*case.inputs)
        raise SystemExit("no error was raised")
    except layout_mlir.LayoutError as error:
        assert case.wanted.split(': ')[-1] in str(error), error  # the text names the value that is read
    np.testing.assert_array_equal(program(*good.inputs), good.wanted[0])
