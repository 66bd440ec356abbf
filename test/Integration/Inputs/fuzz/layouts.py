# Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts for intermediate values of programs."""

import random_layouts

LETTERS = "abcdef"
NUMBERS = {"f32": "1.0 : f32", "f16": "-1.0 : f16", "i32": "2 : i32", "i8": "-1 : i8", "i64": "3 : i64"}


# Kinds of #layout.rgba_image and the letters of their dims, which may be stated in any order.
IMAGES = {"in_out_channel": "NHWC", "in_out_height": "NHWC", "in_out_width": "NHWC", "texture_2d": "NHWC",
          "image_array": "NHWC", "image_3d": "NHWC", "conv2d_filter": "OIHW", "dw_conv2d_filter": "MIHW",
          "weight_height": "OIHW", "weight_width": "OIHW", "argument": "W"}
CHANNELS = ("f32", "f16", "i32", "i16", "i8")  # element types of pixels
FLAT = ("i32", "i16", "i8")  # element types of 2-D images only: not every device supports integers in others


def tiled(rng, value):
    """Returns a layout with permuted dims, tiles and alignment, which images and execution units support, too."""
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
    """Returns a layout of linear memory that is valid for the value, from the whole grammar; for dynamic sizes, a
    layout of all sizes. It may state the padding."""
    if rng.random() < 0.4:
        text = tiled(rng, value)
    else:
        kinds = random_layouts.FAMILIES if any(value.dynamic) else random_layouts.KINDS
        text = random_layouts.random_layout(rng, value.shape, value.dynamic, kinds=kinds).text
    if rng.random() < 0.3 and value.element != "complex<f32>":
        number = NUMBERS.get(value.element) if rng.random() < 0.3 else None
        text = f"#layout.padded<{text}, {number or 'zero'}>"
    return text


def image_map(rng, value):
    """Returns an image layout with four elements of one dim per pixel, and the other digits in any coordinates."""
    letters = LETTERS[:value.rank]
    dim = rng.choice(letters)
    outer = [f"{dim} floordiv 4" if letter == dim else letter for letter in letters]
    rng.shuffle(outer)
    spaces = [("image2d", "xy"), ("image2d", "xy"), ("image2d_array", ["x", "y", "slice"]), ("image3d", "xyz")]
    space, sides = rng.choice(spaces[:2] if value.element in FLAT else spaces)
    digits = {side: [] for side in sides}
    for digit in outer:
        digits[rng.choice(sides)].append(digit)
    text = ", ".join(f"{side} = {'[' + ', '.join(own) + ']' if own else 0}" for side, own in digits.items())
    return f"#layout.map<({', '.join(letters)}) -> {space}({text}, lane = {dim} mod 4)>"


def has_three_coordinates(layout):
    return any(word in layout for word in ("image_array", "image_3d", "image2d_array", "image3d"))


def random_device_layout(rng, value):
    """Returns a random layout, which may be an image if its elements can be pixels."""
    if value.element not in CHANNELS or not value.rank or rng.random() < 0.4:
        return random_layout(rng, value)
    kinds = [kind for kind, letters in IMAGES.items() if len(letters) == value.rank and
             not (value.element in FLAT and has_three_coordinates(kind))]
    if not kinds or rng.random() < 0.3:
        return image_map(rng, value)
    kind = rng.choice(kinds)
    order = "".join(rng.sample(IMAGES[kind], value.rank))
    if "M" in order and (value.shape[order.index("M")] != 1 or value.dynamic[order.index("M")]):
        kind, order = "in_out_channel", order.replace("M", "N").replace("I", "C")
    return f'#layout.rgba_image<{kind}, "{order}">'
