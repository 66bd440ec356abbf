"""Defines the storage of each kind of image: the table of the specification, sections 3.1 and 3.3.

It does not use the library. A kind has the extents of its stored axes (slowest first: x, y, slices, then the lane), and
maps an index to them. Unknown extents are None and stay None.
"""

from dataclasses import dataclass
from typing import Callable

import numpy as np


def c4(extent):
    return None if extent is None else (extent + 3) // 4


@dataclass(frozen=True)
class Kind:
    layout: str
    # Groups of axes, one per coordinate.
    axes: Callable
    # Returns the coordinates of an index in arrays of these groups, the lane last.
    place: Callable
    rank: int = 4
    has_slices: bool = False
    # Returns the shape clipped to what the kind supports.
    fit: Callable = staticmethod(lambda shape: shape)

    def stored_axes(self, shape):
        return [extent for group in self.axes(*shape) for extent in group]

    def store(self, array, padding):
        """Returns the stored array, [x, y, (slice,) lane] of an image, with `padding` at positions without an
        element."""
        size = [int(np.prod(group)) for group in self.axes(*array.shape)]
        stored = np.full(size, padding, array.dtype)
        stored[self.place(np.indices(array.shape), array.shape)] = array
        return stored

    def is_padding(self, shape):
        return self.store(np.zeros(shape, np.int8), 1) == 1


def image(name, axes, place, **more):
    return name, Kind(f"#layout.rgba_image<{name}>", lambda *s: (*axes(*s), (4,)), place, **more)


KINDS = dict([
    image("in_out_channel", lambda n, h, w, c: ((c4(c), w), (n, h)),
          lambda i, s: (i[3] // 4 * s[2] + i[2], i[0] * s[1] + i[1], i[3] % 4)),
    image("in_out_height", lambda n, h, w, c: ((c, w), (n, c4(h))),
          lambda i, s: (i[3] * s[2] + i[2], i[0] * c4(s[1]) + i[1] // 4, i[1] % 4)),
    image("in_out_width", lambda n, h, w, c: ((c, c4(w)), (n, h)),
          lambda i, s: (i[3] * c4(s[2]) + i[2] // 4, i[0] * s[1] + i[1], i[2] % 4)),
    image("conv2d_filter", lambda o, i, h, w: ((i,), (c4(o), h, w)),
          lambda i, s: (i[1], (i[0] // 4 * s[2] + i[2]) * s[3] + i[3], i[0] % 4)),
    image("dw_conv2d_filter", lambda m, i, h, w: ((h, w), (c4(i),)),
          lambda i, s: (i[2] * s[3] + i[3], i[1] // 4, i[1] % 4),
          fit=lambda s: (1, *s[1:])),
    image("weight_height", lambda o, i, h, w: ((h, w, i), (c4(o),)),
          lambda i, s: ((i[2] * s[3] + i[3]) * s[1] + i[1], i[0] // 4, i[0] % 4)),
    image("weight_width", lambda o, i, h, w: ((h, w, c4(i)), (o,)),
          lambda i, s: ((i[2] * s[3] + i[3]) * c4(s[1]) + i[1] // 4, i[0], i[1] % 4)),
    image("argument", lambda w: ((c4(w),), ()), lambda i, s: (i[0] // 4, 0 * i[0], i[0] % 4), rank=1),
    image("texture_2d", lambda n, h, w, c: ((w, n), (h, c4(c))),
          lambda i, s: (i[2] * s[0] + i[0], i[1] * c4(s[3]) + i[3] // 4, i[3] % 4)),
    image("image_array", lambda n, h, w, c: ((w, n), (h,), (c4(c),)),
          lambda i, s: (i[2] * s[0] + i[0], i[1], i[3] // 4, i[3] % 4), has_slices=True),
    image("image_3d", lambda n, h, w, c: ((w, n), (h,), (c4(c),)),
          lambda i, s: (i[2] * s[0] + i[0], i[1], i[3] // 4, i[3] % 4), has_slices=True),
    image("single_pixel", lambda n, h, w, c: ((w,), (n, h)),
          lambda i, s: (i[2], i[0] * s[1] + i[1], i[3]),
          fit=lambda s: (*s[:3], min(s[3], 4))),
])

# Linear memory with permuted axes, and with channels in blocks.
BUFFERS = {
    "buffer_permuted": Kind("#layout.map<(a, b, c, d) -> buffer(c, a, d, b)>",
                            lambda a, b, c, d: ((c,), (a,), (d,), (b,)),
                            lambda i, s: (i[2], i[0], i[3], i[1])),
    "buffer_blocked": Kind('#layout.blocked<"NCHW" to "NCHW3c">',
                           lambda n, c, h, w: ((n,), (None if c is None else -(-c // 3),), (h,), (w,), (3,)),
                           lambda i, s: (i[0], i[1] // 3, i[2], i[3], i[1] % 3)),
}
TYPES = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32}


def can_hold(kind, element):
    """Returns true if the kind supports the element type; PoCL 3.1 does not write integers to images with slices."""
    return element[0] == "f" or not kind.has_slices


def random_array(rng, shape, element):
    if element[0] == "i":
        return rng.integers(-100, 100, shape).astype(TYPES[element])
    return rng.standard_normal(shape).astype(TYPES[element])


def tensor_type(shape, element, kind=None, padding=None):
    """Returns the type as text; `padding` is the stated padding or None."""
    layout = kind.layout if kind else ""
    if padding is not None:
        value = f"{padding}.0" if element[0] == "f" else str(padding)
        layout = f"#layout.padded<{layout}, {value} : {element}>"
    dims = "".join(f"{'?' if extent is None else extent}x" for extent in shape)
    return f"tensor<{dims}{element}{', ' + layout if layout else ''}>"
