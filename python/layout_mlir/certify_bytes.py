"""Checks that a decided module moves the bytes that its decision claims, from the text of the module alone.

    layout-opt net.mlir --layout-solve='objective=bytes target={#layout.cpu<lanes = 16>}' --layout-materialize -o decided.mlir
    python -m layout_mlir.certify_bytes decided.mlir [net.mlir]

The text has a `layout.convert` for each conversion, the maps of both sides, and the loops and calls around it. Each map
is evaluated at every index. A conversion that keeps the position of each element moves nothing; any other conversion
reads each element and writes each position of its result, with the padding if the type states its value. The sum,
multiplied by loop trip counts and numbers of calls, must be the `conversion_cost` of `layout.assignment`. Conversions
of the original program are not part of the decision; they are subtracted if the program is given as well. No code is
shared with the compiler: maps are read by the definition of docs/spec.md. The exit status is 0 if both numbers are
equal, 1 if they differ, and 2 if the text has syntax that this program does not support.
"""

import functools
import math
import pathlib
import re
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

_WIDTHS = {"f64": 8, "i64": 8, "f32": 4, "i32": 4, "f16": 2, "bf16": 2, "i16": 2, "i8": 1, "i1": 1}


class Unknown(Exception):
    """Raised for text that this program does not support."""


class Part(NamedTuple):
    """The values of an expression at all indices, and its extent."""
    at: np.ndarray
    extent: int


class _Map:
    """Parses and evaluates a map, e.g. `(d0, d1) -> buffer(d0, [d1] align 16)`, at all indices of a shape at once."""

    def __init__(self, text: str, shape: Sequence[int]):
        self.tokens = re.findall(r"\w+|->|\S", text)
        self.shape, self.next = shape, 0
        self.dims: dict[str, Part] = {}

    def peek(self, *words: str) -> bool:
        return self.next < len(self.tokens) and self.tokens[self.next] in words

    def take(self, *words: str) -> str:
        token = self.tokens[self.next] if self.next < len(self.tokens) else "the end"
        if words and token not in words:
            raise Unknown(f"{' '.join(self.tokens)}: {token} where {' or '.join(words)} was expected")
        self.next += 1
        return token

    def accept(self, word: str) -> bool:
        if not self.peek(word):
            return False
        self.next += 1
        return True

    def number(self) -> int:
        return -self.number() if self.accept("-") else int(self.take())

    def read(self) -> Part:
        self.take("(")
        names = self.names(")")
        if len(names) != len(self.shape):
            raise Unknown(f"{len(names)} dims for {len(self.shape)} sizes")
        sizes = list(self.shape)
        if self.accept("replicate"):
            self.take("(")
            while not self.accept(")"):
                names.append(self.take())
                self.take(":")
                sizes.append(self.number())
                self.accept(",")
        grid = np.ogrid[tuple(slice(size) for size in sizes)] if sizes else []
        self.dims = {name: Part(index, size) for name, index, size in zip(names, grid, sizes, strict=True)}
        self.take("->")
        self.take("buffer")
        self.take("(")
        if self.accept("offset"):
            self.take("=")
            part = self.sum()
            if self.accept("extent"):
                part = Part(part.at, int(self.sum().at))
            self.take(")")
        else:
            part = self.group(")")
        if self.next != len(self.tokens) and not self.peek("stored"):
            raise Unknown(f"{' '.join(self.tokens[self.next:])} after the map")
        return Part(np.broadcast_to(part.at, sizes), max(part.extent, 0))

    def names(self, end: str) -> list[str]:
        found = []
        while not self.accept(end):
            found.append(self.take())
            self.accept(",")
        return found

    def group(self, end: str) -> Part:
        """Parses values up to the token `end` and fuses them row-major, the slowest first."""
        at, extent = np.zeros((), np.int64), 1
        while not self.accept(end):
            part = self.sum()
            at, extent = at * part.extent + part.at, extent * part.extent
            self.accept(",")
        return Part(at, extent)

    def sum(self) -> Part:
        at, reach = np.zeros((), np.int64), 0
        sign = -1 if self.accept("-") else 1
        while True:
            part = self.product()
            at = at + sign * part.at
            reach += part.extent - 1 if sign > 0 else 0
            if not self.peek("+", "-"):
                return Part(at, reach + 1)
            sign = 1 if self.take() == "+" else -1

    def product(self) -> Part:
        part = self.factor()
        while self.peek("*", "floordiv", "mod"):
            operator = self.take()
            sign = -1 if self.accept("-") else 1
            right = self.factor()
            k = sign * int(right.at) if right.at.ndim == 0 else 0
            if k < 1 and (operator != "*" or k == 0):
                raise Unknown(f"{operator} by a value that is not a number, or is negative")
            if operator == "*":
                part = Part(part.at * k, max((part.extent - 1) * k, 0) + 1)
            elif operator == "floordiv":
                part = Part(part.at // k, -(-part.extent // k))
            else:
                part = Part(part.at % k, k)
        return part

    def factor(self) -> Part:
        token = self.take()
        if token.isdigit():
            return Part(np.asarray(int(token)), int(token) + 1)
        if token in self.dims:
            return self.dims[token]
        if token == "(":
            part = self.sum()
            self.take(")")
            return part
        if token == "[":
            part = self.group("]")
            align = self.number() if self.accept("align") else 1
            return Part(part.at, -(-part.extent // align) * align)
        if token == "pad":
            self.take("(")
            part = self.sum()
            self.take(",")
            low = self.number()
            self.take(",")
            high = self.number()
            self.take(")")
            return Part(part.at + low, part.extent + low + high)
        if token == "size":
            self.take("(")
            size = self.dims[self.take()].extent
            self.take(")")
            return Part(np.asarray(size), size + 1)
        if token == "ceil":
            self.take("(")
            number = self.sum().at
            self.take(",")
            count = int(-(-number // self.number()))
            self.take(")")
            return Part(np.asarray(count), count + 1)
        if token == "xor":
            self.take("(")
            parts = [self.sum()]
            while self.accept(","):
                parts.append(self.sum())
            count = self.number() if self.accept(":") else parts[0].extent
            self.take(")")
            return Part(functools.reduce(np.bitwise_xor, (part.at & (count - 1) for part in parts)), count)
        raise Unknown(f"'{token}' in a map")


class Tensor(NamedTuple):
    """A tensor type: its shape with assumed values for dynamic sizes, its shape with other values for these, the bytes
    of an element, the map, and the stated padding value."""
    shape: tuple[int, ...]
    other_shape: tuple[int, ...]
    width: int
    map: str | None
    padding: str | None

    def store(self, shape: Sequence[int]) -> Part:
        """Returns the position of each element, and the number of positions."""
        if self.map is None:
            count = math.prod(shape)
            return Part(np.arange(count).reshape(shape), count)
        return _Map(self.map, shape).read()


def _name_apart(text: str) -> str:
    """Renames SSA values so that each has one definition: functions and sibling regions reuse names."""
    functions = re.split(r"(?m)^(?= *func\.func )", text)
    text = "".join(function.replace("%", f"%{number}_") for number, function in enumerate(functions))
    lines: list[str] = []
    last: dict[str, str] = {}
    counts: dict[str, int] = {}
    for line in text.splitlines():
        defined = re.match(r" *(%\w+)(?::\d+)? = ", line)
        line = re.sub(r"%\w+", lambda use: last.get(use[0]) or use[0], line)
        if defined:
            name = defined[1]
            counts[name] = counts.get(name, 0) + 1
            new = f"{name}_{counts[name]}"
            line = line.replace(last.get(name, name), new, 1)
            last[name] = new
        lines.append(line)
    return "\n".join(lines)


class Module:
    """The lines of a module, and how often each runs."""

    def __init__(self, text: str):
        text = _name_apart(text)
        self.lines = text.splitlines()
        target = re.search(r"layout\.target = #layout\.\w+<([^>]*)", text)

        def assumed(name: str, default: int) -> int:
            found = re.search(rf"assumed_{name} = (\d+)", target[1] if target else "")
            return int(found[1]) if found else default
        self.assumed_trips, self.assumed_size = assumed("trips", 8), assumed("size", 1)
        self.aliases = dict(re.findall(r"^(#\w+) = (.*)$", text, re.MULTILINE))
        self.constants = {name: int(value) for name, value in
                          re.findall(r"^ *(%\w+) = arith.constant (-?\d+) : index", text, re.MULTILINE)}
        self.uses = re.findall(r"%\w+(?:#\d+)?", text)
        # Maps a function to true if it is public, so that other modules may call it.
        self.functions = {name: not private for private, name in
                          re.findall(r"^ *func\.func (private )?@([\w.$-]+)", text, re.MULTILINE)}

    def runs(self) -> Iterator[tuple[str, int]]:
        """Yields each line with the number of times that it runs."""
        counts: dict[str, int] = {}
        for _ in range(len(self.functions) + 1):  # iterates until nested calls are counted
            called: dict[str, int] = {}
            for line, times in self.walk(counts):
                if found := re.search(r"\bcall @([\w.$-]+)", line):
                    called[found[1]] = called.get(found[1], 0) + times
            now = {name: max(1, public + called.get(name, 0)) for name, public in self.functions.items()}
            if now == counts:
                return self.walk(counts)
            counts = now
        raise Unknown("recursive functions")

    def walk(self, counts: dict[str, int]) -> Iterator[tuple[str, int]]:
        frames = [1]
        for line in self.lines:
            text = re.sub(r'"[^"]*"', "", line)
            if re.match(r" *}", text):
                frames.pop()
            yield line, frames[-1]
            if re.search(r"{ *$", text):
                frames.append(frames[-1] * self.trips(text, counts))

    def trips(self, line: str, counts: dict[str, int]) -> int:
        """Returns how often a region runs each time the line that opens it does. A function runs as often as `counts`
        says; a loop whose bounds are not constant has the assumed trip count."""
        if found := re.match(r" *func\.func (?:private )?@([\w.$-]+)", line):
            return counts.get(found[1], 1)
        if found := re.search(r"\bscf\.for %\w+ = (%\w+) to (%\w+) step (%\w+)", line):
            if any(name not in self.constants for name in found.groups()):
                return self.assumed_trips
            low, high, step = (self.constants[name] for name in found.groups())
            return max(1, -(-(high - low) // step))
        if re.search(r"\bscf\.while\b|^ *} do {", line):
            return self.assumed_trips
        if found := re.search(r"\bscf\.forall \((.*?)\) in \((.*?)\)", line):
            size = found[2]
            return max(1, int(size)) if size.isdigit() else self.assumed_trips
        if re.search(r"\bscf\.parallel\b|\baffine\.(for|parallel)\b", line):
            raise Unknown(f"the trip count of {line.strip()}")
        return 1

    def tensor(self, text: str) -> Tensor:
        sizes, _, encoding = text.partition(",")
        *shape, element = sizes.strip().split("x")
        if element not in _WIDTHS:
            raise Unknown(f"tensor<{text}>")
        layout = encoding.strip()
        padding = None
        while layout in self.aliases or layout.startswith("#layout.padded<"):
            layout = self.aliases.get(layout, layout)
            if found := re.fullmatch(r"#layout\.padded<(.*), ([^,<>]*)>", layout):
                layout, padding = found[1].strip(), found[2].strip()
        found = re.fullmatch(r"#layout\.map<(.*)>", layout)
        if layout and not found:
            raise Unknown(f"the layout {layout}")
        assumed = [int(size) if size != "?" else self.assumed_size for size in shape]
        other = [int(size) if size != "?" else 2 * d + 3 for d, size in enumerate(shape)]
        return Tensor(tuple(assumed), tuple(other), _WIDTHS[element], found[1] if found else None, padding)


def _is_alike(one: Part, other: Part) -> bool:
    return one.extent == other.extent and np.array_equal(one.at, other.at)


@functools.cache
def count_bytes(source: Tensor, dest: Tensor, may_overwrite: bool) -> int:
    """Returns the bytes that a conversion reads and writes."""
    after = dest.store(dest.shape)
    elements = math.prod(dest.shape) * dest.width
    padding = after.extent * dest.width - after.at.size * dest.width if dest.padding else 0
    if all(_is_alike(source.store(shape), dest.store(shape)) for shape in {dest.shape, dest.other_shape}):
        if dest.padding in (None, source.padding):
            return 0
        if may_overwrite:
            return padding
    return elements + after.at.size * dest.width + padding


def count_all(text: str) -> int:
    """Returns the bytes that the conversions of a module move."""
    module = Module(text)
    made_as_asked = set()  # constants and empty tensors, converted at no cost
    total = 0
    for line, times in module.runs():
        if found := re.match(r" *(%\w+) = (arith\.constant|tensor\.empty)", line):
            made_as_asked.add(found[1])
        found = re.match(r" *(%\w+) = layout\.convert (%\w+(?:#\d+)?) .*?: tensor<(.*)> to tensor<(.*)>", line)
        if not found:
            continue
        result, operand, source, dest = found.groups()
        if operand in made_as_asked:
            made_as_asked.add(result)
            continue
        may_overwrite = module.uses.count(operand) == 2
        total += times * count_bytes(module.tensor(source), module.tensor(dest), may_overwrite)
    return total


def check(decided: str, given: str = "") -> tuple[int, int]:
    """Returns the bytes that the decision claims, and the bytes that its conversions move."""
    claimed = re.search(r"layout\.assignment = {conversion_cost = (\d+)", decided)
    if not claimed:
        raise Unknown("there is no layout.assignment, so nothing is claimed")
    return int(claimed[1]), count_all(decided) - count_all(given)


def main(argv: list[str]) -> int:
    if len(argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        claimed, moved = check(*(pathlib.Path(path).read_text(encoding="utf-8") for path in argv[1:]))
    except (OSError, UnicodeError, Unknown) as error:
        print(f"{argv[1]}: cannot be checked: {error}", file=sys.stderr)
        return 2
    if claimed != moved:
        print(f"{argv[1]}: {claimed} bytes are claimed, but the conversions move {moved}")
        return 1
    print(f"{argv[1]}: the conversions move the {moved} bytes that are claimed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
