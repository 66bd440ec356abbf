"""python -m demo: runs a network with and without layouts and compares the results.

Generates an inference network as linalg on tensors, or reads one from a file, and runs it as `./dev run` runs any model
(layout_mlir/run.py).
"""

import argparse
import pathlib
import sys
from dataclasses import fields

from layout_mlir import run
from layout_mlir.models import Model, load_model
from networks import NETWORKS

RUN_SIZES = {"batch": 3, "sequence": 16}


def network_options():
    """Returns the options of all networks, by name."""
    return {each.name: each for network in NETWORKS.values() for each in fields(network.Options)
            if each.name != "runnable"}  # the pipelines of the demo make every network runnable


def flag(name):
    return "--" + name.replace("_", "-")


def parse(argv, prog):
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Runs a network with and without layouts and compares the results.")
    parser.add_argument("network", nargs="?", default="resnet50",
                        help=f"{', '.join(sorted(NETWORKS))}, or an .mlir file with a function @main")
    parser.add_argument("--input", action="append", default=[],
                        help="an .npy input of an .mlir file; repeat in order")
    run.add_options(parser)
    group = parser.add_argument_group(
        "options of networks", "Each network has some of them, and its own defaults: "
        "`./dev python -m networks --list`, in a wheel `layout networks --list`, shows which.")
    group.add_argument("--small", action="store_true", default=argparse.SUPPRESS,
                       help="few layers, few and odd channels, small inputs")
    for name, each in network_options().items():
        kind = {"action": "store_true"} if each.metadata["parse"] is bool else {
            "type": each.metadata["parse"], "choices": each.metadata["choices"]}
        group.add_argument(flag(name), help=each.metadata["help"], default=argparse.SUPPRESS, **kind)
    for size in ("batch", "sequence"):
        group.add_argument(f"--run-{size}", type=int, default=argparse.SUPPRESS,
                           help=f"the {size} to run where the network's is dynamic "
                                f"(default: {RUN_SIZES[size]})")
    args = run.complete(parser.parse_args(argv))
    if args.network in NETWORKS:
        if args.input:
            parser.error("--input is for .mlir files: a network comes with its inputs")
        try:
            args.module, args.sizes = build(args)
        except ValueError as error:
            parser.error(str(error))
    elif not args.network.endswith(".mlir"):
        parser.error(f"no network is called '{args.network}'; there are "
                     f"{', '.join(sorted(NETWORKS))}, and .mlir files")
    else:
        for name in ("small", *network_options(), *(f"run_{size}" for size in RUN_SIZES)):
            if hasattr(args, name):
                parser.error(f"{flag(name)} is for networks that are generated")
    return args


def build(args):
    """Returns the network with the given options, and the dynamic sizes to run it with."""
    network = NETWORKS[args.network]
    given = {name: getattr(args, name) for name in network_options() if hasattr(args, name)}
    own = {each.name for each in fields(network.Options)}
    for name in given:
        if name not in own:
            raise ValueError(f"{network.name} has no {flag(name)}")
    options = (network.small_options if hasattr(args, "small") else network.Options)(**given)
    sizes = dict(RUN_SIZES)
    for size in sizes:
        chosen = getattr(args, f"run_{size}", None)
        if chosen is None:
            continue
        if getattr(options, size, 1) is not None or chosen <= 0:
            raise ValueError(f"--run-{size} is a positive number and goes with --{size} '?'")
        sizes[size] = chosen
    return network.build(options), sizes


def make_model(args, folder):
    """Writes the network to a file and returns it with its inputs."""
    if args.network not in NETWORKS:
        return load_model(args.network, folder, args.input)
    network = folder / "network.mlir"
    with run.Progress(f"writing {args.network}"):
        with open(network, "w") as file:
            args.module.write(file)
    return Model(pathlib.Path(args.network).name, network, args.module.example_inputs(args.sizes))


def main(argv=None, prog="./dev demo"):
    args = parse(argv, prog)
    return run.run_and_exit(args, lambda folder: make_model(args, folder))


if __name__ == "__main__":
    sys.exit(main())
