"""Generates tokens: compiles the network of a GGUF file for prompts and for one token, and keeps its caches."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from layout_mlir.gguf_import.file import File
from layout_mlir.gguf_import.network import list_weights, lower_file
from layout_mlir.gguf_import.parameters import read_parameters
from layout_mlir.onnx_import.errors import ImportFailed

if TYPE_CHECKING:
    from layout_mlir import Program

# Long prompts are read in parts, which bounds the memory of the scores; programs for a static number of tokens are faster.
_PART = 128


class Generator:
    """The network of a GGUF file with the keys and values of the tokens that it has read.

    The programs read the weights in the mapped file. `target` and `threads` are those of layout_mlir.compile.
    """

    def __init__(self, path: str | os.PathLike[str], target: str | None = None, threads: int | None = None) -> None:
        self.file = File(path)
        self.parameters = read_parameters(self.file)
        self.arrays = [weight.data for weight in list_weights(self.file)]
        self.position = 0
        self.target, self.threads = target, threads
        self._programs: dict[int | None, Program] = {}
        self.caches = [np.empty((0, self.parameters.groups, size), np.float32) for _ in range(self.parameters.layers)
                       for size in (self.parameters.key, self.parameters.value)]

    def compile(self, tokens: int | None) -> Program:
        """Returns the program that reads `tokens` tokens at once, or any number if it is None; compiles it once."""
        from layout_mlir import compile

        if tokens not in self._programs:
            self._programs[tokens] = compile(lower_file(self.file, tokens), self.target, threads=self.threads)
        return self._programs[tokens]

    def reset(self) -> None:
        """Forgets all tokens."""
        self.position = 0

    def check(self, tokens: Sequence[int], new: int = 0) -> NDArray[np.int64]:
        """Returns tokens as an array. Raises ImportFailed if one is not in the vocabulary, or if the context has no room
        for them and `new` more."""
        for token in tokens:
            if not isinstance(token, (int, np.integer)) or not 0 <= token < self.parameters.vocabulary:
                raise ImportFailed(f"token {token} is not in the vocabulary: tokens are integers below "
                                   f"{self.parameters.vocabulary}")
        if not len(tokens):
            raise ImportFailed("there are no tokens to read")
        if self.position + len(tokens) + new > self.parameters.context:
            raise ImportFailed(f"the context of {self.parameters.context} tokens is full: {self.position} are read, and "
                               f"{len(tokens) + new} more are too many")
        return np.array(tokens, np.int64)

    def read(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        """Reads tokens after those read before; returns the logits of the next token. Raises ImportFailed as `check` does,
        and then reads nothing."""
        ids = self.check(tokens)
        whole = len(ids) // _PART * _PART
        for part in (*ids[:whole].reshape(-1, _PART), ids[whole:]):
            if part.size:
                logits = self._read_part(part)
        return logits

    def _read_part(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        program = self.compile(len(ids) if len(ids) in (1, _PART) else None)
        logits: NDArray[np.float32]
        logits, *new = program(ids, *(cache[:self.position] for cache in self.caches), *self.arrays)
        end = self.position + len(ids)
        self._reserve(end)
        for cache, rows in zip(self.caches, new, strict=True):
            cache[self.position:end] = rows
        self.position = end
        return logits

    def _reserve(self, rows: int) -> None:
        """Makes room for `rows` rows in all caches."""
        if rows <= len(self.caches[0]):
            return
        size = min(max(rows, 2 * len(self.caches[0])), self.parameters.context)
        for number, cache in enumerate(self.caches):
            self.caches[number] = np.empty((size, *cache.shape[1:]), cache.dtype)
            self.caches[number][:self.position] = cache[:self.position]

    def generate(self, tokens: Sequence[int], count: int) -> list[int]:
        """Reads tokens and returns `count` tokens after them, each the most likely one, the first of equal ones."""
        self.check(tokens, max(count - 1, 0))
        made: list[int] = []
        for _ in range(count):
            made.append(int(np.argmax(self.read(tokens if not made else made[-1:]))))
        return made
