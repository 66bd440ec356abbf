"""Checks the formatting of the C++ sources, or repairs it with --fix.

usage: check_format.py [--fix] ROOT
"""

import argparse
import os
import subprocess
import sys

from source_files import source_files

FORMATTER = "clang-format-22"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root")
    arguments = parser.parse_args()
    names = [name for name in source_files(arguments.root)
             if name.endswith((".cpp", ".h", ".c"))]
    if not names:
        print(f"there are no C++ sources under {arguments.root}")
        return 1
    mode = ["-i"] if arguments.fix else ["--dry-run", "--Werror"]
    failed = []
    # Batches keep the command line short, and diagnostics name the file.
    for start in range(0, len(names), 64):
        batch = names[start:start + 64]
        result = subprocess.run([FORMATTER, "--style=file", *mode, *batch],
                                cwd=arguments.root, stderr=subprocess.PIPE, text=True)
        if result.returncode:
            failed += [name for name in batch if name + ":" in result.stderr] or batch
            # Only the first diagnostics are shown; the names of all files follow below.
            sys.stderr.write("".join(result.stderr.splitlines(True)[:24]))
    if failed:
        print(f"{len(failed)} of {len(names)} files are not formatted as .clang-format says: "
              + ", ".join(failed) + "; `./dev format --fix` repairs them")
        return 1
    print(f"{len(names)} files " + ("formatted" if arguments.fix else "are formatted"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
