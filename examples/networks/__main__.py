"""python -m networks: writes a network as MLIR."""

import argparse
import pathlib
import re
import sys
import textwrap
from dataclasses import Field, fields

import numpy as np

from layout_mlir.tools import whole_file

from . import NETWORKS
from .module import Module
from .options import OptionError


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _all_fields() -> dict[str, Field]:
    """Returns the options of all networks, by name."""
    result: dict[str, Field] = {}
    for network in NETWORKS.values():
        for each in fields(network.Options):
            result.setdefault(each.name, each)
    return result


def _parser(all_fields: dict[str, Field], prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Writes an inference network as linalg on tensors, with seeded weights.")
    parser.add_argument("network", nargs="?", choices=sorted(NETWORKS), metavar="network",
                        help=", ".join(sorted(NETWORKS)))
    parser.add_argument("--list", action="store_true", help="list the networks and their options")
    parser.add_argument("-o", "--output", default="-", help="the .mlir file ('-': stdout)")
    parser.add_argument("--small", action="store_true",
                        help="few layers, few and odd channels, small inputs; options given "
                             "beside it prevail")
    group = parser.add_argument_group("options of networks (--list says which has which)")
    for each in all_fields.values():
        meta = each.metadata
        if meta["parse"] is bool:
            group.add_argument(_flag(each.name), action="store_true", help=meta["help"],
                               default=argparse.SUPPRESS)
        else:
            group.add_argument(_flag(each.name), type=meta["parse"], choices=meta["choices"],
                               help=meta["help"], default=argparse.SUPPRESS)
    inputs = parser.add_argument_group("inputs to run it on")
    inputs.add_argument("--input-npy", metavar="FILE", help="write the seeded input")
    inputs.add_argument("--inputs", metavar="DIR", type=pathlib.Path,
                        help="write all arguments of @main as DIR/0.npy, DIR/1.npy, .. and "
                             "DIR/args, with which `layout-run before after @DIR/args` takes them")
    for size in ("batch", "sequence"):
        inputs.add_argument(f"--input-{size}", type=int, help=f"their {size} where it is dynamic")
    return parser


def _default(value) -> str:
    if value is None or value is False:
        return ""
    return "=" + ("x".join(map(str, value)) if isinstance(value, tuple) else str(value))


def _print_list() -> None:
    for network in NETWORKS.values():
        own = (_flag(f.name) + _default(f.default) for f in fields(network.Options))
        print(f"{network.name}: {network.summary}")
        print(textwrap.fill(" ".join(own), 100, initial_indent="    ", subsequent_indent="    ",
                            break_on_hyphens=False))


def _sizes(args: argparse.Namespace, parser: argparse.ArgumentParser,
           options) -> dict[str, int]:
    """Returns the sizes of dynamic extents in the inputs."""
    sizes = {"batch": 1, "sequence": 1}
    for name in sizes:
        given = getattr(args, f"input_{name}")
        if given is None:
            continue
        if getattr(options, name, 1) is not None or not (args.input_npy or args.inputs):
            parser.error(f"--input-{name} goes with --{name} '?' and --input-npy or --inputs")
        if given <= 0:
            parser.error(f"--input-{name} must be positive")
        sizes[name] = given
    return sizes


def _write_inputs(args: argparse.Namespace, builder: Module, sizes: dict[str, int]) -> None:
    if not (args.input_npy or args.inputs):
        return
    arrays = builder.example_inputs(sizes)
    if args.input_npy:
        with whole_file(args.input_npy, "wb") as file:
            np.save(file, arrays[0])
    if args.inputs:
        args.inputs.mkdir(parents=True, exist_ok=True)
        paths = [args.inputs / f"{i}.npy" for i in range(len(arrays))]
        for path, array in zip(paths, arrays):
            with whole_file(path, "wb") as file:
                np.save(file, array)
        with whole_file(args.inputs / "args") as file:
            # Response files treat a backslash as an escape character.
            file.writelines(re.sub(r"([\s\\'\"])", r"\\\1", f"--input={path}") + "\n"
                            for path in paths)


def main(argv: list[str] | None = None, prog: str = "python -m networks") -> None:
    all_fields = _all_fields()
    parser = _parser(all_fields, prog)
    args = parser.parse_args(argv)
    if args.list:
        return _print_list()
    if args.network is None:
        parser.error("name a network; --list shows them")

    network = NETWORKS[args.network]
    given = {name: getattr(args, name) for name in all_fields if hasattr(args, name)}
    own = {f.name for f in fields(network.Options)}
    for name in given:
        if name not in own:
            parser.error(f"{args.network} has no {_flag(name)}; it has "
                         f"{' '.join(_flag(f.name) for f in fields(network.Options))}")
    try:
        options = network.small_options(**given) if args.small else network.Options(**given)
        sizes = _sizes(args, parser, options)
        builder = network.build(options)
        if args.input_npy and len(builder.function.arguments) != 1:
            parser.error(f"@main has {len(builder.function.arguments)} arguments: write them with "
                         "--inputs")
    except (OptionError, ValueError) as error:
        parser.error(str(error))
    try:
        if args.output == "-":
            builder.write(sys.stdout)
        else:
            with whole_file(args.output) as file:
                builder.write(file)
        _write_inputs(args, builder, sizes)
    except OSError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
