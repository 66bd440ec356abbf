# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the bytes that decisions claim with those that `layout_mlir.certify_bytes` derives from the text.

Covers networks, random programs, and falsified claims.

usage: certified_bytes.py [--programs N] [--seed S]
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from layout_mlir import certify_bytes
from networks import NETWORKS

sys.path.insert(0, str(pathlib.Path(__file__).parent / "fuzz"))

from generate import Profile, generate  # noqa: E402
from layouts import random_layout  # noqa: E402

PROFILE = Profile(elements=["f32"] * 6 + ["f16", "i32", "i8", "i64"], dynamic=0, layouts=0.4)


def decide(text, lanes):
    """Returns the text before the decision and after it, or None if the program is refused."""
    def opt(text, *passes):
        run = subprocess.run(["layout-opt", "-", *passes], input=text, capture_output=True, text=True)
        return run.stdout if run.returncode == 0 else None
    given = opt(text, "--layout-canonicalize")
    decided = given and opt(given, f"--layout-solve=objective=bytes target={{#layout.cpu<lanes = {lanes}>}}",
                            "--layout-materialize")
    return decided and (given, decided)


def lies(rng, decided):
    """Yields texts with a false claim or with changed conversions."""
    claim = re.search(r"conversion_cost = (\d+)", decided)
    for other in {int(claim[1]) + 1, int(claim[1]) // 2, 0} - {int(claim[1])}:
        yield decided.replace(claim[0], f"conversion_cost = {other}", 1)
    lines = decided.splitlines(keepends=True)
    conversions = [i for i, line in enumerate(lines) if "layout.convert %" in line and "convert %cst" not in line]
    for i in rng.sample(conversions, min(3, len(conversions))):
        moved = "".join(lines[:i] + lines[i + 1:])
        if certify_bytes.count_all(moved) != certify_bytes.count_all(decided):
            yield moved
            yield "".join(lines[:i + 1] + lines[i:])
    for step in sorted(set(re.findall(r"scf\.for %\w+ = %\w+ to %\w+ step (%\w+)", decided))):
        changed = re.sub(rf"({step} = arith\.constant) \d+ : index", r"\1 1000000 : index", decided)
        if certify_bytes.count_all(changed) != certify_bytes.count_all(decided):
            yield changed


def is_accepted(decided, given):
    claimed, moved = certify_bytes.check(decided, given)
    return claimed == moved


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    rng, pairs = random.Random(args.seed), []
    with tempfile.TemporaryDirectory() as folder:
        for name, network in NETWORKS.items():
            path = pathlib.Path(folder) / f"{name}.mlir"
            network.write(path, weights="splat", small=True)
            pairs.append((name, decide(path.read_text(), 16)))
    seed = args.seed
    while len(pairs) < len(NETWORKS) + args.programs:
        text = generate(seed, PROFILE, random_layout).write().body
        if pair := decide(f"module {{\n{text}}}\n", rng.choice([2, 4, 8, 16])):
            pairs.append((f"program {seed}", pair))
        seed += 1
    told = rejected = 0
    for name, (given, decided) in pairs:
        claimed, moved = certify_bytes.check(decided, given)
        if claimed != moved:
            sys.exit(f"{name} claims {claimed} bytes and moves {moved}:\n{decided}")
        for lie in lies(rng, decided):
            told += 1
            rejected += not is_accepted(lie, given)
            if told != rejected:
                sys.exit(f"{name}: accepted is\n{lie}")
    print(f"{len(NETWORKS)} networks and {args.programs} programs move what their decisions claim")
    print(f"{rejected} of {told} lies are rejected, all")


if __name__ == "__main__":
    main()
