"""usage: ./dev bench                    CPU kernels, layouts of networks, the C++ programs
       ./dev bench --PART [OPTIONS]   one part of those below
       ./dev bench --PART --help      what it measures, and its options
       ./dev bench --benchmark_...    the C++ programs alone, with options of Google Benchmark
"""

import ast
import importlib
import pathlib
import re
import sys
import textwrap


def list_parts():
    """The modules of this package that are parts, each with what the first sentence of its text says: those whose text
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
    # The first one decides: others may be options of that part, as the target of --untouched is.
    for number, arg in enumerate(argv):
        name = arg.partition("=")[0]
        if name in parts:
            module = importlib.import_module(f".{parts[name][0]}", __package__)
            keeps = name == "--kernel"  # which it is in its own part
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
