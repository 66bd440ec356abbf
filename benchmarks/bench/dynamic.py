"""./dev bench --dynamic: networks with dynamic sizes, compared with the same networks with static sizes.

An ONNX model is compiled twice, with its dynamic sizes and with those of its inputs, and both programs run alternately
in one process on the same inputs. Their results are compared before times are measured. The ratio is the median over
pairs of runs; on one thread, times are processor time. `--model` adds another model, e.g. a detector with dynamic
height and width.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx

import layout_mlir
from layout_mlir import LayoutError
from layout_mlir.report import difference
from layout_mlir.run import positive
from layout_mlir.tools import ToolError

from . import onnx_networks
from .rows import write_json

TOLERANCE = 1e-3  # relative to the largest value of a result


def resnet50(g, image=224, scale=1.0, blocks=(3, 4, 6, 3), classes=1000):
    """He et al. 2015, with the stride on the 3x3 convolution."""
    def bottleneck(x, width, stride):
        y = g.op("Relu", g.conv(x, width, 1))
        y = g.conv(g.op("Relu", g.conv(y, width, 3, stride)), 4 * width, 1, gain=0.5)
        if stride != 1 or x.width != y.width:
            x = g.conv(x, y.width, 1, stride, gain=1.0)
        return g.op("Relu", g.op("Add", x, y))

    x = g.op("Relu", g.conv(g.input("image", 1, 3, image, image, width=3), int(64 * scale), 7, 2))
    x = g.op("MaxPool", x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    for stage, count in enumerate(blocks):
        for block in range(count):
            x = bottleneck(x, int(64 * scale) << stage, 2 if stage and not block else 1)
    return [g.classifier(x, classes)]


def detector(g, image=320, scale=1.0, classes=18):
    """Based on YOLOv8n (Jocher 2023): features of three scales, merged from coarse to fine and back, and predictions
    for each position."""
    def conv(x, width, kernel=3, stride=1):
        return g.silu(g.conv(x, int(width * scale), kernel, stride))

    def join(x, y):
        return g.op("Concat", x, y, axis=1, width=x.width + y.width)

    def stage(x, width, count):
        y = conv(x, width, 1)
        first, last = g.split(y, 2, axis=1)
        parts = join(first, last)
        for _ in range(count):
            last = g.op("Add", last, conv(conv(last, last.width / scale), last.width / scale))
            parts = join(parts, last)
        return conv(parts, width, 1)

    def upsample(x):
        return g.op("Resize", x, np.array([], np.float32), np.array([1, 1, 2, 2], np.float32),
                    mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")

    def predict(x):
        y = g.conv(conv(x, 64), 4 + classes, 1, gain=1.0)
        return g.op("Reshape", y, np.array([0, 4 + classes, -1]))

    x = stage(conv(conv(g.input("image", 1, 3, image, image, width=3), 16, stride=2), 32, stride=2), 32, 1)
    fine = stage(conv(x, 64, stride=2), 64, 2)
    middle = stage(conv(fine, 128, stride=2), 128, 2)
    coarse = stage(conv(middle, 256, stride=2), 256, 1)
    pooled = [conv(coarse, 128, 1)]
    for _ in range(3):
        pooled.append(g.op("MaxPool", pooled[-1], kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1]))
    coarse = conv(join(join(*pooled[:2]), join(*pooled[2:])), 256, 1)
    middle = stage(join(upsample(coarse), middle), 128, 1)
    fine = stage(join(upsample(middle), fine), 64, 1)
    down = stage(join(conv(fine, 64, stride=2), middle), 128, 1)
    last = stage(join(conv(down, 128, stride=2), coarse), 256, 1)
    return [g.op("Concat", *map(predict, (fine, down, last)), axis=2)]


# For each network its builder, the dynamic dims of its inputs, and their sizes in each run; SMALL has those of the
# tests.
ROWS = {
    "resnet50": (resnet50, {0: "batch"}, [{"batch": 1}, {"batch": 3}]),
    "bert_base": (onnx_networks.bert_base, {0: "batch", 1: "tokens"},
                  [{"batch": 1, "tokens": 128}, {"batch": 1, "tokens": 77}, {"batch": 3, "tokens": 50}]),
    "detector": (detector, {2: "height", 3: "width"},
                 [{"height": 320, "width": 320}, {"height": 256, "width": 416}]),
}
SMALL = {
    "resnet50": ({"image": 40, "scale": 0.2, "blocks": (1, 2, 1, 1), "classes": 10}, [{"batch": 2}]),
    "bert_base": (onnx_networks.SMALL[onnx_networks.bert_base], [{"batch": 2, "tokens": 13}]),
    "detector": ({"image": 64, "scale": 0.25, "classes": 3}, [{"height": 64, "width": 96}]),
}


def make(name, small):
    """Returns the model with dynamic sizes, and the shapes of the inputs of each run."""
    function, dynamic_dims, runs = ROWS[name]
    options, runs = SMALL[name] if small else ({}, runs)
    graph = onnx_networks.Graph(name)
    model = graph.model(*function(graph, **options))
    shapes = []
    for run in runs:
        shapes.append({})
        for value in model.graph.input:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            shapes[-1][value.name] = [run[dynamic_dims[d]] if d in dynamic_dims else size
                                      for d, size in enumerate(shape)]
    for value in model.graph.input:
        for number, dim_name in dynamic_dims.items():
            value.type.tensor_type.shape.dim[number].dim_param = dim_name
    return onnx.shape_inference.infer_shapes(model, strict_mode=True), shapes


def draw(model, shapes):
    """Yields random inputs of the model; indices are 0 or 1."""
    random = np.random.default_rng(0)
    for value in model.graph.input:
        shape = shapes[value.name]
        yield random.integers(0, 2, shape) if value.type.tensor_type.elem_type == onnx.TensorProto.INT64 \
            else random.standard_normal(shape, np.float32)


def as_list(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def measure(path, dynamic, shapes, inputs, args):
    """Returns the seconds of one run of both programs, and the difference of their results."""
    static = layout_mlir.compile(path, shapes=shapes, threads=args.threads)
    programs = [static, dynamic]
    expected, found = (as_list(program(*inputs)) for program in programs)
    relative = [difference(a, b)[1] for a, b in zip(expected, found)]
    if None in relative or max(relative) > TOLERANCE:
        raise ToolError(f"results differ: {relative}")
    clock = time.process_time if args.threads == 1 else time.perf_counter
    end, pairs = time.perf_counter() + args.seconds, []
    while not pairs or time.perf_counter() < end:
        programs.reverse()
        taken = {}
        for program in programs:
            begin = clock()
            program(*inputs)
            taken[program is dynamic] = clock() - begin
        pairs.append((taken[False], taken[True]))
    return {"static_seconds": min(pair[0] for pair in pairs), "seconds": min(pair[1] for pair in pairs),
            "ratio": statistics.median(b / a for a, b in pairs), "difference": max(relative)}


def describe(shapes):
    return ", ".join("x".join(map(str, shape)) for shape in dict.fromkeys(map(tuple, shapes.values())))


def measure_model(name, path, model, runs, args):
    rows = []
    dynamic = layout_mlir.compile(path, threads=args.threads)
    for shapes in runs:
        row = {"network": name, "shapes": shapes,
               **measure(path, dynamic, shapes, list(draw(model, shapes)), args)}
        rows.append(row)
        print(f"{name:<16}{describe(shapes):<18}{row['static_seconds'] * 1e3:>11.2f}"
              f"{row['seconds'] * 1e3:>13.2f}{row['ratio']:>8.2f}{row['difference']:>12.1g}", flush=True)
    return rows


def read_shape(text):
    name, _, sizes = text.rpartition("=")
    return name, [int(size) for size in sizes.split("x")]


def main(argv=None):
    parser = argparse.ArgumentParser(prog="./dev bench --dynamic", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    onnx_networks.add_names(parser)
    parser.add_argument("--model", metavar="FILE.onnx", type=pathlib.Path, help="only this one")
    parser.add_argument("--shape", action="append", default=[], metavar="NAME=1x3x320x320", type=read_shape,
                        help="of an input of the model")
    parser.add_argument("--small", action="store_true", help="networks as in the tests")
    parser.add_argument("--threads", type=positive, metavar="N", default=1, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=3, help="that each row is measured")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    args = parser.parse_args(argv)
    names = [args.model.name] if args.model else onnx_networks.get_names(parser, args, ROWS)
    print(f"{'network':<16}{'inputs':<18}{'static ms':>11}{'dynamic ms':>13}{'ratio':>8}{'difference':>12}")
    rows, failed = [], False
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
        for name in names:
            try:
                if args.model:
                    path, model, runs = args.model, onnx.load(args.model), [dict(args.shape)]
                else:
                    model, runs = make(name, args.small)
                    path = pathlib.Path(scratch, f"{name}.onnx")
                    onnx.save(model, path)
                rows += measure_model(name, path, model, runs, args)
            except (ToolError, LayoutError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed = True
    write_json(args.json, threads=args.threads, rows=rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
