"""Mutation testing: counts how many planted bugs the tests catch.

usage: mutate.py check ROOT
       mutate.py list ROOT [--library LIBRARY].. [--only N..]
       mutate.py plant ROOT SOURCES [--library LIBRARY].. [--only N..]
       mutate.py targets ROOT [--library LIBRARY].. [--only N..]
       mutate.py run ROOT BUILD [--library LIBRARY].. [--only N..] [--jobs J]

LIBRARY is the name of a list in scripts/mutants, e.g. Algebra; N is the number of a mutant.

`check` verifies that every entry of scripts/mutants matches the sources under ROOT. `plant` copies ROOT to SOURCES and
plants the selected mutants (scripts/mutant_lists.py); files without one stay equal, so that ccache has their objects.
`targets` prints the build targets that the tests need. `run` first runs each test of the build directory BUILD without
a mutant, to record its outcome, its duration and the mutants that it reaches. Then, for each mutant, it runs the tests
of its list that reach it, fastest first, until one fails or exceeds its time limit. The report is BUILD/mutants.txt.
`./dev mutate` does all of this.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import multiprocessing
import os
import sys

import mutant_lists
import mutant_tests
from source_files import source_files

CAUGHT, SURVIVED, UNMET = "caught", "survived", "met by no test"
# Seconds added to the time limit of a test, which is ten times its duration without a mutant.
GRACE = 10


def run_mutant(mutant, tests, baseline):
    """Runs the tests that reach a mutant, fastest first, until one fails. Returns the number of the mutant, its
    outcome, and the name of the test that failed, or an empty name."""
    meeting = sorted((test for test in tests
                      if mutant.number in baseline.get(test.name, {"meets": ()})["meets"]),
                     key=lambda test: baseline[test.name]["seconds"])
    for test in meeting:
        limit = GRACE + 10 * baseline[test.name]["seconds"]
        if test.run({"LAYOUT_MUTANT": str(mutant.number)}, limit) != mutant_tests.PASSED:
            return mutant.number, CAUGHT, test.name
    return mutant.number, SURVIVED if meeting else UNMET, ""


def measure(test):
    """Runs a test without a mutant. Returns its name, and a record of the outcome, the duration and the mutants it
    reaches."""
    return test.name, test.measure()


def in_parallel(jobs, function, *arguments):
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures = [pool.submit(function, *each) for each in zip(*arguments)]
        for future in concurrent.futures.as_completed(futures):
            yield future.result()


def measure_all(tests, jobs, path):
    """Returns the records of all tests that pass without a mutant, by name. Records of unchanged tests are reused from
    `path`."""
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        known = {}
    stale = [test for test in tests
             if known.get(test.name, {}).get("stamp") != test.stamp()]
    print(f"{len(tests)} tests, {len(stale)} to be measured", file=sys.stderr)
    for name, record in in_parallel(jobs, measure, stale):
        known[name] = record
        if record["outcome"] == mutant_tests.FAILED:
            print(f"fails without a mutant, and is left out: {name}", file=sys.stderr)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(path + ".new", path)
    return {test.name: known[test.name] for test in tests
            if known[test.name]["outcome"] == mutant_tests.PASSED}


def score(libraries, results):
    """Returns the lines of the report."""
    lines, total = [], collections.Counter()
    summary = []
    for library in libraries:
        counts = collections.Counter()
        for mutant in library.mutants:
            if mutant.number not in results:
                continue
            outcome, test = results[mutant.number]
            counts["all"] += 1
            counts[outcome] += 1
            if outcome == CAUGHT:
                counts["despite"] += bool(mutant.survives)
                lines.append(f"{mutant.number} {mutant.place} caught by {test}: "
                             f"{mutant.description}")
                continue
            counts["explained"] += bool(mutant.survives)
            lines.append(f"{mutant.number} {mutant.place} {outcome.upper()}: "
                         f"{mutant.description}"
                         + (f" ({mutant.survives})" if mutant.survives else ""))
        total += counts
        if counts["all"]:
            summary.append((library.name, counts))
    for name, counts in summary + [("all", total)]:
        if counts["all"]:
            lines.append(f"{name}: {counts['all']} mutants, {counts[CAUGHT]} caught "
                         f"({100 * counts[CAUGHT] / counts['all']:.1f} %), "
                         f"{counts['all'] - counts[CAUGHT]} survived, "
                         f"{counts['explained']} of them with a reason, "
                         f"{counts[UNMET]} met by no test")
    if total["despite"]:
        lines.append(f"{total['despite']} caught in spite of a reason: take it out of the list")
    return lines


def select(libraries, arguments):
    names = {library.name for library in libraries}
    for name in arguments.library:
        if name not in names:
            sys.exit(f"there is no list {name}: {', '.join(sorted(names))}")
    chosen = [mutant for library in libraries for mutant in library.mutants
              if (not arguments.library or mutant.library in arguments.library)
              and (not arguments.only or mutant.number in arguments.only)]
    if not chosen:
        sys.exit("no mutant is selected")
    return chosen


def restrict(libraries, arguments):
    """Returns the lists reduced to the selected mutants, without empty lists."""
    chosen = {mutant.number for mutant in select(libraries, arguments)}
    libraries = [dataclasses.replace(library, mutants=[each for each in library.mutants if each.number in chosen])
             for library in libraries]
    return [library for library in libraries if library.mutants]


def run(libraries, arguments):
    chosen = select(libraries, arguments)
    tests_of = {library.name: mutant_tests.find(arguments.build, library.tests) for library in libraries
                if any(mutant.library == library.name for mutant in chosen)}
    every = {test.name: test for tests in tests_of.values() for test in tests}
    baseline = measure_all(list(every.values()), arguments.jobs,
                           os.path.join(arguments.build, "mutants-baseline.json"))
    if not baseline:
        sys.exit("no test passes without a mutant")
    # Workers are forked after the tests are found, and inherit them.
    results = {}
    for number, outcome, test in in_parallel(
            arguments.jobs, run_mutant, chosen,
            [tests_of[mutant.library] for mutant in chosen], [baseline] * len(chosen)):
        results[number] = outcome, test
        if outcome != CAUGHT:
            print(f"{number} {outcome}", file=sys.stderr)
    lines = score(libraries, results)
    report = os.path.join(arguments.build, "mutants.txt")
    with open(report, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print("\n".join(line for line in lines if " caught by " not in line))
    print(f"the whole report is {report}")


def copy_tree(root, destination, mutated):
    """Writes only files that changed, so that the build recompiles no more than necessary."""
    names = set(source_files(root)) | set(mutated)
    for directory, subdirectories, files in os.walk(destination):
        if directory == destination:
            subdirectories[:] = [name for name in subdirectories if name != "build"]
        for name in files:
            path = os.path.join(directory, name)
            if os.path.relpath(path, destination) not in names:
                os.remove(path)
    for name in sorted(names):
        source, target = os.path.join(root, name), os.path.join(destination, name)
        if name in mutated:
            data = mutated[name].encode()
        else:
            with open(source, "rb") as file:
                data = file.read()
        try:
            with open(target, "rb") as file:
                if file.read() == data:
                    continue
        except OSError:
            os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data)
        if os.path.exists(source):
            os.chmod(target, os.stat(source).st_mode)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("command", choices=["check", "list", "plant", "targets", "run"])
    parser.add_argument("root")
    # Absolute, because tests run in other directories.
    parser.add_argument("build", nargs="?", type=os.path.abspath)
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--only", type=int, nargs="+", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    try:
        libraries = mutant_lists.read_lists(os.path.join(arguments.root, "scripts", "mutants"))
        mutated = mutant_lists.plant(arguments.root, libraries)
    except mutant_lists.ListError as error:
        sys.exit(str(error))
    if arguments.command == "check":
        for library in libraries:
            print(f"{library.name}: {len(library.mutants)} mutants")
        print(f"{sum(len(library.mutants) for library in libraries)} mutants, all in place")
    elif arguments.command == "list":
        for mutant in select(libraries, arguments):
            print(f"{mutant.number} {mutant.place} {mutant.file}: {mutant.description}")
    elif arguments.command == "plant":
        mutated = mutant_lists.plant(arguments.root, restrict(libraries, arguments))
        mutated[os.path.join("include", mutant_lists.HEADER_NAME)] = mutant_lists.HEADER
        copy_tree(arguments.root, arguments.build, mutated)
    elif arguments.command == "targets":
        units = {os.path.basename(name) for library in restrict(libraries, arguments) for name in library.tests
                 if name.endswith("Tests")}
        print(*sorted(units), "layout-opt", "layout-run", "layout-translate",
              "LayoutC", "LayoutNpuSimulator", "LayoutPython")
    else:
        run(libraries, arguments)


if __name__ == "__main__":
    main()
