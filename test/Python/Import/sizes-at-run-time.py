# REQUIRES: onnx, python-extension
# RUN: %python %s %t
"""Checks that programs with dynamic sizes end with an error where sizes do not fit each other, where data state a size or
an axis that no tensor has, and where an integer is divided by 0: none accesses memory outside of a tensor. Each program
also runs on sizes that fit, and has the results of ONNX Runtime."""

import sys
import unittest
import warnings

import numpy as np
import onnxruntime
from onnx import parser

import layout_mlir
from layout_mlir.isolated import isolated

HEAD = '<ir_version: 10, opset_import: ["" : %d, "ai.onnx.ml": 3, "com.microsoft": 1]>\n'
RNG = np.random.default_rng(0)
Z = np.zeros


def f(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def i(*values):
    return np.array(values, np.int64)


def s(value):
    return np.array(value, np.int64)


def bytes_(*shape):
    return RNG.integers(0, 255, shape).astype(np.uint8)


# The graph; inputs that fit; and inputs that do not, each with a part of the error.
CASES = {
    "Conv": ("(float[N,C,H,W] x, float[8,3,3,3] w) => (float[n,8,h,v] y) { y = Conv (x, w) }", [f(1, 3, 8, 8), f(8, 3, 3, 3)], [
        ([f(1, 1, 8, 8), f(8, 3, 3, 3)], "channels"), ([f(1, 4, 8, 8), f(8, 3, 3, 3)], "channels"),
        ([f(1, 3, 2, 8), f(8, 3, 3, 3)], "window")]),
    # An access outside of an input of 4 bytes as if it had 16 MB ends the process.
    "size asserted after use": (
        "(float[N,1] x) => (float[4000000,c] y) { n = Constant <value = int64[2] {4000000,1}> () z = ConstantOfShape (n) "
        "a = Softmax <axis = 0> (x) y = Concat <axis = 1> (a, z) }", [f(4000000, 1)], [([f(1, 1)], "differ in a size"), ([f(0, 1)], "differ in a size")]),
    "Conv bias": ("(float[N,C,H,W] x, float[A,B,K,L] w, float[D] b) => (float[n,c,h,v] y) { y = Conv (x, w, b) }",
                  [f(2, 3, 5, 4), f(5, 3, 3, 2), f(5)], [([f(2, 3, 5, 4), f(5, 3, 3, 2), f(4)], "bias"),
                                                       ([f(2, 2, 5, 4), f(5, 3, 3, 2), f(5)], "channels")]),
    "Conv groups": ("(float[N,C,L] x, float[4,2,3] w) => (float[n,c,l] y) { y = Conv <group = 2> (x, w) }",
                    [f(1, 4, 5), f(4, 2, 3)], [([f(1, 3, 5), f(4, 2, 3)], "channels"), ([f(1, 5, 5), f(4, 2, 3)], "channels")]),
    "Conv depthwise": ("(float[N,C,L] x, float[3,1,3] w) => (float[n,c,l] y) { y = Conv <group = 3> (x, w) }",
                       [f(1, 3, 5), f(3, 1, 3)], [([f(1, 2, 5), f(3, 1, 3)], "channels")]),
    "ConvTranspose": ("(float[N,C,H,W] x, float[D,4,3,3] w) => (float[n,c,h,v] y) { y = ConvTranspose (x, w) }",
                      [f(1, 3, 4, 5), f(3, 4, 3, 3)], [([f(1, 4, 4, 5), f(3, 4, 3, 3)], "channels")]),
    "ConvInteger": ("(uint8[N,C,H,W] x, uint8[4,3,3,3] w) => (int32[a,b,c,d] y) { y = ConvInteger (x, w) }",
                    [bytes_(1, 3, 5, 5), bytes_(4, 3, 3, 3)], [([bytes_(1, 2, 5, 5), bytes_(4, 3, 3, 3)], "channels")]),
    "MatMulInteger": ("(uint8[B,C] x, uint8[D,E] w) => (int32[a,b] y) { y = MatMulInteger (x, w) }",
                      [bytes_(2, 3), bytes_(3, 4)], [([bytes_(2, 2), bytes_(3, 4)], "size")]),
    "DeformConv": ("(float[N,C,H,W] x, float[4,2,3,3] w, float[M,O,K,L] o) => (float[n,c,h,v] y) "
                   "{ y = DeformConv <kernel_shape = [3,3]> (x, w, o) }",
                   [f(1, 2, 5, 5), f(4, 2, 3, 3), f(1, 18, 3, 3)], [
                       ([f(1, 2, 5, 5), f(4, 2, 3, 3), f(1, 18, 2, 3)], "offsets"),
                       ([f(1, 2, 5, 5), f(4, 2, 3, 3), f(1, 9, 3, 3)], "offsets"),
                       ([f(1, 3, 5, 5), f(4, 2, 3, 3), f(1, 18, 3, 3)], "channels")]),
    "MaxPool": ("(float[N,C,H,W] x) => (float[n,c,h,v] y) { y = MaxPool <kernel_shape = [3,3]> (x) }", [f(1, 3, 8, 5)], [
        ([f(1, 3, 1, 8)], "window"), ([f(1, 3, 0, 8)], "window")]),
    "MaxPool ceil": ("(float[B,C,L] x) => (float[a,b,c] y) { y = MaxPool <kernel_shape = [5], strides = [2], ceil_mode = 1> (x) }",
                     [f(1, 3, 4)], [([f(1, 3, 1)], "window")]),
    "AveragePool": ("(float[N,C,H] x) => (float[n,c,h] y) { y = AveragePool <kernel_shape = [3], strides = [2]> (x) }",
                    [f(1, 3, 8)], [([f(1, 3, 0)], "window")]),
    "LSTM": ("(float[T,B,4] x, float[1,20,4] w, float[1,20,5] r, float[1,M,5] h, float[1,K,5] c) => (float[t,1,b,5] y) "
             "{ y = LSTM <hidden_size = 5> (x, w, r, , , h, c) }",
             [f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), f(1, 2, 5), f(1, 2, 5)], [
                 ([f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), f(1, 1, 5), f(1, 2, 5)], "initial state"),
                 ([f(3, 2, 4), f(1, 20, 4), f(1, 20, 5), f(1, 2, 5), f(1, 3, 5)], "initial state")]),
    "GRU": ("(float[T,B,4] x, float[1,15,4] w, float[1,15,5] r, int32[L] l) => (float[t,1,b,5] y) "
            "{ y = GRU <hidden_size = 5> (x, w, r, , l) }",
            [f(3, 2, 4), f(1, 15, 4), f(1, 15, 5), np.array([1, 3], np.int32)], [
                ([f(3, 2, 4), f(1, 15, 4), f(1, 15, 5), np.array([1], np.int32)], "sequence length")]),
    "RNN": ("(float[T,B,I] x, float[1,5,J] w, float[1,5,5] r) => (float[t,1,b,5] y) { y = RNN <hidden_size = 5> (x, w, r) }",
            [f(3, 2, 4), f(1, 5, 4), f(1, 5, 5)], [([f(3, 2, 4), f(1, 5, 3), f(1, 5, 5)], "size")]),
    "InstanceNormalization": ("(float[N,C,H] x, float[D] s, float[E] b) => (float[n,c,h] y) { y = InstanceNormalization (x, s, b) }",
                              [f(1, 3, 8), f(3), f(3)], [([f(1, 4, 8), f(3), f(3)], "size"), ([f(1, 4, 8), f(4), f(3)], "size")]),
    "LayerNormalization": ("(float[N,C] x, float[D] s, float[E] b) => (float[n,c] y) { y = LayerNormalization (x, s, b) }",
                           [f(2, 3), f(3), f(3)], [([f(2, 4), f(3), f(3)], "size"), ([f(2, 4), f(4), f(2)], "size")]),
    "BatchNormalization": ("(float[N,C,H] x, float[D] s, float[E] b, float[F] m, float[G] v) => (float[n,c,h] y) "
                           "{ y = BatchNormalization (x, s, b, m, v) }", [f(1, 3, 8), f(3), f(3), f(3), abs(f(3))], [
                               ([f(1, 4, 8), f(3), f(3), f(3), abs(f(3))], "size"), ([f(1, 3, 8), f(3), f(3), f(3), abs(f(2))], "size")]),
    "MatMul": ("(float[N,K] x, float[L,M] w) => (float[n,m] y) { y = MatMul (x, w) }", [f(2, 3), f(3, 4)], [
        ([f(2, 4), f(3, 4)], "size"), ([f(2, 2), f(3, 4)], "size")]),
    "MatMul batch": ("(float[B,S,D] x, float[C,E,T] w) => (float[b,s,t] y) { y = MatMul (x, w) }", [f(2, 3, 4), f(2, 4, 5)], [
        ([f(2, 3, 4), f(3, 4, 5)], "size"), ([f(2, 3, 4), f(1, 3, 5)], "size")]),
    "Gemm": ("(float[N,K] x, float[L,M] w, float[P] c) => (float[n,m] y) { y = Gemm (x, w, c) }", [f(2, 3), f(3, 4), f(4)], [
        ([f(2, 3), f(3, 4), f(3)], "size"), ([f(2, 4), f(3, 4), f(4)], "size")]),
    "Einsum": ('(float[A,B] x, float[C,D] w) => (float[p,q] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }',
               [f(2, 3), f(3, 4)], [([f(2, 3), f(2, 4)], "size")]),
    "Concat": ("(float[N,K] x, float[L,M] w) => (float[p,q] y) { y = Concat <axis = 0> (x, w) }", [f(2, 3), f(3, 3)], [
        ([f(2, 4), f(3, 3)], "concatenation")]),
    "Where": ("(bool[N,K] c, float[L,M] w, float[P,Q] v) => (float[p,q] y) { y = Where (c, w, v) }",
              [f(2, 3) > 0, f(2, 3), f(2, 3)], [([f(2, 3) > 0, f(2, 3), f(2, 4)], "broadcast")]),
    "BiasGelu": ("(float[T,B] x, float[C] w) => (float[t,b] y) { y = com.microsoft.BiasGelu (x, w) }", [f(3, 2), f(2)], [
        ([f(3, 2), f(3)], "broadcast")]),
    "FusedMatMul": ("(float[T,B] x, float[C,D] w) => (float[t,b] y) { y = com.microsoft.FusedMatMul <transB = 1> (x, w) }",
                    [f(3, 2), f(4, 2)], [([f(3, 2), f(4, 3)], "size")]),
    "GatherElements": ("(float[A,B] x, int64[C,D] i) => (float[c,d] y) { y = GatherElements <axis = 0> (x, i) }",
                       [f(4, 2), s([[1, 2]])], [([f(4, 2), Z((2, 3), np.int64)], "elements"), ([f(4, 1), Z((2, 2), np.int64)], "elements")]),
    "GatherND": ("(float[A,B,C] x, int64[D,E,1] i) => (float[p,q,r] y) { y = GatherND <batch_dims = 1> (x, i) }",
                 [f(2, 3, 4), Z((2, 5, 1), np.int64)], [([f(2, 3, 4), Z((3, 5, 1), np.int64)], "batch"),
                                                       ([f(3, 3, 4), Z((1, 5, 1), np.int64)], "batch")]),
    "ScatterElements": ("(float[A,B] x, int64[C,D] i, float[E,F] u) => (float[c,d] y) { y = ScatterElements <axis = 0> (x, i, u) }",
                        [f(4, 2), s([[1, 2]]), f(1, 2)], [([f(4, 2), s([[1, 2], [1, 2]]), f(1, 2)], "updates"),
                                                         ([f(4, 2), s([[1, 2]]), f(1, 1)], "updates"),
                                                         ([f(4, 1), s([[1, 2]]), f(1, 2)], "dim 1")]),
    "ScatterND": ("(float[A,B] x, int64[C,1] i, float[E,F] u) => (float[c,d] y) { y = ScatterND (x, i, u) }",
                  [f(4, 2), s([[1], [2]]), f(2, 2)], [([f(4, 2), s([[1], [2]]), f(1, 2)], "elements"),
                                                     ([f(4, 2), s([[1], [2]]), f(2, 1)], "updates")]),
    "RoiAlign": ("(float[N,C,H,W] x, float[R,4] r, int64[S] b) => (float[p,q,s,t] y) "
                 "{ y = RoiAlign <output_height = 2, output_width = 2> (x, r, b) }",
                 [f(1, 2, 8, 8), np.array([[0, 0, 4, 4], [1, 2, 7, 5]], np.float32), i(0, 0)], [
                     ([f(1, 2, 8, 8), np.array([[0, 0, 4, 4], [1, 2, 7, 5]], np.float32), i(0)], "batch index"),
                     ([f(1, 2, 8, 8), np.array([[0, 0, 4, 4], [1, 2, 7, 5]], np.float32), i(0, 5)], "out of range")]),
    "NonMaxSuppression": ("(float[N,B,4] x, float[M,C,D] s) => (int64[p,3] y) { k = Constant <value = int64[1] {3}> () "
                          "y = NonMaxSuppression (x, s, k) }", [abs(f(1, 5, 4)), f(1, 2, 5)], [
                              ([f(1, 5, 4), f(1, 2, 7)], "number of boxes"), ([f(1, 5, 4), f(2, 2, 5)], "batches")]),
    "GridSample": ("(float[N,C,H,W] x, float[M,K,L,2] r) => (float[p,q,s,t] y) { y = GridSample (x, r) }",
                   [f(1, 2, 8, 8), f(1, 3, 3, 2)], [([f(1, 2, 8, 8), f(2, 3, 3, 2)], "batches"), ([f(1, 2, 0, 8), f(1, 3, 3, 2)], "dim 2")]),
    "MaxUnpool": ("(float[N,C,H] x, int64[M,D,K] r) => (float[p,q,s] y) { y = MaxUnpool <kernel_shape = [2], strides = [2]> (x, r) }",
                  [f(1, 1, 3), s([[[0, 2, 4]]])], [([f(1, 1, 3), s([[[0, 2]]])], "indices")]),
    "OneHot": ("(int64[A] x, int64 d, float[V] v) => (float[p,q] y) { y = OneHot (x, d, v) }", [i(1, 2), s(4), f(2)], [
        ([i(1, 2), s(4), f(1)], "two elements"), ([i(1, 20), s(-4), f(2)], "negative")]),
    "Det": ("(float[A,B] x) => (float y) { y = Det (x) }", [f(3, 3)], [([f(4, 3)], "square"), ([f(3, 4)], "square")]),
    "Tile": ("(float[N,C] x, int64[2] r) => (float[n,c] y) { y = Tile (x, r) }", [f(2, 3), i(2, 1)], [([f(2, 3), i(-2, 1)], "negative")]),
    "Expand": ("(float[N,C] x, int64[2] r) => (float[n,c] y) { y = Expand (x, r) }", [f(1, 3), i(2, 1)], [
        ([f(2, 3), i(3, 3)], "broadcast"), ([f(2, 3), i(-1, 3)], "broadcast")]),
    "Slice axes": ("(float[N,C] x, int64[1] s, int64[1] e, int64[1] a, int64[1] t) => (float[n,c] y) { y = Slice (x, s, e, a, t) }",
                   [f(4, 3), i(1), i(3), i(0), i(1)], [([f(4, 3), i(1), i(3), i(5), i(1)], "axis"), ([f(4, 3), i(1), i(3), i(0), i(0)], "step")]),
    "Pad wrap": ('(float[N] x, int64[2] p) => (float[n] y) { y = Pad <mode = "wrap"> (x, p) }', [f(4), i(1, 2)], [
        ([f(0), i(1, 0)], "without elements")]),
    "CumSum": ("(float[N,C] x, int64 a) => (float[n,c] y) { y = CumSum (x, a) }", [f(4, 3), s(1)], [([f(4, 3), s(7)], "axis")]),
    "Unsqueeze": ("(float[B,S] x, int64[1] p) => (float[n,m,k] y) { y = Unsqueeze (x, p) }", [f(2, 3), i(0)], [([f(2, 3), i(9)], "axis")]),
    "TopK": ("(float[N,C] x, int64[1] k) => (float[n,c] y, int64[n,c] j) { y, j = TopK (x, k) }", [f(4, 3), i(2)], [
        ([f(4, 3), i(7)], "larger"), ([f(4, 3), i(-1)], "negative")]),
    "Resize": ('(float[N,C,H,W] x, float[4] s) => (float[a,b,c,d] y) { y = Resize <mode = "linear"> (x, , s) }',
               [f(1, 1, 4, 4), np.array([1, 1, 2, 2], np.float32)], [([f(1, 1, 4, 4), np.array([1, 1, -1, 2], np.float32)], "negative")]),
    "Range": ("(int64 a, int64 b, int64 c) => (int64[n] y) { y = Range (a, b, c) }", [s(5), s(0), s(-2)], [([s(0), s(5), s(0)], "is 0")]),
    "ConstantOfShape": ("(int64[2] a) => (float[n,m] y) { y = ConstantOfShape (a) }", [i(2, 3)], [([i(-2, 3)], "negative")]),
    "Reshape": ("(float[A,B] x, int64[2] a) => (float[n,m] y) { y = Reshape (x, a) }", [f(2, 3), i(3, -1)], [
        ([f(2, 3), i(-3, -2)], "negative"), ([f(2, 3), i(4, 2)], "elements")]),
    "STFT": ("(float[B,L,1] x, int64 st, float[W] w) => (float[a,b,c,2] y) { y = STFT (x, st, w) }", [f(1, 16, 1), s(4), f(8)], [
        ([f(1, 16, 1), s(0), f(8)], "is 0")]),
    "Loop": ("(int64 n, float[C] z) => (float[s,b] y) { c = Constant <value = bool {1}> () "
             "l, y = Loop <body = g (int64 i, bool c, float[b] a) => (bool d, float[b] o, float[b] p) { d = Identity (c) "
             "o = Concat <axis = 0> (a, a) p = Identity (a) }> (n, c, z) }", [s(1), f(2)], [([s(2), f(2)], "different sizes"),
                                                                                        ([s(5), f(2)], "different sizes")]),
    **{f"{op} lengths": (f"(float[T,B,4] x, int32[C] n) => (float[t,1,b,5] y, float[1,b,5] z) <float[1,{5 * gates},4] w = {{"
                         f"{', '.join('0.5' for _ in range(20 * gates))}}}, float[1,{5 * gates},5] r = {{"
                         f"{', '.join('0.25' for _ in range(25 * gates))}}}> {{ y, z = {op} <hidden_size = 5> (x, w, r, , n) }}",
                         [f(6, 3, 4), np.array([0, 6, 2], np.int32)], [
                             ([f(6, 3, 4), np.array([1, 7, 2], np.int32)], "sequence length"),
                             ([f(6, 3, 4), np.array([1, -1, 2], np.int32)], "sequence length"),
                             ([f(0, 1, 4), np.array([1], np.int32)], "sequence length")])
       for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))},
    # A slice to at most two rows is broadcast if it has one.
    **{f"last two of {n}": ("(float[N,3] x) => (float[a,b] y) <float[2,3] z = {1,2,3,4,5,6}, int64[1] s = {-2}, int64[1] e = {99}, "
                            "int64[1] k = {0}> { m = Slice (x, s, e, k) y = Add (m, z) }", [f(n, 3)], []) for n in (1, 2, 7)},
    "SkipLayerNormalization": ("(float[A,B,4] x, float[C,D,4] z, float[4] w) => (float[a,b,c] y) "
                               "{ y = com.microsoft.SkipLayerNormalization (x, z, w) }", [f(2, 3, 4), f(2, 3, 4), f(4)], [
                                   ([f(1, 3, 4), f(2, 3, 4), f(4)], "broadcast"), ([f(2, 1, 4), f(2, 3, 4), f(4)], "broadcast")]),
    # The minimum is negative if N is less than 5.
    **{f"least size, N = {n}": (
        "(float[N] x) => (float[a] y, int64[1] z, bool[1] w) { five = Constant <value = int64[1] {5}> () "
        "three = Constant <value = int64[1] {3}> () zero = Constant <value = int64[1] {0}> () n = Shape (x) m = Sub (n, five) "
        "e = Min (m, three) y = Slice (x, zero, e, zero) z = Abs (e) w = Less (e, zero) }", [f(n)], []) for n in (1, 2, 4, 5, 12)},
    "negative size": ("(float[N] x) => (float[a] y) { five = Constant <value = int64[1] {5}> () three = Constant <value = int64[1] "
                      "{3}> () n = Shape (x) m = Sub (n, five) e = Min (m, three) y = ConstantOfShape (e) }", [f(7)], [
                          ([f(2)], "a size is negative")]),
    **{f"Div {each}": (f"({each}[B] x, {each}[C] w) => ({each}[b] y) {{ y = Div (x, w) }}", [np.array([4, 6], each), np.array([2, 3], each)],
                       [([np.array([4, 6], each), np.array([0, 3], each)], "divided by 0")]) for each in ("int32", "uint8", "int64")},
    **{f"Mod {each}": (f"({each}[B] x, {each}[C] w) => ({each}[b] y) {{ y = Mod (x, w) }}", [np.array([4, 7], each), np.array([2, 3], each)],
                       [([np.array([4, 6], each), np.array([0, 3], each)], "divided by 0")]) for each in ("int32", "uint8", "int64")},
}


def compile_text(text, opset=21):
    model = parser.parse_model(HEAD % opset + "g " + text).SerializeToString()
    with open(f"{sys.argv[1]}.onnx", "wb") as file:
        file.write(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model, layout_mlir.compile(f"{sys.argv[1]}.onnx")


def run(program, inputs):
    results = program(*inputs)
    return results if isinstance(results, tuple) else (results,)


class Sizes(unittest.TestCase):
    def test_cases(self) -> None:
        for name, (text, good, bad) in CASES.items():
            with self.subTest(name):
                model, program = compile_text(text)
                session = onnxruntime.InferenceSession(model)
                wanted = session.run(None, dict(zip([each.name for each in session.get_inputs()], good)))
                for a, b in zip(wanted, run(program, good), strict=True):
                    np.testing.assert_allclose(b, a, 1e-4, 1e-5)
                for inputs, message in bad:
                    with self.assertRaisesRegex(layout_mlir.LayoutError, f"an assertion does not hold: .*({message})"):
                        isolated(run, program, inputs, seconds=60)

    def test_least_integer(self) -> None:
        """The least integer by -1 wraps around, as NumPy computes it."""
        for each in ("int8", "int16", "int32", "int64"):
            least, minus = np.array([np.iinfo(each).min, 7], each), np.array([-1, -1], each)
            _, program = compile_text(f"({each}[B] x, {each}[C] w) => ({each}[b] y, {each}[b] z) {{ y = Div (x, w) z = Mod (x, w) }}")
            with np.errstate(over="ignore"):
                np.testing.assert_array_equal(run(program, [least, minus]), [np.negative(least), [0, 0]])

    def test_branches_of_other_ranks(self) -> None:
        """An If that squeezes a dim of size 1, as torch.squeeze is exported: the branch that later nodes take is assumed."""
        text = """(float[B,N] x) => (float[b,m] y) {
          one = Constant <value = int64 {1}> ()
          axis = Constant <value = int64[1] {1}> ()
          u = Unsqueeze (x, axis)
          shape = Shape (%s)
          at = Constant <value = int64 {1}> ()
          n = Gather (shape, at)
          is_one = Equal (n, one)
          v = If (is_one) <then_branch = t () => (float[b,c] a) { a = Squeeze (%s, axis) },
                           else_branch = e () => (float[b,c,d] a) { a = Identity (%s) }>
          y = %s (v) }"""
        model, program = compile_text(text % ("u", "u", "u", "Transpose <perm = [1, 0]>"))
        np.testing.assert_array_equal(run(program, [x := f(3, 2)])[0], x.T)
        wide = text.replace("float[B,N] x", "float[B,K,N] x") % ("x", "x", "x", "Transpose <perm = [0, 2, 1]>")
        _, program = compile_text(wide.replace("float[b,m] y", "float[b,m,k] y"))
        np.testing.assert_array_equal(run(program, [x := f(3, 2, 4)])[0], x.transpose(0, 2, 1))
        with self.assertRaisesRegex(layout_mlir.LayoutError, "the branch that the condition selects is not imported: .*rank 2 and rank 3"):
            run(program, [f(3, 1, 4)])

    def test_first_iteration(self) -> None:
        """A loop whose first iteration replaces a scalar by a matrix."""
        text = """(float[N,3] x, int64 n, bool go) => (float[a,b] y, float[s,c,d] z) {
          none = Constant <value = float {0}> ()
          y, z = Loop (n, go, none) <body = b (int64 i, bool c, float v) => (bool again, float[p,q] w, float[p,q] slice) {
            again = Identity (c)
            k = CastLike (i, x)
            t = Mul (x, k)
            w = Add (v, t)
            slice = Identity (w) }> }"""
        _, program = compile_text(text)
        x = f(2, 3)
        y, z = run(program, [x, s(4), np.array(True)])
        np.testing.assert_allclose(y, 6 * x, 1e-5)
        np.testing.assert_allclose(z, [0 * x, x, 3 * x, 6 * x], 1e-5)
        for count, go in ((0, True), (4, False)):
            with self.assertRaisesRegex(layout_mlir.LayoutError, "has no iterations"):
                run(program, [x, s(count), np.array(go)])

    def test_static_sizes(self) -> None:
        """Sizes that are known not to fit are refused at the node."""
        for text, message in (
                ("(float[3,1,4] x, float[1,20,4] w, float[1,20,5] r, float[1,3,5] h) => (float[t,1,b,5] y) "
                 "{ y = LSTM <hidden_size = 5> (x, w, r, , , h) }", r"'y' \(LSTM\).*initial state.*: 3 and 1"),
                ("(float[2,3] x, float[2] b) => (float[n,m] y) { y = LayerNormalization (x, b) }", r"LayerNormalization.*differ"),
                ("(int32[2] x) => (int32[2] y) { c = Constant <value = int32[2] {1, 0}> () y = Div (x, c) }", "constant that is 0")):
            with self.subTest(text), self.assertRaisesRegex(layout_mlir.LayoutError, message):
                compile_text(text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
