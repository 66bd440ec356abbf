# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts for values in the middle of programs."""

import random_layouts

LETTERS = "abcdef"
NUMBERS = {"f32": "1.0 : f32", "f16": "-1.0 : f16", "i32": "2 : i32", "i8": "-1 : i8", "i64": "3 : i64"}


def tiled(rng, value):
    """Dims in any order, cut into tiles, aligned: what images and units take, too."""
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
    return f"#layout.map<({', '.join(letters)}) -> buffer({', '.join(digits)})>"


def random_layout(rng, value):
    """A layout in linear memory that holds the value, of the whole grammar; of unknown sizes, one
    that is a layout of all of them. Its padding may be stated."""
    if rng.random() < 0.4:
        text = tiled(rng, value)
    else:
        kinds = random_layouts.FAMILIES if any(value.dynamic) else random_layouts.KINDS
        text = random_layouts.random_layout(rng, value.shape, value.dynamic, kinds=kinds).text
    if rng.random() < 0.3 and value.element != "complex<f32>":
        number = NUMBERS.get(value.element) if rng.random() < 0.3 else None
        text = f"#layout.padded<{text}, {number or 'zero'}>"
    return text
