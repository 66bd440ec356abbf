"""python -m layout_mlir.networks: writes a network as MLIR."""

import argparse
import sys

import numpy as np

from . import NETWORKS
from .options import OptionError


def _batch(text):
    return None if text in ("?", "dynamic") else int(text)


def _numbers(text):
    return [int(part) for part in text.split(",")]


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m layout_mlir.networks",
        description="Writes an inference network as linalg on tensors, with seeded weights.")
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("-o", "--output", default="-", help="the .mlir file ('-': stdout)")
    parser.add_argument("--batch", type=_batch, default=1, help="a number, or '?' for dynamic")
    parser.add_argument("--image", type=int, default=224, help="height and width of the input")
    parser.add_argument("--in-channels", type=int, default=3)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--bn", choices=["folded", "unfolded"], default="folded",
                        help="batch norm inside the convolutions or as operations")
    parser.add_argument("--width", type=float, default=1.0, help="factor on channel counts")
    parser.add_argument("--ragged", action="store_true",
                        help="channel counts become the next smaller primes")
    parser.add_argument("--channels", type=_numbers,
                        help="channel counts of the stem and the stages, e.g. 61,67,131,257,521")
    parser.add_argument("--blocks", type=_numbers, help="blocks of each stage, e.g. 1,1,1,1")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the input")
    parser.add_argument("--runnable", action="store_true",
                        help="put on @main what layout-run reads after a lowering that is not "
                             "this project's (C interface and layout.signature)")
    parser.add_argument("--input-npy", metavar="FILE", help="also write a seeded input")
    parser.add_argument("--input-batch", type=int, default=1,
                        help="its batch where the network's is dynamic")
    args = parser.parse_args(argv)
    if args.input_batch != 1 and (args.batch is not None or not args.input_npy):
        parser.error("--input-batch goes with --batch '?' and --input-npy")
    if args.input_batch <= 0:
        parser.error("--input-batch must be positive")

    network = NETWORKS[args.network]
    try:
        builder = network.build(network.Options(
            batch=args.batch, image=args.image, in_channels=args.in_channels,
            classes=args.classes, bn=args.bn, width=args.width, ragged=args.ragged,
            channels=args.channels, blocks=args.blocks, seed=args.seed, runnable=args.runnable))
    except (OptionError, ValueError) as error:
        parser.error(str(error))
    try:
        if args.output == "-":
            builder.write(sys.stdout)
        else:
            with open(args.output, "w") as file:
                builder.write(file)
        if args.input_npy:
            with open(args.input_npy, "wb") as file:
                np.save(file, builder.example_input(args.input_batch))
    except OSError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
