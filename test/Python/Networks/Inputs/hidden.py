"""Compares BERT with and without its embeddings.

usage: hidden.py FOLDER [OPTION..]

Runs the small network with layouts on ids; embeds the same ids here, with the tables that the network has as arguments;
and runs the network on embedded sequences with them. Fails if a result differs.
"""

import pathlib
import sys

import numpy as np

from layout_mlir.tools import run_tool
from networks import NETWORKS
from networks.__main__ import main as generate

TARGET = '#layout.cpu<lanes = 16>'
LIMIT = 1e-5


def run(path, arguments):
    """Returns the results with layouts on {name: array}."""
    inputs = []
    for name, array in arguments.items():
        inputs.append(path.with_suffix(f".{name}.npy"))
        np.save(inputs[-1], array)
    outputs = [path.with_suffix(f".result{i}.npy") for i in range(2)]
    run_tool("layout-opt", path, f"--layout-to-cpu=target={{{TARGET}}}", "--emit-bytecode",
             "-o", path.with_suffix(".mlirbc"))
    run_tool("layout-run", path.with_suffix(".mlirbc"), "--opt-level=0",
             *(f"--input={each}" for each in inputs), *(f"--output={each}" for each in outputs))
    return [np.load(output) for output in outputs]


def write(path, *options):
    """Writes the network; returns the names of its arguments, and examples of them."""
    generate(["bert_base", "--small", "--weights", "arguments", *options, "-o", str(path),
              "--inputs", str(path.with_suffix(""))])
    line, = (line for line in path.read_text().splitlines() if "func.func @main" in line)
    names = [part.split(":")[0] for part in line.split("->")[0].split("%")[1:]]
    return {name: np.load(path.with_suffix("") / f"{i}.npy") for i, name in enumerate(names)}


def embedded(a):
    words, kinds, positions = (a[f"embeddings_{name}_weight"].astype(np.float64)
                               for name in ("words", "kinds", "positions"))
    x = words[a["ids"]] + kinds[a["kinds"]] + positions[:a["ids"].shape[1]]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
    return (x * a["embeddings_norm_scale"] + a["embeddings_norm_shift"]).astype(np.float32)


def main(folder, *options):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    whole = write(folder / "whole.mlir", *options)
    rest = write(folder / "rest.mlir", "--hidden-input", *options)
    if rest["embedded"].shape != (*whole["ids"].shape, NETWORKS["bert_base"].small["hidden"]):
        sys.exit(f"the argument has the shape {rest['embedded'].shape}")
    # The same mask and weights, without those of the embeddings.
    names = [name for name in whole if not name.startswith("embeddings_")]
    names = [name for name in names if name not in ("ids", "kinds")]
    if names != [name for name in rest if name != "embedded"]:
        sys.exit(f"the arguments differ: {list(rest)}")
    if any((whole[name] != rest[name]).any() for name in names):
        sys.exit("the weights differ")
    expected = run(folder / "whole.mlir", whole)
    actual = run(folder / "rest.mlir", {**rest, "embedded": embedded(whole)})
    for a, b in zip(expected, actual):
        difference = np.abs(a - b).max() / np.abs(a).max() if a.shape == b.shape else np.inf
        print(f"{b.shape}, relative difference {difference:.1e}")
        # Fails for NaN, too.
        if not difference <= LIMIT:
            sys.exit("the results differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
