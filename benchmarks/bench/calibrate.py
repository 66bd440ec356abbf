"""./dev calibrate: a price list of this machine, and how well it predicts run times.

The candidates of networks, i.e. each op in each layout that `layout-assign` considers and each conversion between these
layouts, become the functions of a price list. Each function is lowered for the CPU and run on one thread; the
nanoseconds of its fastest run are its price. Functions that cannot run alone (dynamic sizes, non-tensor arguments) and
those beyond --most are omitted; they keep their modeled price, scaled to nanoseconds.

The parameters of the model are fitted to these prices, too. A modeled price is a sum of terms that are linear in one
parameter each, so that prices under five targets determine the price under any parameters, except for rounding. The
fitted parameters, whole numbers, minimize the mean distance between the logarithms of modeled and measured prices. The
printed distances are those of the fitted target and of the original one. `--other` uses the parameters of that target
instead, e.g. those that `./dev bench --target` prints.

Then each network is decided by modeled prices, by the list, and by the fitted model, and the three programs run
alternately in one process: a ratio is the median over pairs of runs of a time divided by that of the first program.
The time that the list predicts for its decision is compared with the measured time, and with the times that it predicts
for the decisions of both models.
"""

import argparse
import itertools
import json
import pathlib
import re
import sys
import tempfile

import numpy as np

from layout_mlir.run import DEVICES, positive
from layout_mlir.tools import ToolError, run_tool, run_tool_for_all, whole_file
from networks import NETWORKS
from networks.__main__ import main as generate

from .kernels import make_inputs
from . import program_prices
from .rows import measure_rows, write_json

NAMES = ("resnet50", "mobilenet_v2", "inception_v3", "densenet121", "efficientnet_v2_s", "unet", "vit_b16", "bert_base")
FUNCTION = re.compile(r"^  func\.func @([\w.]+)(\(.*?) attributes \{layout\.cost = (\d+) : i64\} (\{\n.*?^  \})$",
                      re.M | re.S)
TARGET = re.compile(r"#layout\.cpu<(.*)>")
PARAMETERS = "flops_per_byte", "strided_percent", "scalar_percent"


def make(name, size, folder):
    """Returns the module of a network, and the argument of layout-run with its inputs."""
    path, inputs = folder / f"{name}.mlir", folder / f"{name}.inputs"
    generate([name, *["--small"] * (size == "small"), "-o", str(path), "--inputs", str(inputs)])
    return path, f"@{inputs / 'args'}"


def read_candidates(module, target, folder):
    """Returns the modeled prices of the candidates of a module: {(signature, body): (name, price)}."""
    prices = folder / "prices.mlir"
    run_tool("layout-opt", module, f"--layout-assign=target={{{target}}} write-costs={prices}", "-o", "/dev/null")
    return read_list(prices)


def read_list(path):
    text = run_tool_for_all("layout-opt", path, "--mlir-print-local-scope")[0]
    return {(signature, body): (name, int(cost)) for name, signature, cost, body in FUNCTION.findall(text)}


def read_prices(modules, target, folder):
    """Returns the modeled prices of the candidates of all modules."""
    return {key: cost for module in modules for key, (_, cost) in read_candidates(module, target, folder).items()}


def with_parameters(target, *values):
    """Returns the target with these values of PARAMETERS instead of its own."""
    kept = [each.strip() for each in TARGET.fullmatch(target)[1].split(",")]
    kept = [each for each in kept if each.partition("=")[0].strip() not in PARAMETERS]
    return f"#layout.cpu<{', '.join([*kept, *(f'{name} = {value}' for name, value in zip(PARAMETERS, values))])}>"


def fit(modules, priced, target, other, folder):
    """Fits the parameters of `target` to measured prices, or uses `other` if it is given. Returns the fitted target,
    and the mean distance, as a factor independent of the unit, of the prices under `target` and under the fitted one.
    Returns None if no measured price belongs to these modules."""
    # The probes isolate the terms of bytes, strided bytes, arithmetic, arithmetic along windows, and scalar arithmetic.
    probes = [(1 << 20, 100, 100), (1 << 20, 200, 100), (1, 100, 100), (1, 200, 100), (1, 100, 200)]
    tables = [read_prices(modules, each, folder) for each in (target, *(with_parameters(target, *p) for p in probes))]
    keys = [key for key, (_, price) in priced.items() if price > 0 and all(key in table for table in tables)]
    if not keys:
        return None
    measured = np.log([priced[key][1] for key in keys])
    default, plain, strided, vectors, windows, scalars = (np.array([table[key] for key in keys], float) for table in tables)

    def distance(modeled):
        error = measured - np.log(np.maximum(modeled, 1))
        return float(np.exp(np.nanmean(np.abs(error - np.nanmedian(error)))))

    def model(flops, strided_percent, scalar_percent):
        beside, without = strided_percent / 100 - 1, scalar_percent / 100 - 1
        sliding = (windows - vectors) - (strided - plain)
        work = (vectors - plain) + sliding * beside + (scalars - vectors) * without
        return plain + (strided - plain) * beside + work / flops

    best = min(itertools.product(range(1, 17), range(100, 310, 10), range(100, 2050, 50)),
               key=lambda parameters: distance(model(*parameters)))
    fitted = other or with_parameters(target, *best)
    table = read_prices(modules, fitted, folder)
    # A candidate that is not considered under the fitted target keeps its approximation, unless the target is `other`.
    rest = [np.nan] * len(keys) if other else model(*best)
    by_fit = np.array([table.get(key, price) for key, price in zip(keys, rest)], float)
    return fitted, distance(default), distance(by_fit)


def write_list(path, target, priced):
    """Writes the functions with their prices."""
    with whole_file(path) as file:
        file.write(f"module attributes {{layout.target = {target}}} {{\n")
        for number, ((signature, body), (name, cost)) in enumerate(priced.items()):
            name = re.sub(r"_\d+(_\d+)?$", "", name)
            file.write(f"  func.func @{name}_{number}{signature} attributes {{layout.cost = {cost} : i64}} {body}\n")
        file.write("}\n")


def measure(candidate, target, args, folder):
    """Returns the nanoseconds of the fastest run of a function, or None if it cannot run alone."""
    signature, body = candidate
    arguments = signature.partition(" -> ")[0]
    if "?" in signature or re.search(r"%\w+: (?!tensor<)", arguments):
        return None
    source, plain, lowered, times = (folder / each for each in ("f.mlir", "plain.mlir", "lowered.mlir", "times.json"))
    source.write_text(f"module attributes {{layout.target = {target}}} {{\nfunc.func @kernel{signature} {body}\n}}\n")
    run_tool("layout-opt", source, "--convert-layout-to-linalg", "-o", plain)
    run_tool("layout-opt", plain, f"--layout-linalg-to-llvm=cpu={args.cpu}", "-o", lowered)
    run_tool("layout-run", lowered, "--function=kernel", "--threads=1",
             *[f"--input={path}" for path in make_inputs(plain, folder)], "--warmup=1", f"--repeat={args.repeat}",
             f"--json={times}", "--keep-freed-memory", "--cache=")
    return max(1, round(json.loads(times.read_text())["run_min_seconds"] * 1e9))


def measure_candidates(candidates, target, args, scratch):
    """Returns {function: (name, measured price)} and prints how many candidates failed."""
    priced, failed = {}, 0
    for number, (candidate, (name, _)) in enumerate(list(candidates.items())[:args.most]):
        print(f"\r{number + 1} of {len(candidates)}: {name:<40}", end="", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            try:
                nanoseconds = measure(candidate, target, args, pathlib.Path(folder))
            except ToolError as error:
                print(f"\n{name}: {error}", file=sys.stderr)
                failed += 1
                continue
        if nanoseconds is not None:
            priced[candidate] = name, nanoseconds
    print(f"\r{'':<64}\r", end="", file=sys.stderr)
    print(f"{len(priced)} of {len(candidates)} candidates are measured, {failed} failed", flush=True)
    return priced


def decide(module, target, args, output, *options):
    """Decides and lowers a module, and returns the cost of the decision."""
    decided = output.with_suffix(".decided.mlirbc")
    run_tool("layout-opt", module, f"--layout-assign=target={{{target}}} {' '.join(options)}", "--emit-bytecode",
             "-o", decided)
    head = run_tool_for_all("layout-opt", decided, "--layout-print-cost=format=json", "-o", "/dev/null")[0]
    run_tool("layout-opt", decided, "--convert-layout-to-linalg", f"--layout-linalg-to-llvm=cpu={args.cpu}",
             "--emit-bytecode", "-o", output)
    return json.loads(head)["assignment"]["cost"]


def price(module, decider, target, prices, folder):
    """Returns the cost by the list of the decision made for the target `decider`."""
    stated = folder / "stated.mlirbc"
    run_tool("layout-opt", module, f"--layout-solve=target={{{decider}}}", "--emit-bytecode", "-o", stated)
    text = run_tool_for_all("layout-opt", stated, f"--layout-assign=target={{{target}}} costs={prices}",
                            "--layout-print-cost=format=json", "-o", "/dev/null")[0]
    return json.loads(text)["assignment"]["cost"]


def compare(name, target, fitted, args, prices, folder):
    """Runs the programs of the three decisions for a network alternately, and returns their costs and times."""
    module, inputs = make(name, args.size, folder)
    programs = [folder / f"{each}.mlirbc" for each in ("modeled", "measured", "fitted")]
    runs = folder / "runs.json"
    modeled = decide(module, target, args, programs[0])
    predicted = decide(module, target, args, programs[1], f"costs={prices}")
    fitted_cost = decide(module, fitted, args, programs[2])
    run_tool("layout-run", *programs, inputs, "--warmup=2", f"--repeat={args.repeat}", "--threads=1", "--compare",
             f"--max-rel={args.max_rel}", "--keep-freed-memory", "--cache=", f"--json={runs}")
    by_model, by_list, by_fit = [json.loads(line) for line in runs.read_text().splitlines()]
    return {"network": name, "modeled_cost": modeled, "predicted_seconds": predicted / 1e9,
            "modeled_decision_seconds": by_model["run_median_seconds"], "seconds": by_list["run_median_seconds"],
            "ratio": 1 / by_list["speedup"], "error": predicted / 1e9 / by_list["run_median_seconds"] - 1,
            "fitted_cost": fitted_cost, "fitted_decision_seconds": by_fit["run_median_seconds"],
            "fitted_ratio": 1 / by_fit["speedup"],
            **{f"{decider}_excess": price(module, by, target, prices, folder) / predicted
               for decider, by in (("modeled", target), ("fitted", fitted))}}


def correlate(rows, before, after):
    """Returns the rank correlation of two columns, or None for fewer than three networks."""
    if len(rows) < 3:
        return None
    return program_prices.correlate([row[before] for row in rows], [row[after] for row in rows])


def mean_ratio(rows, column):
    """Returns the geometric mean of a column."""
    return float(np.exp(np.mean(np.log([row[column] for row in rows]))))


def show(row):
    return (f"{row['network']:<20}{row['modeled_cost']:>14}{row['modeled_decision_seconds'] * 1e3:>12.3f}"
            f"{row['predicted_seconds'] * 1e3:>14.3f}{row['seconds'] * 1e3:>12.3f}{row['error']:>+9.0%}"
            f"{row['ratio']:>8.3f}{row['fitted_cost']:>14}{row['fitted_decision_seconds'] * 1e3:>12.3f}"
            f"{row['fitted_ratio']:>8.3f}")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev calibrate", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        help="the price list (default: prices.mlir)")
    parser.add_argument("--list", type=pathlib.Path, help="take the prices from this list, and measure none")
    parser.add_argument("--networks", nargs="+", default=NAMES, choices=tuple(NETWORKS), metavar="NAME",
                        help=f"(default: {' '.join(NAMES)})")
    parser.add_argument("--small", dest="size", action="store_const", const="small", default="full",
                        help="the small variants of the networks, which take minutes")
    parser.add_argument("--target", default=DEVICES["cpu"][0], help="of the layouts (default: %(default)s)")
    parser.add_argument("--other", metavar="TARGET", help="decide by this one as well, not by fitted parameters")
    parser.add_argument("--cpu", default="host", help="of the kernels (default: %(default)s)")
    parser.add_argument("--repeat", type=positive, default=20, help="timed runs of each (default: %(default)s)")
    parser.add_argument("--most", type=positive, help="measure this many candidates at most")
    parser.add_argument("--max-rel", type=float, default=1e-3, help="largest difference of a result")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the results there")
    args = parser.parse_args(argv)
    if args.list and (args.output or args.most):
        parser.error("with --list nothing is measured and written: leave out --output and --most")
    for option, given in ("--target", args.target), ("--other", args.other or args.target):
        if not TARGET.fullmatch(given):
            parser.error(f"{option}: {given} has other parameters than #layout.cpu<..>, whose are fitted")
    args.output = args.list or args.output or pathlib.Path("prices.mlir")
    with tempfile.TemporaryDirectory(prefix="layout-bench-") as scratch:
        modules = [make(name, args.size, pathlib.Path(scratch))[0] for name in args.networks]
        candidates = {}
        for module in modules:
            candidates |= read_candidates(module, args.target, pathlib.Path(scratch))
        if args.list:
            priced = read_list(args.list)
        else:
            priced = measure_candidates(candidates, args.target, args, scratch)
            write_list(args.output, args.target, priced)
        found = fit(modules, priced, args.target, args.other, pathlib.Path(scratch))
    if not found:
        raise SystemExit(f"{args.output}: no price is one of these networks'")
    fitted, *distances = found
    print(f"{args.output} has their prices\n{fitted} {'is' if args.other else 'is closest to them,'} within a factor of "
          f"{distances[1]:.2f}, the target as it is within {distances[0]:.2f}\n\n{'network':<20}{'modeled cost':>14}{'runs ms':>12}"
          f"{'predicted ms':>14}{'runs ms':>12}{'error':>9}{'ratio':>8}{'fitted cost':>14}{'runs ms':>12}{'ratio':>8}")
    rows, complete = measure_rows(
        args.networks, lambda name, folder: compare(name, args.target, fitted, args, args.output, folder), show)
    modeled, measured, refit = (correlate(rows, *columns) for columns in
                                (("modeled_cost", "modeled_decision_seconds"), ("predicted_seconds", "seconds"),
                                 ("fitted_cost", "fitted_decision_seconds")))
    print(f"\nby the list, decisions of the model cost {mean_ratio(rows, 'modeled_excess'):.3f} of the least, "
          f"those of the fitted model {mean_ratio(rows, 'fitted_excess'):.3f}\n"
          f"decisions by the list take {mean_ratio(rows, 'ratio'):.3f} of the time of those by the model, "
          f"those of the fitted model {mean_ratio(rows, 'fitted_ratio'):.3f}")
    if modeled is not None:
        print(f"rank correlation with the time: modeled cost {modeled:.3f}, price list {measured:.3f}, fitted model "
              f"{refit:.3f}; median error of the list {np.median([abs(row['error']) for row in rows]):.0%}")
    write_json(args.json, target=args.target, candidates=len(candidates), measured=len(priced), rows=rows,
               rank_correlation={"modeled": modeled, "measured": measured, "fitted": refit}, fitted=fitted,
               distances=distances)
    return 0 if complete else 1
