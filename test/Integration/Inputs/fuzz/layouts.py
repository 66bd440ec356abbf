# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts for values in the middle of programs."""

LETTERS = "abcdef"


def random_layout(rng, value):
    """A layout in linear memory that holds the value: dims in any order, cut into tiles, aligned."""
    letters = LETTERS[:value.rank]
    outer, inner = list(letters), []
    for letter in rng.sample(letters, min(len(letters), rng.choice([0, 1, 1, 2]))):
        tile = rng.choice([2, 3, 4, 8, 16])
        outer[outer.index(letter)] = f"{letter} floordiv {tile}"
        inner.append(f"{letter} mod {tile}")
    rng.shuffle(outer)
    digits = outer + inner
    if digits and not any(value.dynamic) and rng.random() < 0.2:
        at = rng.randrange(len(digits))
        digits[at:] = [f"[{', '.join(digits[at:])}] align {rng.choice([4, 6, 16])}"]
    text = f"#layout.map<({', '.join(letters)}) -> buffer({', '.join(digits)})>"
    if rng.random() < 0.3 and value.element in ("f32", "i32", "i8"):
        text = f"#layout.padded<{text}, zero>"
    return text
