"""A network that can be generated: its name, its options, and the function that builds it."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .builder import Builder
from .options import CommonOptions
from .quantized import IntegerBuilder


@dataclass(frozen=True)
class Network:
    """`small` are options for a network that runs within a second, with channel counts that no block size divides."""

    name: str
    summary: str
    Options: type[CommonOptions]
    body: Callable[[Builder, Any], None]
    small: dict[str, Any] = field(default_factory=dict)

    def build(self, options: CommonOptions) -> Builder:
        integers = getattr(options, "element", "f32") == "i8"
        builder = (IntegerBuilder if integers else Builder)(self.name, options)
        self.body(builder, options)
        return builder

    def write(self, path: str | os.PathLike[str], small: bool = False, **given: Any) -> None:
        """Writes the module with these options to a file."""
        options = (self.small_options if small else self.Options)(**given)
        with open(path, "w", encoding="utf-8") as file:
            self.build(options).write(file)

    def small_options(self, **given: Any) -> CommonOptions:
        return self.Options(**{**self.small, **given})
