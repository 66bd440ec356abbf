# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles random programs for several pipelines, runs them, and compares them with numpy.

    fuzz --count 1000 --seed 0 [--device cpu|opencl|vulkan|npu|npu-CHIP] [--opencl-device NAME]
         [--vendor] [--keep FOLDER]

Program k of a run is that of seed S + k, regardless of the count. Failures are reduced and left in a folder each:
module.mlir, run.sh, inputs, expected.txt. The last line has the counts; the exit status is 1 if a program failed.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import sys
import tempfile
import time

import numpy as np

# The folder of layout_values.py and random_layouts.py.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

from generate import generate
from backends import BACKENDS, VENDOR, Case, module_of
from shrink import shrink

SHOWN = 30  # seconds between lines of progress


def parse_arguments():
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", choices=sorted(BACKENDS), default="cpu")
    parser.add_argument("--opencl-device", metavar="NAME", help="part of the name of the device or its platform")
    parser.add_argument("--vendor", action="store_true",
                        help="for npu-CHIP: also run programs on the vendor's chip model")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("fuzz-failures"),
                        help="where what fails is left (fuzz-failures)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--shrink-seconds", type=int, default=120, help="for each failure; 0: not at all")
    parser.add_argument("--most", type=int, default=20, help="failures to make small")
    args = parser.parse_args()
    if args.opencl_device:
        if args.device != "opencl":
            parser.error("--opencl-device needs --device opencl")
        os.environ["LAYOUT_OPENCL_DEVICE"] = args.opencl_device  # read by the runtime
    if args.vendor and not args.device.startswith("npu"):
        parser.error("--vendor is for --device npu-CHIP")
    if args.vendor and (reason := make_backend(args.device, True).why_no_vendor()):
        parser.error(f"--vendor: {reason}")
    return args


def make_backend(device, vendor):
    backend = BACKENDS[device]()
    backend.vendor = vendor
    return backend


def make_case(backend, seed, flags):
    # A seed has its own target; the flags are those of its batch.
    rng = random.Random(f"{seed} {backend.name}")
    program = generate(seed, backend.profile, backend.layouts)
    return program, Case(seed, program.write(), backend.target(rng), flags)


def make_batch(backend, first, count):
    flags = backend.flags(random.Random(f"flags {first // backend.batch}"))
    return [make_case(backend, seed, flags) for seed in range(first, first + count)]


def check_batch(task):
    """Returns outcomes by seed of a range of seeds that starts at a multiple of the batch size."""
    device, vendor, first, count = task
    backend = make_backend(device, vendor)
    cases = [case for _, case in make_batch(backend, first, count)]
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        outcomes = backend.run(cases, pathlib.Path(name))
    return [(case.seed, outcomes[case.seed]) for case in cases]


def batches(args, size):
    first, end = args.seed, args.seed + args.count
    while first < end:
        count = min(size - first % size, end - first)
        yield args.device, args.vendor, first, count
        first += count


def cpu_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def make_small(backend, seed, outcome, seconds):
    """Returns the reduced case and its outcome."""
    program, case = make_batch(backend, seed, 1)[0]

    def fails(texts):
        cases = [case._replace(seed=number, text=text) for number, text in enumerate(texts)]
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            outcomes = backend.run(cases, pathlib.Path(name))
        return [outcomes[number].signature == outcome.signature for number in range(len(texts))]

    program, text = shrink(program, case.text, fails, seconds, time.monotonic)
    return program, case._replace(text=text)


def leave(backend, folder, case, outcome):
    """Writes the files with which the failure can be reproduced."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "module.mlir").write_text(module_of(case))
    for number, data in enumerate(case.text.inputs):
        np.save(folder / f"in{number}.npy", data)
    lines = ["#!/bin/sh", f"# seed {case.seed}: {outcome.side}: {outcome.kind}: {outcome.message}",
             'cd "$(dirname "$0")"', *backend.commands(case, outcome.side)]
    (folder / "run.sh").write_text("\n".join(line.replace("\n", " ") for line in lines) + "\n")
    with (folder / "expected.txt").open("w") as file:
        for number, data in enumerate(case.text.inputs):
            file.write(f"input {number}: {data.dtype}{list(data.shape)}\n{data}\n")
        for number, wanted in enumerate(case.text.wanted):
            file.write(f"result {number}: {wanted.data.dtype}{list(wanted.data.shape)}\n{wanted.data}\n")


def main():
    args = parse_arguments()
    backend = make_backend(args.device, args.vendor)
    counts, failures = collections.Counter(), []
    refused, on_vendor = collections.Counter(), 0
    began, shown = time.monotonic(), time.monotonic()

    def rate():
        return f"{sum(counts.values()) / max(cpu_seconds(), 1e-9) * 60:.0f} per CPU minute"

    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for outcomes in pool.map(check_batch, batches(args, backend.batch)):
            for seed, outcome in outcomes:
                counts[outcome.kind] += 1
                on_vendor += outcome.side == VENDOR
                if outcome.kind == "refused":
                    refused[outcome.signature[2]] += 1
                if outcome.is_failure:
                    failures.append((seed, outcome))
                    print(f"seed {seed}: {outcome.side}: {outcome.kind}: {outcome.message}", flush=True)
            if time.monotonic() - shown > SHOWN:
                shown = time.monotonic()
                print(f"{sum(counts.values())} of {args.count}, {len(failures)} failed, "
                      f"{shown - began:.0f} s", file=sys.stderr, flush=True)
    total_rate = rate()
    seen = set()
    for seed, outcome in failures:
        if args.shrink_seconds and outcome.signature not in seen and len(seen) < args.most:
            seen.add(outcome.signature)
            program, case = make_small(backend, seed, outcome, args.shrink_seconds)
            leave(backend, args.keep / f"{args.device}-{seed}", case, outcome)
            print(f"seed {seed}: {len(program.steps)} ops left in {args.keep / f'{args.device}-{seed}'}",
                  flush=True)
    for message, count in refused.most_common():
        print(f"{count} refused: {message}")
    if args.vendor:
        print(f"{on_vendor} of {args.count} ran on the vendor's chip model")
    print(f"{len(failures)} of {args.count} failed on {args.device} from seed {args.seed}; "
          f"{counts['right']} right, {counts['refused']} refused, {total_rate}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
