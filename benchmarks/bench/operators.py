"""./dev bench --operators: models of one operator, compared with ONNX Runtime.

Inputs and results of the operator are those of the model, so no layout is chosen. Both run alternately in one process
on the same inputs, after their results agree. Times are the shortest of all runs, on one thread in processor time, and
the ratio is that of these times; rows above 1.1 are marked.
"""

import argparse
import pathlib
import time

import numpy as np
import onnx
from onnx import TensorProto

from layout_mlir.run import positive

from . import onnx_networks
from .pairs import load_pair
from .peers import ORACLE, OURS
from .rows import measure_rows, write_json

MOST_RATIO = 1.1


def unary(kind, *shape, **attributes):
    """Returns a builder of a model with one operator on one input."""
    return lambda g: g.op(kind, g.input("x", *shape, width=shape[-1]), **attributes)


def window(kind, channels, size, **attributes):
    """Returns a builder of an operator on 3x3 windows with padding and stride 2."""
    return unary(kind, 1, channels, size, size, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, **attributes)


def resize(channels, size, **attributes):
    """Returns a builder that doubles the height and width of an image."""
    return lambda g: g.op("Resize", g.input("x", 1, channels, size, size, width=channels), np.array([], np.float32),
                          np.array([1, 1, 2, 2], np.float32), **attributes)


def conv(inner, outer, image, kernel, group=1, **attributes):
    """Returns a builder of a convolution of one image with constant filters."""
    return lambda g: g.op("Conv", g.input("x", 1, inner, *image, width=inner),
                          g.weight(outer, inner // group, *kernel, contracted=inner // group * np.prod(kernel)),
                          width=outer, group=group, **attributes)


def recurrent(kind, gates, steps, width, hidden):
    """Returns a builder of a recurrent layer in one direction, with batch 1."""
    return lambda g: g.op(kind, g.input("x", steps, 1, width, width=width),
                          g.weight(1, gates * hidden, width, contracted=width),
                          g.weight(1, gates * hidden, hidden, contracted=hidden),
                          g.weight(1, 2 * gates * hidden, contracted=100), hidden_size=hidden)


def gather(rows, width, count):
    """Returns a builder of lookups in a table; the indices are 0 or 1."""
    return lambda g: g.op("Gather", g.weight(rows, width, contracted=1),
                          g.input("ids", count, element=TensorProto.INT64), width=width)


def binary(kind, first, second):
    """Returns a builder of an operator on two inputs."""
    return lambda g: g.op(kind, g.input("x", *first, width=first[-1]), g.input("y", *second, width=second[-1]))


def concat(axis, *shapes):
    return lambda g: g.op("Concat", *(g.input(f"x{number}", *shape, width=shape[-1])
                                      for number, shape in enumerate(shapes)), axis=axis)


def on_tokens(function, *shape):
    """Returns a builder of a block of Graph on one input."""
    return lambda g: function(g, g.input("x", *shape, width=shape[-1]))


ROWS = {
    "max pool 3x3, stride 2, 64x112x112": window("MaxPool", 64, 112),
    "max pool 5x5, stride 1, 128x10x10": unary("MaxPool", 1, 128, 10, 10, kernel_shape=[5, 5], pads=[2] * 4),
    "average pool 3x3, stride 2, 64x56x56": window("AveragePool", 64, 56),
    "global average pool 1280x7x7": unary("GlobalAveragePool", 1, 1280, 7, 7),
    "softmax 128x512": unary("Softmax", 128, 512),
    "softmax 2048x512": unary("Softmax", 2048, 512),
    "softmax 12x128x128": unary("Softmax", 12, 128, 128),
    "log softmax 128x1000": unary("LogSoftmax", 128, 1000),
    "softmax over channels 21x65x65": unary("Softmax", 1, 21, 65, 65, axis=1),
    "resize linear 64x56x56": resize(64, 56, mode="linear"),
    "resize nearest 64x56x56": resize(64, 56, mode="nearest", nearest_mode="floor",
                                      coordinate_transformation_mode="asymmetric"),
    "conv 3x3 dilated by 12, 128x33x33": conv(128, 128, (33, 33), (3, 3), dilations=[12, 12], pads=[12] * 4),
    "conv 3x3 depthwise 96x56x56": conv(96, 96, (56, 56), (3, 3), group=96, pads=[1] * 4),
    "conv 7x7, stride 2, 3x224x224": conv(3, 64, (224, 224), (7, 7), strides=[2, 2], pads=[3] * 4),
    "spectrogram, 402 filters of 400, stride 160": conv(1, 402, (16000,), (400,), strides=[160]),
    "spectrogram, 258 filters of 256, stride 64": conv(1, 258, (576,), (256,), strides=[64]),
    "lstm 64 steps, 128": recurrent("LSTM", 4, 64, 128, 128),
    "lstm 20 steps, 32": recurrent("LSTM", 4, 20, 32, 32),
    "gru 64 steps, 128": recurrent("GRU", 3, 64, 128, 128),
    "tanh 8x128x3072": unary("Tanh", 8, 128, 3072),
    "tanh 128x768": unary("Tanh", 128, 768),
    "sigmoid 8x128x3072": unary("Sigmoid", 8, 128, 3072),
    "sigmoid 128x768": unary("Sigmoid", 128, 768),
    "exp 8x128x768": unary("Exp", 8, 128, 768),
    "erf 128x3072": unary("Erf", 128, 3072),
    "gelu 128x3072": on_tokens(onnx_networks.Graph.gelu, 128, 3072),
    "silu 128x3072": on_tokens(onnx_networks.Graph.silu, 128, 3072),
    "hard swish 96x56x56": unary("HardSwish", 1, 96, 56, 56),
    "layer norm 197x768": on_tokens(onnx_networks.Graph.layer_norm, 197, 768),
    "layer norm 8x197x768": on_tokens(onnx_networks.Graph.layer_norm, 8, 197, 768),
    "rms norm 128x1024": on_tokens(onnx_networks.Graph.rms_norm, 128, 1024),
    "mean over pixels 4x256x28x28": unary("ReduceMean", 4, 256, 28, 28, axes=[2, 3]),
    "mean over channels 64x112x112": unary("ReduceMean", 1, 64, 112, 112, axes=[1]),
    "sum over rows 128x768": unary("ReduceSum", 128, 768),
    "maximum of rows 128x768": unary("ReduceMax", 128, 768, axes=[1]),
    "transpose heads 8x128x12x64": unary("Transpose", 8, 128, 12, 64, perm=[0, 2, 1, 3]),
    "transpose keys 8x128x12x64": unary("Transpose", 8, 128, 12, 64, perm=[0, 2, 3, 1]),
    "transpose to channels last 64x112x112": unary("Transpose", 1, 64, 112, 112, perm=[0, 2, 3, 1]),
    "gather 128 rows of 768": gather(30522, 768, 128),
    "add of a row 128x3072": binary("Add", (128, 3072), (3072,)),
    "multiply by channels 96x56x56": binary("Mul", (1, 96, 56, 56), (1, 96, 1, 1)),
    "concat of channels 64x56x56": concat(1, (1, 64, 56, 56), (1, 64, 56, 56)),
    "matmul 128x768x768": binary("MatMul", (128, 768), (768, 768)),
    "matmul 1x768x3072": binary("MatMul", (1, 768), (768, 3072)),
}


def measure(name, args, folder):
    graph = onnx_networks.Graph(name)
    model = onnx.shape_inference.infer_shapes(graph.model(ROWS[name](graph)), strict_mode=True)
    calls = load_pair(model, folder / "model.onnx", args.threads)
    clock = time.process_time if args.threads == 1 else time.perf_counter
    least, order = dict.fromkeys(calls, float("inf")), list(calls)
    for _ in range(args.rounds):
        order.reverse()
        for runtime in order:
            least[runtime] = min(least[runtime], find_least(calls[runtime], clock, args.seconds / args.rounds / 2))
    return {"operator": name, "seconds": least, "ratio": least[OURS] / least[ORACLE]}


def find_least(call, clock, seconds):
    """Returns the time of the shortest call within `seconds`."""
    least, end = float("inf"), time.perf_counter() + seconds
    while least == float("inf") or time.perf_counter() < end:
        begin = clock()
        call()
        least = min(least, clock() - begin)
    return least


def show(row):
    return (f"{row['operator']:<46}" + "".join(f"{seconds * 1e6:>14.1f}" for seconds in row["seconds"].values())
            + f"{row['ratio']:>8.2f}{' !' * (row['ratio'] > MOST_RATIO)}")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --operators", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only operators whose name contains this")
    parser.add_argument("--threads", type=positive, metavar="N", default=1, help="default: %(default)s")
    parser.add_argument("--rounds", type=positive, metavar="N", default=15, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=1.5, help="that each row is measured (default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [name for name in ROWS if args.only in name]
    if not names:
        parser.error(f"no operator matches '{args.only}'")
    print(f"{'microseconds':<46}" + "".join(f"{each:>14}" for each in (OURS, ORACLE)) + f"{'ratio':>8}", flush=True)
    rows, complete = measure_rows(names, lambda name, folder: measure(name, args, folder), show)
    write_json(args.json, threads=args.threads, rows=rows)
    return 0 if complete else 1
