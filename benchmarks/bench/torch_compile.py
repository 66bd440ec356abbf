"""./dev bench --torch: PyTorch models by torch.compile with the backend "layout", beside eager and Inductor.

The models are those of examples/torch_models.py at batch 1. All backends run alternately in one process per model, and
the fastest run of each counts, in processor time on one thread. A model is timed after its results agree with those of
PyTorch. `frozen` is Inductor with constant weights, which it packs. Seconds to compile include the first run.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROUNDS = 5
TOLERANCE = 1e-3  # relative to the largest value of a result
BACKENDS = {"layout": {"backend": "layout"}, "inductor": {"backend": "inductor"},
            "frozen": {"backend": "inductor", "options": {"freezing": True}}}


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def prepare(model, inputs, backends):
    """Returns {backend: (function, seconds to compile, largest relative difference)}, with PyTorch as `eager`."""
    import torch

    prepared, expected = {"eager": (model, 0, 0)}, as_tuple(model(*inputs))
    for name in backends:
        start = time.monotonic()
        function = torch.compile(model, **BACKENDS[name])
        found = as_tuple(function(*inputs))
        seconds = time.monotonic() - start
        apart = max(((a - b).abs().max() / a.abs().max()).item() for a, b in zip(expected, found))
        if not apart < TOLERANCE:
            raise SystemExit(f"error: the results of {name} differ by {apart:.1g} relative to the largest value")
        prepared[name] = function, seconds, apart
    return prepared


def measure(functions, inputs, seconds, clock):
    """Returns the least time of each function in ms; they run alternately."""
    least = dict.fromkeys(functions, float("inf"))
    for _ in range(ROUNDS):
        for name, function in functions.items():
            end, runs = time.monotonic() + seconds / ROUNDS, 0
            while not runs or time.monotonic() < end:
                start = clock()
                function(*inputs)
                least[name], runs = min(least[name], 1e3 * (clock() - start)), runs + 1
    return least


def run(name, args):
    """Measures one model and prints its row."""
    import torch
    import torch_models

    import layout_mlir.torch_backend  # noqa: F401  # registers the backend

    torch.set_num_threads(args.threads)
    model = torch_models.build(name, args.small)
    inputs = torch_models.draw_inputs(name, args.small)
    with torch.no_grad():
        prepared = prepare(model, inputs, args.backends)
        times = measure({key: each[0] for key, each in prepared.items()}, inputs, args.seconds,
                        time.process_time if args.threads == 1 else time.perf_counter)
    columns = [f"{times[key]:.2f}" for key in prepared]
    columns += [f"{prepared[key][1]:.0f}" for key in args.backends]
    print(f"| `{name}` | {' | '.join(columns)} | {max(each[2] for each in prepared.values()):.0e} |", flush=True)


def parse(argv):
    from torch_models import MODELS

    parser = argparse.ArgumentParser(prog="./dev bench --torch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"only these of {', '.join(MODELS)}")
    parser.add_argument("--backends", type=lambda text: text.split(","), default=list(BACKENDS), metavar="A,B",
                        help=f"only these of {', '.join(BACKENDS)}")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each backend (default: 1)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="seconds of runs of each backend")
    parser.add_argument("--small", action="store_true", help="few channels, layers and pixels")
    args = parser.parse_args(argv)
    for kind, given, known in (("MODEL", args.models, MODELS), ("--backends", args.backends, BACKENDS)):
        if unknown := set(given) - set(known):
            parser.error(f"{kind}: {', '.join(sorted(unknown))}: it takes {', '.join(known)}")
    args.models = args.models or list(MODELS)
    return args


def measure_all(argv):
    """Prints the table, each row from a process of its own."""
    args = parse(argv)
    if len(args.models) == 1:
        run(args.models[0], args)
        return 0
    print(f"| model | eager, ms | {' | '.join(f'{each}, ms' for each in args.backends)} | "
          f"{' | '.join(f'{each} compiles, s' for each in args.backends)} | largest difference |")
    print("|---|" + "---:|" * (2 * len(args.backends) + 2), flush=True)
    options = [each for each in argv if each not in args.models]
    return max(subprocess.run([sys.executable, "-B", "-m", "bench.torch_compile", name, *options]).returncode
               for name in args.models)


def main(argv):
    python = pathlib.Path(os.environ["LAYOUT_BUILD_DIR"], "torch/venv/bin/python")
    if not python.exists():
        print(f"error: {python.parent.parent} has no PyTorch", file=sys.stderr)
        return 1
    # No backend finds what an earlier run has compiled.
    with tempfile.TemporaryDirectory(prefix="bench-torch-") as folder:
        cold = {"LAYOUT_CACHE": "", "TORCHINDUCTOR_CACHE_DIR": folder}
        return subprocess.run([python, "-B", "-m", "bench.torch_compile", *argv], env={**os.environ, **cold}).returncode


if __name__ == "__main__":
    sys.exit(measure_all(sys.argv[1:]))
