"""Compiles the network with user-op, runs it, and compares it with NumPy.

    check.py USER-OP LAYOUT-RUN [PIPELINE]

Inputs are whole numbers, so that sums are exact in any order. Batches and channels vary; 60 and 100 channels are not
multiples of the 16 lanes.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

user_op, layout_run, pipeline = (sys.argv[1:] + ["layout-to-cpu"])[:3]
network = pathlib.Path(__file__).with_name("network.mlir").read_text()


def call(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def run(text, inputs, directory):
    program = directory / "program.mlir"
    program.write_text(call(user_op, pipeline, input=text))
    files = [directory / f"{i}.npy" for i in range(len(inputs))]
    for file, value in zip(files, inputs):
        np.save(file, value)
    result = directory / "result.npy"
    call(layout_run, program, *(f"--input={file}" for file in files), f"--output={result}")
    return np.load(result)


random = np.random.default_rng(16)
for batch, channels in (1, 64), (1, 60), (3, 100), (2, 7):
    x, gate, w = (random.integers(-3, 4, shape).astype("f4") for shape in (
        (batch, channels, 3, 3), (batch, channels), (channels, channels)))
    text = network.replace("tensor<1x", f"tensor<{batch}x").replace("64", str(channels))
    text = text.replace("dense<0.5>", f'dense<"0x{w.tobytes().hex()}">')
    gated = np.einsum("fc,nchw->nfhw", w, x) * gate[:, :, None, None]
    with tempfile.TemporaryDirectory() as directory:
        y = run(text, (x, gate), pathlib.Path(directory))
    equal = np.array_equal(y, np.einsum("fc,nchw->nfhw", w, gated))
    print("x".join(map(str, y.shape)), "equal" if equal else "differs")
