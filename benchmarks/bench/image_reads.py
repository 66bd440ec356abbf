"""Counts the reads per result pixel in the kernels of a network, compared with MACE's image kernels.

The layouts are the optimal ones. A remark for each reduction states the reads of one work-item of its kernel and the
number of work-items. MACE's OpenCL kernels (mace/ops/opencl/cl) are modeled as follows:

- A work-item computes four pixels along the width, five in 3x3 convolutions. For every four summed channels and every
  position of the window it reads four filter pixels, and one data pixel for each of its pixels.
- Depthwise convolutions with stride 1 reuse three of four data pixels from one position to the next.
- Work-items of poolings compute one pixel, those of products 4x4 elements.
- Layers with one row read the whole filter for each pixel.
"""

import collections
import re

from layout_mlir.tools import run_tool, run_tool_for_all
from networks import NETWORKS

OP = re.compile(r"linalg\.((?:depthwise_)?conv_2d\w*|pooling\w+|(?:batch_)?matmul) (.*?)ins\((.*)\) outs\((.*?)\) ->")
REMARK = re.compile(r":(\d+):\d+: remark: .*kernel \w+: \d+ image reads(?: \((\d+) in loops\))? and "
                    r"\d+ buffer reads(?: \((\d+) in loops\))? for each of (\d+) (?:items of (\d+) )?"
                    r"(pixel|element)s?(?: in groups of \d+)?\"")
CONSTANT = re.compile(r"^ *(%\w+) = arith\.constant dense<[^>\n]*> : (tensor<.*)\n", re.M)


def up(x, y):
    return -(-x // y)


def shapes(types):
    return [[int(size) for size in re.findall(r"\d+(?=x)", shape)] for shape in re.findall(r"tensor<([\dx]+x)\w+", types)]


def in_place_of_constants(text):
    """Replaces constants by arguments: kernels read them, as they do with the large constants of a trained network."""
    arguments = ", ".join(f"{name}: {type}" for name, type in CONSTANT.findall(text))
    return CONSTANT.sub("", text).replace("@main(", f"@main({arguments}, ", 1)


def describe(kind, attributes, operands, result):
    """Returns a name of the op, the number of pixels of its result, and MACE's total reads."""
    if "matmul" in kind:
        (*batch, m, k), n = operands[0], operands[1][-1]
        count = batch[0] if batch else 1
        items, reads = (up(n, 4), 5) if m == 1 else (up(m, 4) * up(n, 4), 8)
        return f"{kind} {'x'.join(map(str, [*batch, m, k, n]))}", count * m * up(n, 4), count * items * up(k, 4) * reads
    stride = max(map(int, re.findall(r"strides = dense<\[?([\d, ]+)", attributes)[0].split(","))) if "strides" in attributes else 1
    n, c, h, w = result
    rows, kh, kw = n * up(c, 4) * h, *operands[1][-2:]
    if "pooling" in kind:
        reads = rows * w * kh * kw
    elif "depthwise" in kind:
        reads = rows * up(w, 4) * kh * (3 + 2 * kw if stride == 1 else 5 * kw)
    else:
        pixels = 5 if (kh, kw) == (3, 3) else 4
        reads = rows * up(w, pixels) * up(operands[1][1], 4) * kh * kw * (4 + pixels)
    short = "pooling" if "pooling" in kind else "depthwise" if "depthwise" in kind else "convolution"
    summed = "" if short != "convolution" else f"{operands[1][1]} -> "
    return f"{short} {kh}x{kw}/{stride}, {summed}{c}x{h}x{w}", rows * w, reads


def measure(name, small, folder, target):
    """Returns one row per distinct op with the reads per pixel of its result."""
    path = folder / f"{name}.reads.mlir"
    NETWORKS[name].write(path, small, weights="splat")
    text = in_place_of_constants(run_tool("layout-opt", path, "--layout-canonicalize", f"--layout-assign=target={{{target}}}"))
    path.write_text(text)
    remarks = run_tool_for_all("layout-opt", path, f"--convert-layout-to-gpu=target={{{target}}}", "-o", "/dev/null",
                               "--remarks-filter=convert-layout-to-gpu", "--remark-format=emitRemark")[1]
    lines = text.splitlines()
    rows = collections.OrderedDict()
    for line, images, elements, items, pixels, whole in REMARK.findall(remarks):
        found = OP.search(lines[int(line) - 1])
        if not found or not images + elements:
            continue
        op, count, mace = describe(found[1], found[2], shapes(found[3]), shapes(found[4])[0])
        images, elements = (int(reads or 0) * int(items) / count for reads in (images, elements))
        row = (op, int(pixels or 1), int(items), whole, images, elements, mace / count)
        rows[row] = rows.get(row, 0) + 1
    return [{"network": name, "op": op, "kernels": number, "items": items, "pixels": pixels, "result": whole,
             "reads": images, "elements": elements, "mace": mace}
            for (op, pixels, items, whole, images, elements, mace), number in rows.items()]


def show(rows):
    width = max(len(row["op"]) for row in rows) + 2
    print(f"\n{rows[0]['network'] + ', reads of one pixel':<{width}}{'kernels':>8}{'items':>9}{'of pixels':>11}{'images':>10}{'MACE':>10}{'buffers':>10}")
    for row in rows:
        print(f"{row['op']:<{width}}{row['kernels']:>8}{row['items']:>9}{row['pixels']:>11}{row['reads']:>10.2f}{row['mace']:>10.2f}"
              + (f"{row['elements']:>10.2f}" if row["elements"] else "")
              + ("  of four elements in a buffer" if row["result"] == "element" else ""))
