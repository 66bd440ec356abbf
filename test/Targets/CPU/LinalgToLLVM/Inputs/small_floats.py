"""usage: small_floats.py make STEM | check STEM NAME WIDE.npy NARROW.npy f32|f64

make   STEM.bits.npy, all 256 bytes; STEM.f32.npy and STEM.f64.npy, numbers to
       round: those of all formats, what is halfway between them and beside it,
       and beyond the largest
check  WIDE has the numbers that the bytes are in the format NAME, NARROW the
       nearest of them to the numbers of STEM.f32.npy or STEM.f64.npy, with an even last digit
       where two are as near

A format is a sign, an exponent and a mantissa, whose numbers are written down
here from their definition.
"""
import sys

import numpy as np

# Bits of the mantissa, bias, the bytes that are NaN, the byte that is infinity.
FORMATS = {"f8E4M3FN": (3, 7, [0x7F, 0xFF], None),
           "f8E5M2": (2, 15, [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF], 0x7C),
           "f8E4M3FNUZ": (3, 8, [0x80], None),
           "f8E5M2FNUZ": (2, 16, [0x80], None)}


def numbers(name):
    """What each of the 256 bytes is."""
    mantissa, bias, nans, infinity = FORMATS[name]
    values = []
    for byte in range(256):
        exponent, fraction = byte % 128 >> mantissa, byte % 2**mantissa
        value = (2.0 ** (exponent - bias) * (1 + fraction / 2**mantissa) if exponent
                 else 2.0 ** (1 - bias) * fraction / 2**mantissa)
        value = np.inf if byte % 128 == infinity else value
        values.append(np.nan if byte in nans else -value if byte >= 128 else value)
    return np.array(values)


def rounded(name, x):
    """The bytes that the nearest number to x has."""
    _, _, nans, infinity = FORMATS[name]
    finite = numbers(name)[:128]
    finite = finite[np.isfinite(finite)]
    # One more, as if the format went on: what is nearest to it is too large.
    finite = np.append(finite, 2 * finite[-1] - finite[-2])
    if np.isnan(x):
        return nans
    distance = np.abs(finite - min(abs(x), finite[-1]))
    nearest = np.flatnonzero(distance == distance.min())
    byte = next((b for b in nearest if b % 2 == 0), nearest[0])
    if byte == len(finite) - 1:
        if infinity is None:
            return nans
        byte = infinity
    negative = np.signbit(x) and not (byte == 0 and 0x80 in nans)
    return [byte + 128 * negative]


def make(stem):
    np.save(f"{stem}.bits.npy", np.arange(256, dtype="u1"))
    exact = np.unique(np.concatenate([numbers(name) for name in FORMATS]))
    exact = exact[np.isfinite(exact)]
    halves = (exact[1:] + exact[:-1]) / 2
    x = np.concatenate([exact, halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf),
                        [-0.0, np.inf, -np.inf, np.nan, 1e6, -1e6, 464, 465, 480, 61440, 65536]])
    np.save(f"{stem}.f64.npy", x)
    np.save(f"{stem}.f32.npy", x.astype("f4"))


def check(stem, name, wide, narrow, source):
    np.testing.assert_array_equal(np.load(wide), numbers(name).astype(np.load(wide).dtype))
    got = np.load(narrow)
    for x, byte in zip(np.load(f"{stem}.{source}.npy").astype("f8"), got):
        expected = rounded(name, x)
        if byte not in expected:
            sys.exit(f"{name}: {x!r} is {byte:#x} and should be one of {expected}")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
