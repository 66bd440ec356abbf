"""What every network can be asked for."""

from dataclasses import dataclass
from typing import Optional, Sequence


class OptionError(ValueError):
    """An option that the network cannot be built with."""


@dataclass
class CommonOptions:
    """batch None is a dynamic batch dimension. `width` scales the channel
    counts, `ragged` then replaces each by the next smaller prime, `channels`
    gives them one by one. `blocks` is the number of blocks of each stage."""

    batch: Optional[int] = 1
    image: int = 224
    in_channels: int = 3
    classes: int = 1000
    bn: str = "folded"
    width: float = 1.0
    ragged: bool = False
    channels: Optional[Sequence[int]] = None
    blocks: Optional[Sequence[int]] = None
    seed: int = 0
    runnable: bool = False

    def __post_init__(self):
        if self.bn not in ("folded", "unfolded"):
            raise OptionError(f"bn must be folded or unfolded, not {self.bn!r}")
        for name in ("image", "in_channels", "classes", "width"):
            if getattr(self, name) <= 0:
                raise OptionError(f"{name} must be positive, not {getattr(self, name)}")
        if self.batch is not None and self.batch <= 0:
            raise OptionError(f"batch must be positive or dynamic, not {self.batch}")
        if self.seed < 0:
            raise OptionError(f"seed must not be negative, not {self.seed}")
        if self.channels is not None and (self.ragged or self.width != 1.0):
            raise OptionError("channels are final: give no width and no ragged with them")

    def pick(self, name, given, default):
        """`given` when there is one, checked to be as long as `default`."""
        if given is None:
            return list(default)
        if len(given) != len(default):
            raise OptionError(f"{name} needs {len(default)} numbers like "
                              f"{','.join(map(str, default))}, not {len(given)}")
        if any(value <= 0 for value in given):
            raise OptionError(f"{name} must be positive numbers")
        return list(given)


def previous_prime(n):
    """The largest prime below n, or 1: a channel count that no block divides."""
    for candidate in range(n - 1, 1, -1):
        if all(candidate % d for d in range(2, int(candidate ** 0.5) + 1)):
            return candidate
    return 1
