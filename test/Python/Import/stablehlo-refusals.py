# REQUIRES: python-extension, onnx
# RUN: %python %s
"""Checks that ops of StableHLO for several devices, for hosts, with tokens, tuples, bounds or recursion are refused by
name, with a way out, and that what stands beside them is imported: marks of shardings, quantized tensors and custom
calls that stand for ops of CHLO."""

import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "Inputs"))
from stablehlo_modules import Modules  # noqa: E402

X = np.random.default_rng(3).uniform(-0.9, 0.9, (4, 4)).astype("f4")
ONE = "tensor<4x4xf32>"
GROUPS = "replica_groups = dense<[[0]]> : tensor<1x1xi64>"
SUM = """({ ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %s = stablehlo.add %a, %b : tensor<f32>
  stablehlo.return %s : tensor<f32> })"""
BOUNDED = "tensor<?x4xf32, #stablehlo.bounds<8, ?>>"
TOKEN = "%t = stablehlo.create_token : !stablehlo.token\n"


def function(body: str, arguments: str = f"%x: {ONE}", results: str = ONE) -> str:
    return f"func.func @main({arguments}) -> {results} {{\n{body}\n}}"


def unary(op: str, rest: str = "") -> str:
    """Returns a module with one op whose operand and result are 4x4 floats."""
    return function(f'%0 = "stablehlo.{op}"(%x) {rest} : ({ONE}) -> {ONE}\nreturn %0 : {ONE}')


def call(target: str, attributes: str = "") -> str:
    return function(f"%0 = stablehlo.custom_call @{target}(%x) {{{attributes}}} : ({ONE}) -> {ONE}\nreturn %0 : {ONE}")


DEVICES = "is for several devices, but a program runs on one; export the function of one device"
HOST = "exchanges values with the host while the program runs; make the values inputs and results"
REFUSED = {
    **{op: (unary(op, rest), f"op 'stablehlo.{op}' at line 2, column 6 is not imported: it {DEVICES}")
       for op, rest in (("all_reduce", f"{SUM} {{{GROUPS}}}"),
                        ("reduce_scatter", f"{SUM} {{{GROUPS}, scatter_dimension = 0 : i64}}"),
                        ("all_gather", f"{{{GROUPS}, all_gather_dim = 0 : i64}}"),
                        ("all_to_all", f"{{{GROUPS}, split_dimension = 0 : i64, concat_dimension = 1 : i64, "
                                       "split_count = 1 : i64}"),
                        ("collective_permute", "{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}"),
                        ("collective_broadcast", f"{{{GROUPS}}}"),
                        ("cross-replica-sum", f"{{{GROUPS}}}"))},
    "replica_id": (function("%0 = stablehlo.replica_id : tensor<ui32>\nreturn %0 : tensor<ui32>", "", "tensor<ui32>"),
                   f"'stablehlo.replica_id' .*: it {DEVICES}"),
    "infeed": (function(TOKEN + '%a, %b = "stablehlo.infeed"(%t) {infeed_config = ""} : (!stablehlo.token) -> '
                        f"({ONE}, !stablehlo.token)\nreturn %a : {ONE}"), f"'stablehlo.infeed' .*: it {HOST}"),
    "outfeed": (function(TOKEN + '%b = "stablehlo.outfeed"(%x, %t) {outfeed_config = ""} : '
                         f"({ONE}, !stablehlo.token) -> !stablehlo.token\nreturn %x : {ONE}"),
                f"'stablehlo.outfeed' .*: it {HOST}"),
    "token": (function(f"return %x : {ONE}", f"%x: {ONE}, %t: !stablehlo.token"),
              "argument 1 of @main at line 1, column 1 has type !stablehlo.token, which is not a tensor: export"),
    "tuple": (function(f"%0 = stablehlo.tuple %x, %x : tuple<{ONE}, {ONE}>\nreturn %0 : tuple<{ONE}, {ONE}>",
                       results=f"tuple<{ONE}, {ONE}>"), "result 0 of @main .* has type tuple<.*, which is not a"),
    "bounds": (function(f"%0 = stablehlo.add %x, %x : {BOUNDED}\nreturn %0 : {BOUNDED}", f"%x: {BOUNDED}", BOUNDED),
               "'stablehlo.add' .*: a size of its tensors is bounded by #stablehlo.bounds; state it as a static size"),
    "set_dimension_size": (
        function(f"%c = stablehlo.constant dense<2> : tensor<i32>\n%0 = stablehlo.set_dimension_size %x, %c, dim = 0 : "
                 f"({ONE}, tensor<i32>) -> {BOUNDED}\nreturn %0 : {BOUNDED}", results=BOUNDED),
        "'stablehlo.set_dimension_size' .* is bounded"),
    "recursion": (function(f"%0 = call @main(%x) : ({ONE}) -> {ONE}\n%1 = stablehlo.negate %0 : {ONE}\n"
                           f"return %1 : {ONE}"), "function @main calls itself: write the recursion as a"),
    "mhlo": (unary("copy").replace("stablehlo.", "mhlo."), "'mhlo.copy' .*: MHLO is not StableHLO; convert the module"),
    "cholesky": (unary("cholesky", "{lower = true}"), "'stablehlo.cholesky' .*: its form has no lowering to linalg"),
    "custom_call": (call("lapack_spotrf_ffi"), "'stablehlo.custom_call' of 'lapack_spotrf_ffi' at line 2, column 6"),
    "a custom call named as those of CHLO": (call("mhlo.nope", "mhlo.attributes = {}"), "custom_call' of 'mhlo.nope'"),
    "smallest": (call("mhlo.topk", "mhlo.attributes = {k = 4 : i64, largest = false}"), "custom_call' of 'mhlo.topk'"),
    "unknown": (unary("frobnicate").replace('"', "").replace("(%x)", "%x"), "StableHLO has no op of this name"),
    "verifier": (function(f"%0 = stablehlo.reshape %x : ({ONE}) -> tensor<3x5xf32>\nreturn %x : {ONE}"),
                 'not a module of StableHLO: error: "-":2:6: number of output elements'),
    "no main": (function(f"return %x : {ONE} // stablehlo.").replace("@main", "@f"), "has no function @main: rename"),
}


class Refusals(Modules):
    def test_refused(self):
        for name, (text, message) in REFUSED.items():
            with self.subTest(name):
                self.check_refused(text, message)

    def test_marks_of_shardings(self):
        for target in ("Sharding", "SPMDFullToShardShape", "annotate_device_placement"):
            self.check(call(target, 'mhlo.sharding = "{replicated}"'), [X], X)

    def test_custom_calls_of_chlo(self):
        for name, wanted in (("asin", np.arcsin), ("sinh", np.sinh), ("tan", np.tan), ("square", np.square)):
            self.check(call(f"mhlo.{name}", "mhlo.attributes = {}, mhlo.version = 1 : i64"), [X], wanted(X),
                       tolerance=1e-6)
        types = "(tensor<4x2xf32>, tensor<4x2xi32>)"
        text = function("%0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} "
                        f": ({ONE}) -> {types}\nreturn %0#0, %0#1 : tensor<4x2xf32>, tensor<4x2xi32>", results=types)
        self.check(text, [X], -np.sort(-X, 1)[:, :2], np.argsort(-X, 1)[:, :2].astype("i4"))

    def test_tuples_and_tokens_inside(self):
        self.check(function(f"{TOKEN}%u = stablehlo.after_all %t, %t : !stablehlo.token\n"
                            f"%0 = stablehlo.tuple %x, %x : tuple<{ONE}, {ONE}>\n"
                            f"%1 = stablehlo.get_tuple_element %0[1] : (tuple<{ONE}, {ONE}>) -> {ONE}\n"
                            f"return %1 : {ONE}"), [X], X)

    def test_quantized(self):
        kind = "tensor<4x!quant.uniform<i8:f32, 0.5:1>>"
        text = function(f"%0 = stablehlo.add %x, %x : {kind}\nreturn %0 : {kind}", f"%x: {kind}", kind)
        self.check(text, [np.array([1, 3, 5, 100], "i1")], np.array([1, 5, 9, 127], "i1"))

    def test_integers_at_their_limits(self):
        for op, x, y, wanted in (("divide", [-9, -2**31], [0, -1], [-1, -2**31]),
                                 ("remainder", [-9, -2**31], [0, -1], [-9, 0]),
                                 ("shift_left", [1, 3], [32, 31], [0, -2**31])):
            kind = "tensor<2xi32>"
            text = function(f"%0 = stablehlo.{op} %x, %y : {kind}\nreturn %0 : {kind}", f"%x: {kind}, %y: {kind}", kind)
            self.check(text, [np.array(x, "i4"), np.array(y, "i4")], np.array(wanted, "i4"))


if __name__ == "__main__":
    unittest.main()
