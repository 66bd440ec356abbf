"""usage: small_floats.py make STEM | check STEM NAME WIDE.npy NARROW.npy f32|f64 | check-halves STEM F16.npy BF16.npy

make          writes STEM.bits.npy, all 256 bytes; STEM.bits6.npy and STEM.bits4.npy, all 6-bit and 4-bit numbers; and
              STEM.f32.npy and STEM.f64.npy, numbers to round: those of all formats, their midpoints, the neighbors of
              these, and too large ones
check         checks that WIDE has the numbers of the bytes in the format NAME, and NARROW the nearest of them to the
              numbers of STEM.f32.npy or STEM.f64.npy, ties to even
check-halves  checks that F16 and BF16 are the numbers of STEM.f64.npy rounded once, by the same rule

A format has a sign, an exponent and a mantissa; its numbers are computed here from their definition.
"""
import sys

import numpy as np

# Bits, mantissa bits, bias, the bytes that are NaN, the byte that is infinity.
FORMATS = {"f8E4M3FN": (8, 3, 7, [0x7F, 0xFF], None),
           "f8E5M2": (8, 2, 15, [0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF], 0x7C),
           "f8E4M3": (8, 3, 7, [*range(0x79, 0x80), *range(0xF9, 0x100)], 0x78),
           "f8E3M4": (8, 4, 3, [*range(0x71, 0x80), *range(0xF1, 0x100)], 0x70),
           "f8E4M3FNUZ": (8, 3, 8, [0x80], None),
           "f8E5M2FNUZ": (8, 2, 16, [0x80], None),
           "f6E2M3FN": (6, 3, 1, [], None),
           "f6E3M2FN": (6, 2, 3, [], None),
           "f4E2M1FN": (4, 1, 1, [], None)}


def numbers(name):
    """Returns the number of each bit pattern."""
    if name == "f8E8M0FNU":  # only an exponent
        return np.append(2.0 ** np.arange(-127, 128), np.nan)
    bits, mantissa, bias, nans, infinity = FORMATS[name]
    sign, values = 2 ** (bits - 1), []
    for byte in range(2 * sign):
        exponent, fraction = byte % sign >> mantissa, byte % 2**mantissa
        value = (2.0 ** (exponent - bias) * (1 + fraction / 2**mantissa) if exponent
                 else 2.0 ** (1 - bias) * fraction / 2**mantissa)
        value = np.inf if byte % sign == infinity else value
        values.append(np.nan if byte in nans else -value if byte >= sign else value)
    return np.array(values)


def rounded(name, x):
    """Returns the bytes that the nearest number to x may have."""
    if name == "f8E8M0FNU":
        if np.isnan(x) or x < 0 or x >= 1.5 * 2.0**127:
            return [0xFF]
        near = np.abs(numbers(name)[:-1] - x)
        return [np.flatnonzero(near == near.min())[-1]]  # ties go up
    bits, _, _, nans, infinity = FORMATS[name]
    sign = 2 ** (bits - 1)
    finite = numbers(name)[:sign]
    finite = finite[np.isfinite(finite)]
    # One more number, as if the format continued: values nearest to it are too large.
    finite = np.append(finite, 2 * finite[-1] - finite[-2])
    if np.isnan(x):
        return nans or [0, sign]
    distance = np.abs(finite - min(abs(x), finite[-1]))
    nearest = np.flatnonzero(distance == distance.min())
    byte = next((b for b in nearest if b % 2 == 0), nearest[0])
    if byte == len(finite) - 1:
        if infinity is None and nans:
            return nans
        byte = byte - 1 if infinity is None else infinity
    negative = np.signbit(x) and not (byte == 0 and sign in nans)
    return [byte + sign * negative]


def make(stem):
    for bits, name in ((8, "bits"), (6, "bits6"), (4, "bits4")):
        np.save(f"{stem}.{name}.npy", np.arange(2**bits, dtype="u1"))
    exact = np.unique(np.concatenate([numbers(name) for name in FORMATS]))
    exact = exact[np.isfinite(exact)]
    halves = (exact[1:] + exact[:-1]) / 2
    x = np.concatenate([exact, halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf),
                        [-0.0, np.inf, -np.inf, np.nan, 1e6, -1e6, 464, 465, 480, 61440, 65536],
                        2.0 ** np.arange(-130, 128), 1.5 * 2.0 ** np.arange(-130, 128), 1.25 * 2.0 ** np.arange(-130, 128)])
    np.save(f"{stem}.f64.npy", x)
    np.save(f"{stem}.f32.npy", x.astype("f4"))


def check(stem, name, wide, narrow, source):
    np.testing.assert_array_equal(np.load(wide), numbers(name).astype(np.load(wide).dtype))
    got = np.load(narrow)
    for x, byte in zip(np.load(f"{stem}.{source}.npy").astype("f8"), got):
        expected = rounded(name, x)
        if byte not in expected:
            sys.exit(f"{name}: {x!r} is {byte:#x} and should be one of {expected}")


def check_halves(stem, f16, bf16):
    x = np.load(f"{stem}.f64.npy")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.load(f16), x.astype("f2"))
    for x, bits in zip(x, np.load(bf16)):
        # bf16 is the upper half of f32: the neighbors of x are the number of these bits and an adjacent one.
        got = (np.uint32(bits) << 16).view("f4").astype("f8")
        beside = ((np.array([bits - 1, bits + 1], "u4")) << 16).view("f4").astype("f8")
        if np.isfinite(x) and np.isfinite(got) and abs(got - x) > np.nanmin(abs(beside - x)):
            sys.exit(f"bf16: {x!r} is {got!r}, not the nearest of {beside}")


if __name__ == "__main__":
    {"make": make, "check": check, "check-halves": check_halves}[sys.argv[1]](*sys.argv[2:])
