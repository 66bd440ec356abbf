"""The options of networks. A field of an options class is a command-line option, with its help text and parser in the
metadata."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from .control import STRUCTURES
from .text import Dim


class OptionError(ValueError):
    """Raised for an option with which the network cannot be built."""


def option(default: Any, help: str, parse: Callable[[str], Any] = int,
           choices: Sequence[str] | None = None) -> Any:
    return field(default=default, metadata={"help": help, "parse": parse, "choices": choices})


def again(owner: type, name: str, default: Any) -> Any:
    """Returns the option of a base class with another default."""
    return field(default=default, metadata=owner.__dataclass_fields__[name].metadata)


def dynamic_or_int(text: str) -> int | None:
    return None if text in ("?", "dynamic") else int(text)


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def extents(text: str) -> int | tuple[int, int]:
    parts = [int(part) for part in text.split("x")]
    if len(parts) > 2:
        raise ValueError(text)
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])


@dataclass
class CommonOptions:
    """Options of all networks. None is a dynamic extent."""

    batch: int | None = option(1, "a number, or '?' for dynamic", dynamic_or_int)
    seed: int = option(0, "of the weights and the inputs")
    weights: str = option("random", "what weights are: random constants, constants that are one "
                          "number each, or arguments of @main after the inputs", str,
                          ("random", "splat", "arguments"))
    runnable: bool = option(False, "add to @main what layout-run needs after the lowering of another project (C "
                                   "interface and layout.signature)", bool)

    def __post_init__(self) -> None:
        if self.batch is not None and self.batch <= 0:
            raise OptionError(f"batch must be positive or dynamic, not {self.batch}")
        if self.seed < 0:
            raise OptionError(f"seed must not be negative, not {self.seed}")
        for each in fields(self):
            choices = each.metadata["choices"]
            value = getattr(self, each.name)
            if choices and value not in choices:
                raise OptionError(f"{each.name} must be one of {', '.join(choices)}, not {value!r}")

    def require_positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if any(part <= 0 for part in (value if isinstance(value, tuple) else (value,))):
                raise OptionError(f"{name} must be positive, not {value}")

    def require_heads(self, heads: int, width: int) -> None:
        if width % heads:
            raise OptionError(f"{heads} heads do not divide a width of {width}")

    def require_sequence(self, sequence: int | None, longest: int) -> None:
        if sequence is not None and not 0 < sequence <= longest:
            raise OptionError(f"sequence must be from 1 to {longest} or dynamic, not {sequence}")

    def pick(self, name: str, given: Sequence[int] | None, default: Sequence[int]) -> list[int]:
        """Returns `given`, which must be as long as `default`, or `default` if it is None."""
        if given is None:
            return list(default)
        if len(given) != len(default):
            raise OptionError(f"{name} needs {len(default)} numbers like "
                              f"{','.join(map(str, default))}, not {len(given)}")
        if any(value <= 0 for value in given):
            raise OptionError(f"{name} must be positive numbers")
        return list(given)


@dataclass
class PixelOptions(CommonOptions):
    image: int | tuple[int, int] = option(224, "height and width of the input: 224, or 256x192",
                                          extents)
    in_channels: int = option(3, "channels of the input")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("image", "in_channels")

    @property
    def size(self) -> tuple[int, int]:
        return self.image if isinstance(self.image, tuple) else (self.image, self.image)


@dataclass
class ImageOptions(PixelOptions):
    classes: int = option(1000, "how many numbers are computed for an image or a place in it")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("classes")


@dataclass
class ScaledOptions(ImageOptions):
    """`width` scales channel counts; `prime_channels` then replaces each by the next smaller prime."""

    width: float = option(1.0, "factor on channel counts", float)
    prime_channels: bool = option(False, "channel counts become the next smaller primes", bool)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("width")

    def scaled(self, count: int) -> int:
        count = max(1, round(count * self.width))
        return previous_prime(count) if self.prime_channels else count

    def scaled_to_8(self, count: int) -> int:
        """Rounds to the nearest multiple of 8, but not below 90 %."""
        wanted = count * self.width
        rounded = max(8, int(wanted + 4) // 8 * 8)
        rounded = rounded + 8 if rounded < 0.9 * wanted else rounded
        return previous_prime(rounded) if self.prime_channels else rounded


@dataclass
class NormedOptions(ScaledOptions):
    bn: str = option("folded", "batch norm inside the convolutions or as operations", str,
                     ("folded", "unfolded"))


@dataclass
class ElementOptions(NormedOptions):
    element: str = option("f32", "f32, or i8 for inference in integers: i8 activations and "
                          "weights, i32 sums, i32 logits", str, ("f32", "i8"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.element == "i8" and self.bn != "folded":
            raise OptionError("element i8 has the batch norm in its multipliers: give no bn "
                              "unfolded with it")


@dataclass
class BlockOptions(CommonOptions):
    blocks: list[int] | None = option(None, "blocks of each stage, e.g. 1,1,1,1", numbers)


@dataclass
class ChannelOptions(CommonOptions):
    channels: list[int] | None = option(
        None, "channel counts, one by one, where --width does not say it", numbers)


@dataclass
class TokenOptions(CommonOptions):
    sequence: int | None = option(128, "how long a sequence is: a number, or '?' for dynamic",
                                  dynamic_or_int)
    vocabulary: int = option(30522, "how many tokens there are")
    positions: int = option(512, "the longest sequence")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("vocabulary", "positions")
        self.require_sequence(self.sequence, self.positions)

    @property
    def places(self) -> Dim:
        return "%sequence" if self.sequence is None else self.sequence


@dataclass
class EncoderOptions(CommonOptions):
    layers: int = option(12, "how many layers")
    hidden: int = option(768, "width of the hidden states")
    heads: int = option(12, "attention heads")
    intermediate: int = option(3072, "width inside of a layer's last part")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_positive("layers", "hidden", "heads", "intermediate")
        self.require_heads(self.heads, self.hidden)


@dataclass
class StructureOptions(CommonOptions):
    structure: str = option("flat", "blocks that repeat: one after another, as calls of private "
                            "functions, or as loops over stacked weights", str, STRUCTURES)


def previous_prime(n: int) -> int:
    """Returns the largest prime below n, or 1: a channel count that no block size divides."""
    for candidate in range(n - 1, 1, -1):
        if all(candidate % d for d in range(2, int(candidate ** 0.5) + 1)):
            return candidate
    return 1
