"""Operators on strings, which are rejected, and n-grams of numeric tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from layout_mlir.onnx_import.builder import Builder
from layout_mlir.onnx_import.elements import F32, I64
from layout_mlir.onnx_import.node import Node, operator
from layout_mlir.onnx_import.values import Tensor

if TYPE_CHECKING:
    from layout_mlir.loops import Tensor as LoopTensor
    from layout_mlir.loops import integer, size


@operator("StringConcat", "StringSplit", "StringNormalizer", "RegexFullMatch")
def on_strings(b: Builder, node: Node, *inputs: Tensor) -> NoReturn:
    node.refuse("its elements are strings, which are not numbers: do this before the model")


def count_grams(x: LoopTensor, grams: LoopTensor, lengths: LoopTensor, places: LoopTensor, counts: LoopTensor,
                most_skipped: int) -> LoopTensor:
    """Counts the occurrences of each n-gram in a row, with up to `most_skipped` tokens between consecutive tokens."""
    for row in range(size(x, 0)):
        for gram in range(size(grams, 0)):
            length = lengths[gram]
            for step in range(1, (2 + most_skipped if length > 1 else 2)):
                for start in range(max(size(x, 1) - (length - 1) * step, 0)):
                    same = True
                    for k in range(length):
                        same = same and x[row, start + k * step] == grams[gram, k]
                    counts[row, places[gram]] = counts[row, places[gram]] + integer(same)
    return counts


@operator("TfIdfVectorizer")
def tf_idf(b: Builder, node: Node, x: Tensor) -> Tensor:
    pool, starts = node.attribute("pool_int64s", []), node.attribute("ngram_counts")
    if not pool or not x.element.is_integer:
        node.refuse("its tokens are strings, which are not numbers: number them before the model")
    indexes, grams = node.attribute("ngram_indexes"), []
    for number, (first, last) in enumerate(zip(starts, [*starts[1:], len(pool)])):
        grams += [pool[at:at + number + 1] for at in range(first, last, number + 1)]
    if len(grams) != len(indexes):
        node.refuse(f"its pool has {len(grams)} n-grams, but {len(indexes)} indexes")
    least, most = node.attribute("min_gram_length"), node.attribute("max_gram_length")
    kept = [(gram, index) for gram, index in zip(grams, indexes) if least <= len(gram) <= most]
    count = max(indexes) + 1
    rows = x if x.rank == 2 else b.reshape(x, [1, x.count])
    table = np.zeros((len(kept), most), np.int64)
    for number, (gram, _) in enumerate(kept):
        table[number, :len(gram)] = gram
    counts, = b.loops(count_grams, b.cast(rows, I64), b.constant(table), b.constant(np.array([len(g) for g, _ in kept])),
                      b.constant(np.array([index for _, index in kept])), b.fill([rows.shape[0], count], I64, 0),
                      most_skipped=node.attribute("max_skip_count"))
    return _weigh(b, node, b.reshape(counts, [*x.shape[:-1], count] if x.rank == 2 else [count]), indexes)


def _weigh(b: Builder, node: Node, counts: Tensor, indexes: list[int]) -> Tensor:
    """Returns the counts as floats: unchanged, replaced by weights if they are nonzero, or multiplied by weights."""
    mode, given = node.attribute("mode"), node.attribute("weights", [])
    weights = np.ones(max(indexes) + 1, np.float32)
    for index, weight in zip(indexes, given):
        weights[index] = weight
    if mode == "IDF":
        return b.elementwise(lambda s, c, w: s.select(s.greater(c, 0), w, s.constant(0, F32)), counts,
                             b.constant(weights), element=F32)
    real = b.cast(counts, F32)
    return real if mode == "TF" else b.elementwise(lambda s, c, w: s.mul(c, w), real, b.constant(weights))
