"""python -m layout_solver FILE: solves a problem in JSON, and prints the answer in JSON; - is the standard input.
python -m layout_solver --flags: prints the flags with which a C compiler builds a program that uses layout-c/Solver.h.
"""

import argparse
import json
import pathlib
import sys

from . import ProblemError, __path__, solve


def get_flags() -> str:
    folders = [pathlib.Path(folder) for folder in __path__]
    include = next(folder for folder in folders if (folder / "include").exists()) / "include"
    library = next(folder for folder in folders if (folder / "libLayoutSolverC.so").exists())
    return f"-I{include} -L{library} -lLayoutSolverC -Wl,-rpath,{library}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m layout_solver", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", help="a problem in JSON (docs/solver.md)")
    what.add_argument("--flags", action="store_true", help="print the flags for a C compiler")
    parser.add_argument("--max-seconds", type=float, help="time limit")
    args = parser.parse_args()
    if args.flags:
        print(get_flags())
        return 0
    try:
        text = sys.stdin.read() if args.file == "-" else pathlib.Path(args.file).read_text(encoding="utf-8")
        answer = solve(text, max_seconds=args.max_seconds)
    except (OSError, ProblemError, UnicodeDecodeError) as error:
        print(f"{args.file}: {error}", file=sys.stderr)
        return 1
    print(json.dumps(answer, indent=2, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
