"""Measures the conversions that upstream's propagation of packs leaves, for comparison.

The input is the same network, prepared with upstream's own means: `transform.structured.pack` packs the channels of
every convolution by the lanes (but not fewer input channels than lanes, as in layout-solve) and the columns of every
matrix product, which adds `linalg.pack` and `linalg.unpack` ops around each of them. Named ops become `linalg.generic`,
the only form that the propagation supports. `--test-linalg-data-layout-propagation` then moves packs up and unpacks
down, and canonicalization cancels adjacent pairs. Each remaining op, except those on constants and on new storage, is
counted as layout-solve counts conversions: bytes read without padding plus bytes written with padding, or 0 if both
have identical storage.

Networks must have static extents, and no loops or calls.
"""

import math
import re

from layout_mlir.tools import run_tool

_NAMED = ("linalg.pooling_nchw_max", "linalg.pooling_nchw_sum", "linalg.add", "linalg.mul",
          "linalg.tanh", "linalg.reduce")
_PIPELINE = ("--transform-interpreter", "--canonicalize", "--cse",
             "--test-linalg-data-layout-propagation", "--canonicalize", "--cse",
             "--test-transform-dialect-erase-schedule")
_FEW = "few_channels"
_CONV = re.compile(r"(linalg\.conv_2d_nchw_fchw \{)([^\n]*?tensor<\d+x(\d+)x\d+x\d+x\w+>\) outs)")
_DEFINITION = re.compile(r"\s*(%[\w.$-]+)(?::\d+)? = ([\w.]+)(?: (%[\w.$-]+))?")
_INNER = re.compile(r"inner_dims_pos = \[([\d, ]+)\] inner_tiles = \[([\d, ]+)\]")
_TYPES = re.compile(r": tensor<((?:\d+x)+)f32> -> tensor<((?:\d+x)+)f32>")
_RESHAPES = ("tensor.expand_shape", "tensor.collapse_shape")
_MADE_FREELY = ("arith.constant", "tensor.empty", "linalg.fill")


def _pack(operation, sizes, condition=""):
    return f"""
    %ops = transform.structured.match ops{{["{operation}"]}} {condition} in %root
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %ops : !transform.any_op {{
    ^bb0(%op: !transform.any_op):
      %packed = transform.structured.pack %op packed_sizes = {sizes}
          : (!transform.any_op) -> !transform.op<"linalg.generic">
    }}"""


def _script(lanes):
    """Returns the script. The loops of a convolution are n f h w c kh kw, those of a depthwise one n h w c kh kw."""
    steps = [_pack("linalg.conv_2d_nchw_fchw", [0, lanes, 0, 0, 0, 0, 0], f"attributes {{{_FEW}}}"),
             _pack("linalg.conv_2d_nchw_fchw", [0, lanes, 0, 0, lanes, 0, 0]),
             _pack("linalg.depthwise_conv_2d_nchw_chw", [0, 0, 0, lanes, 0, 0]),
             _pack("linalg.matmul", [0, lanes, 0])]
    steps = [step.replace("%ops", f"%ops{i}") for i, step in enumerate(steps)]
    named = ", ".join(f'"{name}"' for name in _NAMED)
    return f"""
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.consumed}}) {{
    {"".join(steps)}
    %named = transform.structured.match ops{{[{named}]}} in %root
        : (!transform.any_op) -> !transform.any_op
    %generic = transform.structured.generalize %named : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
"""


def with_script(text, lanes):
    """Returns the module of a network with the script that packs it."""
    def mark(match):
        few = f"{_FEW}, " if int(match.group(3)) < lanes else ""
        return match.group(1) + few + match.group(2)

    head, name, body = re.match(r"(.*?)(module @\w+) \{(.*)", text, re.S).groups()
    return (f"{head}{name} attributes {{transform.with_named_sequence}} {{{_script(lanes)}"
            f"{_CONV.sub(mark, body)}")


def _extents(text):
    return [int(extent) for extent in text.split("x")[:-1]]


def _stores_alike(unpacked, positions, tiles, line):
    """Returns true if a pack or unpack does not change the order of elements in storage: it only splits the last dim
    with more than one index into whole tiles."""
    (position, *others), (tile, *_) = positions, tiles
    return (not others and "outer_dims_perm" not in line and unpacked[position] % tile == 0
            and all(extent == 1 for extent in unpacked[position + 1:]))


def count_moved_bytes(text):
    """Returns the bytes read and written by the packs and unpacks of a module."""
    made_by, moved = {}, 0
    for line in text.splitlines():
        definition = _DEFINITION.match(line)
        if not definition:
            continue
        name, operation, operand = definition.groups()
        # A name is valid until its next definition, regardless of regions.
        made_by[name] = made_by.get(operand, operation) if operation in _RESHAPES else operation
        if operation not in ("linalg.pack", "linalg.unpack"):
            continue
        if made_by.get(operand) in _MADE_FREELY:
            made_by[name] = made_by[operand]
            continue
        source, result = map(_extents, _TYPES.search(line).groups())
        positions, tiles = ([int(number) for number in numbers.split(",")]
                            for numbers in _INNER.search(line).groups())
        unpacked = source if operation == "linalg.pack" else result
        if not _stores_alike(unpacked, positions, tiles, line):
            moved += 4 * (math.prod(unpacked) + math.prod(result))
    return moved


def propagate(text, lanes, folder):
    """Returns the text of a network after upstream's propagation of packs. Its input is written to a file in
    `folder`."""
    path = folder / "upstream.mlir"
    path.write_text(with_script(text, lanes))
    return run_tool("mlir-opt-22", path, *_PIPELINE)
