"""Counts parameters, multiplications and ops of a network.

usage: count.py < MODULE.mlir

Prints the number of parameters, which are the elements of splat constants in MODULE.mlir as written with
--weights splat; the multiplications of convolutions and matrix products, in 10^9; and the number of ops of each kind.
"""

import collections
import math
import re
import sys

TENSOR = r"tensor<((?:\d+x)+)f32>"
CONSTANT = re.compile(r"arith\.constant dense<[-+.\de]+> : " + TENSOR)
PRODUCT = re.compile(r"linalg\.(conv_2d_nchw_fchw|depthwise_conv_2d_nchw_chw|matmul|batch_matmul) "
                     r".*?: " + TENSOR + ", " + TENSOR + r"\) outs.*?-> " + TENSOR)
OPERATION = re.compile(r"= ((?:linalg|tensor|scf|func)\.\w+)|= (call) @")


def shape(text):
    return [int(extent) for extent in text.split("x")[:-1]]


def main():
    parameters = multiplications = 0
    operations = collections.Counter()
    for line in sys.stdin:
        for extents in CONSTANT.findall(line):
            parameters += math.prod(shape(extents))
        for kind, first, second, result in PRODUCT.findall(line):
            # A filter without its output channels, or the reduced dim.
            each = shape(second)[1:] if "conv" in kind else [shape(first)[-1]]
            multiplications += math.prod(shape(result)) * math.prod(each)
        operations.update(name or "func.call" for name, _ in OPERATION.findall(line))
    print(f"parameters: {parameters}\nmultiplications: {multiplications / 1e9:.2f}")
    for name, count in sorted(operations.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
