"""./dev bench --certificates: the networks of `--assignment`, each decided with a certificate that is then checked.

`layout-solve=certificate=FILE` writes a certificate: the problem, its solution and a proof of the lower bound. Seconds
are those of `layout_mlir.certify`, a separate program that shares no code with the solver. Bytes are those that the
conversions move if bytes are the objective: `layout_mlir.certify_bytes` derives them from the text of the decided
module and compares them with the claim; its seconds follow. `--solvers` also solves the problem of each certificate
with toulbar2 and CP-SAT. The exit status is 1 if a certificate is rejected or does not prove the optimum, if another
solver proves a different optimum, or if the bytes differ.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

from layout_mlir.tools import ToolError, run_tool
from networks import NETWORKS

from .assignment import TARGET, cases
from .rows import measure_rows, write_json
from .solvers import PYTHON, run_peer

PEERS = ("toulbar2", "CP-SAT")


def run_checker(name, path, said):
    """Returns the numbers in the verdict of a checker on a file, and its seconds."""
    start = time.monotonic()
    run = subprocess.run([sys.executable, "-m", f"layout_mlir.{name}", path], capture_output=True, text=True)
    seconds = time.monotonic() - start
    verdict = re.search(said, run.stdout)
    if not verdict:
        raise ToolError(run.stdout + run.stderr)
    return [int(number) for number in verdict.groups()], seconds


def measure(case, args, folder):
    path, certificate = folder / "network.mlir", folder / "certificate"
    NETWORKS[case.network].write(path, weights="splat", **case.options)
    run_tool("layout-opt", path, "--layout-canonicalize",
             f"--layout-solve=objective={args.objective} target={{{TARGET}}} certificate={certificate}", "-o", "/dev/null")
    (cost, bound), seconds = run_checker("certify", certificate, r"accepted, cost (\d+), at least (\d+)")
    if cost != bound:
        raise ToolError(f"at least {bound} is proven, and not {cost}")
    decided = folder / "decided.mlir"
    run_tool("layout-opt", path, "--layout-canonicalize", f"--layout-solve=objective=bytes target={{{TARGET}}}",
             "--layout-materialize", "-o", decided)
    (moved,), bytes_seconds = run_checker("certify_bytes", decided, r"move the (\d+) bytes that are claimed")
    text = certificate.read_text().partition("\nwcsp\n")[2]
    problem = folder / "problem.wcsp"
    problem.write_text(text)
    peers = {}
    for solver in PEERS if args.solvers else ():
        answer = peers[solver] = run_peer(solver, problem, args)
        # toulbar2 prints its answers as floating-point numbers.
        if answer["cost"] == answer["lower_bound"] and float(answer["cost"]) != float(cost):
            raise ToolError(f"{solver} proves {answer['cost']}, and the certificate {cost}")
    _, variables, _, functions, _ = text.split(maxsplit=4)
    return {"network": case.label, "variables": int(variables), "functions": int(functions),
            "certificate_bytes": certificate.stat().st_size, "seconds": seconds, "cost": cost,
            "moved_bytes": moved, "moved_seconds": bytes_seconds, "peers": peers}


def show(row):
    same = "".join(f"{answer['seconds']:>9.2f}" if answer["cost"] == answer["lower_bound"] else f"{'-':>9}"
                   for answer in row["peers"].values())
    return (f"{row['network']:<40}{row['variables']:>10}{row['functions']:>10}{row['certificate_bytes'] // 1000:>7}"
            f"{row['seconds']:>9.2f}{row['moved_bytes']:>13}{row['moved_seconds']:>9.2f}{same}")


def main(argv):
    parser = argparse.ArgumentParser(prog="./dev bench --certificates", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", default="", help="only networks whose name contains this")
    parser.add_argument("--objective", choices=("time", "bytes"), default="time", help="(default: %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="write the same there")
    parser.add_argument("--solvers", action="store_true", help="solve them by others, too")
    parser.add_argument("--seconds", type=float, default=30, help="limit of these for each (default: %(default)s)")
    parser.set_defaults(python=PYTHON)
    args = parser.parse_args(argv)
    rows_to_be = {case.label: case for case in cases(args.network)}
    if not rows_to_be:
        parser.error(f"no network matches '{args.network}'")
    print(f"{'network':<40}{'variables':>10}{'functions':>10}{'KB':>7}{'seconds':>9}{'bytes':>13}{'seconds':>9}"
          + "".join(f"{solver:>9}" for solver in PEERS if args.solvers), flush=True)
    rows, complete = measure_rows(rows_to_be, lambda name, folder: measure(rows_to_be[name], args, folder), show)
    print(f"\n{len(rows)} of {len(rows_to_be)} are accepted and proofs of optimality, "
          f"checked in {sum(row['seconds'] for row in rows):.1f} seconds, and move the bytes that they claim, "
          f"in {sum(row['moved_seconds'] for row in rows):.1f}.")
    write_json(args.json, rows=rows)
    return 0 if complete else 1
