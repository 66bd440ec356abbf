"""./dev bench --torch: PyTorch models by torch.compile with the backend "layout", beside eager and Inductor.

The models are those of examples/torch_models.py at batch 1. All backends run alternately in one process per model, and
the fastest run of each counts, in processor time on one thread. A model is timed after its results agree with those of
PyTorch. The backend `frozen` is Inductor with constant weights, which it packs. What backends compile is kept in the
build directory, because Inductor compiles some of these models for minutes; --cold keeps nothing and prints the seconds
to compile, which include the first run. --update-docs writes the rows of the models to docs/pytorch-models.md.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from .measured_page import DOCS, Page, describe_circumstances

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
    """Measures one model and returns its row: times in ms, seconds to compile, and the largest difference."""
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
    return {"model": name, "times": times, "compile": {key: prepared[key][1] for key in args.backends},
            "difference": max(each[2] for each in prepared.values())}


# ------------------------------------------------------------------------------ tables

def show(row, args):
    """Returns the cells of a row on the terminal."""
    cells = [f"`{row['model']}`", *(f"{row['times'][key]:.2f}" for key in ["eager", *args.backends])]
    cells += [f"{row['compile'][key]:.0f}" for key in args.backends] if args.cold else []
    return f"| {' | '.join(cells)} | {row['difference']:.0e} |"


def cells_of(row):
    """Returns the cells of a row on the page."""
    times = row["times"]
    best = min(times[key] for key in ("inductor", "frozen") if key in times)
    return [f"`{row['model']}`", *(f"{times[key]:.3g}" if key in times else ""
                                   for key in ("layout", "eager", "inductor", "frozen")),
            f"{times['layout'] / best:.2f}", f"{row['difference']:.0e}"]


def summarize(rows):
    ahead = sum(float(row[-2]) < 1 for row in rows)
    return f"The backend `layout` is ahead of the faster Inductor on {ahead} of {len(rows)} models."


PAGE = Page(DOCS / "pytorch-models.md", "./dev bench --torch --update-docs", """# PyTorch models

To compare the backend `layout` of [`torch.compile`](tutorials/pytorch.md) with eager PyTorch and with Inductor, run
`./dev bench --torch`. The models are those of [torch_models.py](../examples/torch_models.py) with random weights, at
batch 1. Results of every backend are compared with those of eager PyTorch; the difference is the largest one, relative
to the largest element. Times are milliseconds of one inference on one thread: the least processor time of runs that
alternate in one process. `frozen` is Inductor with the option `freezing`, which makes weights constants, as `layout`
does; it is measured if `--backends` names it. The ratio is the time of `layout` to that of the faster Inductor.
`./dev bench --torch --update-docs [MODEL..]` writes the rows of this page.
""", ("model", "layout, ms", "eager, ms", "Inductor, ms", "frozen, ms", "ratio", "difference"), summarize)


def parse(argv):
    from torch_models import MODELS

    parser = argparse.ArgumentParser(prog="./dev bench --torch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"only these of {', '.join(MODELS)}")
    parser.add_argument("--backends", type=lambda text: text.split(","), default=["layout", "inductor"], metavar="A,B",
                        help=f"some of {', '.join(BACKENDS)} (default: layout,inductor)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each backend (default: 1)")
    parser.add_argument("--seconds", type=float, default=10, metavar="S", help="seconds of runs of each backend")
    parser.add_argument("--small", action="store_true", help="few channels, layers and pixels")
    parser.add_argument("--cold", action="store_true", help="keep nothing compiled, and print the seconds to compile")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for the only MODEL instead of tables")
    parser.add_argument("--update-docs", action="store_true", help=f"write the rows to docs/{PAGE.path.name}")
    args = parser.parse_args(argv)
    for kind, given, known in (("MODEL", args.models, MODELS), ("--backends", args.backends, BACKENDS)):
        if unknown := set(given) - set(known):
            parser.error(f"{kind}: {', '.join(sorted(unknown))}: it takes {', '.join(known)}")
    if args.update_docs and (args.small or args.threads != 1 or not {"layout", "inductor"} <= set(args.backends)):
        parser.error("--update-docs takes models of full size on one thread, with the backends layout and inductor")
    if args.json and len(args.models) != 1:
        parser.error("--json takes one MODEL")
    args.all, args.models = list(MODELS), args.models or list(MODELS)
    return args


def measure_all(argv):
    """Prints the table, each row from a process of its own."""
    args = parse(argv)
    if args.json:
        print(json.dumps(run(args.models[0], args)))
        return 0
    print(f"| model | eager, ms | {' | '.join(f'{each}, ms' for each in args.backends)} | "
          + "".join(f"{each} compiles, s | " for each in args.backends if args.cold) + "largest difference |")
    print("|---|" + "---:|" * (len(args.backends) * (2 if args.cold else 1) + 2), flush=True)
    options = [each for each in argv if each not in args.models]
    measured = 0
    for name in args.models:
        done = subprocess.run([sys.executable, "-B", "-m", "bench.torch_compile", name, "--json", *options],
                              stdout=subprocess.PIPE, text=True)
        if not done.returncode:
            row, measured = json.loads(done.stdout.splitlines()[-1]), measured + 1
            print(show(row, args), flush=True)
            if args.update_docs:
                PAGE.update([cells_of(row)], describe_circumstances(), [f"`{name}`" for name in args.all])
    return int(measured < len(args.models))


def main(argv):
    folder = pathlib.Path(os.environ["LAYOUT_BUILD_DIR"], "torch")
    python = folder / "venv/bin/python"
    if not python.exists():
        print(f"error: {python.parent.parent} has no PyTorch", file=sys.stderr)
        return 1

    def run_there(caches):
        return subprocess.run([python, "-B", "-m", "bench.torch_compile", *argv], env={**os.environ, **caches}).returncode

    if "--cold" not in argv:
        kept = folder / "bench"
        return run_there({"LAYOUT_CACHE": str(kept / "layout"), "TORCHINDUCTOR_CACHE_DIR": str(kept / "inductor")})
    with tempfile.TemporaryDirectory(prefix="bench-torch-") as scratch:
        return run_there({"LAYOUT_CACHE": "", "TORCHINDUCTOR_CACHE_DIR": scratch})


if __name__ == "__main__":
    sys.exit(measure_all(sys.argv[1:]))
