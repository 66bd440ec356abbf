"""usage: ./dev bench                    the CPU kernels, layouts of networks, and the C++ programs
       ./dev bench --PART [OPTIONS]   one of the parts below
       ./dev bench --PART --help      what the part measures, and its options
       ./dev bench --benchmark_...    only the C++ programs, with options of Google Benchmark
"""

import ast
import importlib
import pathlib
import re
import sys
import textwrap


def list_parts():
    """Returns {option: (module name, first paragraph)} for the modules of this package that are parts: their docstring
    begins with the command."""
    parts = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found = re.match(r"\./dev (?:bench --)?(\w+)[^:\n]*: (.+?)(?:\n\n|\Z)", text, re.DOTALL)
        if found:
            parts["--" + found[1]] = path.stem, " ".join(found[2].split())
    return parts


def main(argv):
    parts = list_parts()
    # The first part in the arguments counts; later ones may be options of that part, e.g. --target of --untouched.
    for number, arg in enumerate(argv):
        name = arg.partition("=")[0]
        if name in parts:
            module = importlib.import_module(f".{parts[name][0]}", __package__)
            keeps = name == "--kernel"  # --kernel is also an option of its part
            return module.main(argv if keeps else argv[:number] + argv[number + 1:])
    if argv in (["--help"], ["-h"]):
        print(__doc__)
        for name, (_, text) in parts.items():
            print(textwrap.fill(text, 100, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18))
        return 0
    if argv:
        print(f"error: '{argv[0]}' is no part of ./dev bench; --help lists them", file=sys.stderr)
        return 2
    status = importlib.import_module(".kernels", __package__).main([])
    print()
    return importlib.import_module(".assignment", __package__).main([]) or status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
