"""Runs the examples of the documentation.

usage: doc_examples.py [--link NAME=PATH].. FILE.md|ROOT...

For a source tree ROOT, runs the pages at its top level and below docs/, except docs/tutorials: those pages need more
tools and have tests of their own.

An example is a fenced `mlir` block that directly follows a comment with a command:

    <!-- run: layout-opt --canonicalize -->
    ```mlir
    func.func @f() { return }
    ```

The block is the standard input of the command, a shell pipeline that must succeed. The fenced block after the next
`<!-- output -->` comment, if there is one before the next example, must equal the standard output of the command. Blank
space at the ends of lines and of the text is ignored:

    <!-- output -->
    ```mlir
    module { .. }
    ```

`...` in the expected output matches any text. Examples may also be blocks of other languages. $PYTHON is the
interpreter that runs this program, so that a session with `>>>` prompts is checked by

    <!-- run: "$PYTHON" -m doctest /dev/stdin -->

A script is run by `sh -e`, and `cat > FILE` writes a file for the following blocks. All examples of a page run in one
new directory, which contains the named links and a `./dev` that runs without building.

Text may separate an example from its output, but not a comment from its block. Blocks without a comment are not run.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

LANGUAGES = ("mlir", "python", "wcsp", "json", "sh", "c")
_COMMENT = re.compile(r"^\s*<!--\s*(run:\s*(?P<command>.*?)|(?P<output>output))\s*-->\s*$")
# A comment that is nearly a directive and would otherwise be ignored silently.
_ALMOST = re.compile(r"^\s*<!--\s*(run|output)\b")
_FENCE = re.compile(r"^(?P<indent>\s*)(?P<ticks>`{3,})(?P<language>\S*)")
_TIME_LIMIT_S = 60


class Example:
    def __init__(self, file, line, command, text):
        self.place = f"{file}:{line}"
        self.command = command
        self.text = text
        self.expected = None


class MarkupError(Exception):
    pass


def find_examples(file, lines):
    """Returns the examples in `lines`; raises MarkupError for a misplaced comment."""
    examples = []
    pending = None  # the comment whose block must follow
    index = 0
    while index < len(lines):
        line = lines[index]
        number = index + 1
        index += 1
        fence = _FENCE.match(line)
        if fence:
            start = index
            closing = re.compile(r"^\s*`{%d,}\s*$" % len(fence["ticks"]))
            while index < len(lines) and not closing.match(lines[index]):
                index += 1
            if index == len(lines):
                raise MarkupError(f"{file}:{number}: this block is never closed")
            indent = len(fence["indent"])
            text = "\n".join(body[indent:] if body[:indent].isspace() else body
                             for body in lines[start:index]) + "\n"
            index += 1
            if pending is None:
                continue
            if pending["output"]:
                examples[-1].expected = text
            else:
                if fence["language"] not in LANGUAGES:
                    raise MarkupError(f"{file}:{number}: an example is a block of {', '.join(LANGUAGES)}")
                examples.append(Example(file, number, pending["command"], text))
            pending = None
            continue
        if pending is not None and line.strip():
            raise MarkupError(f"{file}:{number}: expected the block that the comment "
                              "above announces")
        comment = _COMMENT.match(line)
        if comment:
            if comment["output"] and (not examples or examples[-1].expected is not None):
                raise MarkupError(f"{file}:{number}: there is no example that this would "
                                  "be the output of")
            if not comment["output"] and not comment["command"]:
                raise MarkupError(f"{file}:{number}: this names no command to run")
            pending = comment
        elif _ALMOST.match(line):
            raise MarkupError(f"{file}:{number}: write `<!-- run: command -->` or "
                              "`<!-- output -->`, on one line")
    if pending is not None:
        raise MarkupError(f"{file}: it ends after a comment that announces a block")
    return examples


def normalized(text):
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def agree(expected, printed):
    """Returns true if `printed` matches `expected`, in which `...` matches any text."""
    first, *rest = map(re.escape, expected.split("..."))
    # Each middle part matches its first occurrence (atomic group), so that matching time stays polynomial.
    pattern = first + "".join(f"(?>.*?{part})" for part in rest[:-1]) + "".join(f".*{part}" for part in rest[-1:])
    return re.fullmatch(pattern, printed, re.S)


def check(example, directory):
    """Runs an example and returns None, or a description of its failure."""
    try:
        result = subprocess.run(
            ["bash", "-o", "pipefail", "-c", example.command], input=example.text,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=_TIME_LIMIT_S, cwd=directory, env={**os.environ, "PYTHON": sys.executable})
    except subprocess.TimeoutExpired:
        return f"still running after {_TIME_LIMIT_S} s"
    if result.returncode:
        return f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    if example.expected is not None:
        expected, printed = normalized(example.expected), normalized(result.stdout)
        if not agree(expected, printed):
            return f"the text shows\n{expected}\nbut the command prints\n{printed}"
    return None


_DEV = """#!/bin/sh
case $1 in
run) shift && exec "$PYTHON" -m layout_mlir.run "$@" ;;
python) shift && exec "$PYTHON" "$@" ;;
esac
echo "an example may only run: ./dev $*" >&2
exit 1
"""


def make_directory(links):
    """Creates a temporary directory for the examples of one page."""
    directory = tempfile.TemporaryDirectory(prefix="layout-examples-")
    for name, target in links:
        os.symlink(os.path.abspath(target), os.path.join(directory.name, name))
    dev = os.path.join(directory.name, "dev")
    with open(dev, "w", encoding="utf-8") as file:
        file.write(_DEV)
    os.chmod(dev, 0o755)
    return directory


def pages(root):
    found = [os.path.join(root, name) for name in os.listdir(root)]
    for directory, folders, names in os.walk(os.path.join(root, "docs")):
        if "tutorials" in folders:
            folders.remove("tutorials")
        found += [os.path.join(directory, name) for name in names]
    return sorted(name for name in found if name.endswith(".md"))


def check_page(file, links):
    """Runs the examples of a page and returns the number of examples and of failures."""
    try:
        with open(file, encoding="utf-8") as stream:
            examples = find_examples(file, stream.read().splitlines())
    except MarkupError as error:
        print(error)
        return 0, 1
    failed = 0
    with make_directory(links) as directory:
        for example in examples:
            problem = check(example, directory)
            if problem:
                failed += 1
                print(f"{example.place}: {example.command}: {problem}")
    return len(examples), failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--link", action="append", default=[], type=lambda text: text.split("=", 1))
    parser.add_argument("pages", nargs="+")
    arguments = parser.parse_args()
    files = [file for name in arguments.pages for file in (pages(name) if os.path.isdir(name) else [name])]
    counts = [check_page(file, arguments.link) for file in files]
    total, failed = (sum(column) for column in zip(*counts))
    print(f"{total} examples in {len(files)} files, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
