"""The command line of the ONNX importer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from layout_mlir.onnx_import import ImportFailed, explain_missing, import_model, is_bytecode


def main(argv: Sequence[str] | None = None, prog: str = "python -m layout_mlir.onnx_import") -> None:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Imports an ONNX model as linalg on tensors (func.func @main).")
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("-o", "--output", required=True, help="the module: bytecode if it ends in .mlirbc, else text")
    parser.add_argument("--reseed", type=int, metavar="SEED",
                        help="replace the weights by seeded random values of the same shapes")
    parser.add_argument("--runnable", action="store_true",
                        help="add to @main what layout-run needs after the lowering of another project (C interface "
                             "and layout.signature)")
    parser.add_argument("--save-onnx", metavar="FILE",
                        help="also write the imported ONNX model, with its weights")
    parser.add_argument("--input", action="append", metavar="FILE.npy",
                        help="compare on this input instead of a random one (once per input)")
    parser.add_argument("--no-compare", action="store_true",
                        help="write the module without comparing it with ONNX Runtime")
    parser.add_argument("--float-products", action="store_true",
                        help="multiply dequantized bytes as floats, for NPUs")
    args = parser.parse_args(argv)
    if args.reseed is not None and args.reseed < 0:
        parser.error("--reseed must not be negative")
    if args.runnable and is_bytecode(args.output):
        parser.error("--runnable writes text: choose an output that does not end in .mlirbc")
    try:
        inputs = [np.load(name) for name in args.input] if args.input else None
        import_model(args.model, args.output, args.reseed, args.runnable, args.save_onnx,
                     not args.no_compare, inputs, args.float_products)
    except ImportError as error:
        sys.exit(f"error: {explain_missing(error, 'onnx')}")
    except (ImportFailed, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
