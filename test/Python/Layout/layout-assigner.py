# RUN: %python %s 2>&1 | FileCheck %s
# CHECK: OK
"""Checks that LayoutAssigner updates its decision for changed functions, and agrees with a new decision of the
module."""

import concurrent.futures
import pathlib
import random
import tempfile
import unittest

from layout_mlir import Layout, LayoutAssigner, LayoutError, assign

TARGET = "#layout.cpu<lanes = 4>"
BA = '#layout.blocked<"AB" to "BA">'
CHOICES = (BA, "#layout.map<(i, j) -> buffer(i, j floordiv 4, j mod 4)>", None)


def write(name, rows, ops, private=False, calls=None, pins=()):
    """Returns a product and elementwise ops with the given number of rows (None: dynamic) and the given constraints."""
    kind = f"tensor<{'?' if rows is None else rows}x8xf32>"
    dims = "(%n)" if rows is None else "()"
    size = "%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : " + kind if rows is None else ""
    held = {i: f"{{layout.operand_layouts = [{layout or 'unit'}], layout.result_layouts = [{layout or 'unit'}]}} "
            for i, layout in dict(pins).items()}
    lines = [f"%v{i} = arith.negf %v{i - 1} {held.get(i, '')}: {kind}" for i in range(1, ops)]
    if calls:
        lines.append(f"%v{ops} = call @{calls}(%v{ops - 1}) : ({kind}) -> {kind}")
    return f"""func.func {'private ' if private else ''}@{name}(%x: {kind}) -> {kind} {{
{size}
%w = arith.constant dense<1.0> : tensor<8x8xf32>
%z = arith.constant 0.0 : f32
%e = tensor.empty{dims} : {kind}
%i = linalg.fill ins(%z : f32) outs(%e : {kind}) -> {kind}
%v0 = linalg.matmul ins(%x, %w : {kind}, tensor<8x8xf32>) outs(%i : {kind}) -> {kind}
{chr(10).join(lines)}
return %v{ops if calls else ops - 1} : {kind}
}}
"""


def say(assigner):
    return assigner.cost, assigner.lower_bound, assigner.parts, {k: str(v) for k, v in assigner.layouts.items()}


class Assigner(unittest.TestCase):
    def agrees(self, assigner, text):
        """Checks agreement with a new assigner on an equivalent text, and with the pipeline on that text and on the
        module."""
        new = LayoutAssigner(text, TARGET)
        self.assertEqual(new.assign(), new.parts)
        self.assertEqual(say(assigner), say(new))
        for module in text, assigner.module:
            whole = assign(module, TARGET)
            self.assertEqual((assigner.cost, assigner.lower_bound), (whole.cost, whole.lower_bound))

    def test_random_edits(self):
        for seed in range(6):
            rng = random.Random(seed)
            functions = {f"f{i}": (rng.choice([1, 3, 8, None]), rng.randint(2, 5)) for i in range(6)}
            pins = {name: {} for name in functions}

            def text():
                return "".join(write(name, *sizes, pins=pins[name]) for name, sizes in functions.items())

            a = LayoutAssigner(text(), TARGET)
            self.assertEqual(a.assign(), 6)
            for _ in range(20):
                name = rng.choice([*functions])
                op, kind, choice = rng.randint(1, functions[name][1] - 1), rng.randrange(4), rng.choice(CHOICES)
                if kind == 0:
                    pins[name][op] = choice
                    a.pin(f"%v{op}", [choice], [choice], function=name)
                elif kind == 1:
                    pins[name].pop(op, None)
                    a.pin(f"%v{op}", function=name)
                elif kind == 2:
                    functions[name], pins[name] = (rng.choice([1, 3, 8, None]), rng.randint(2, 5)), {}
                    a.replace(write(name, *functions[name]))
                elif len(functions) > 2:
                    del functions[name]
                    a.remove(name)
                self.assertLessEqual(a.assign(), 1)
                self.agrees(a, text())
            self.assertEqual(a.assign(), 0)

    def test_callers_are_a_part(self):
        f, g, h = write("f", 3, 3, private=True), write("g", 3, 4, calls="f"), write("h", 3, 4)
        a = LayoutAssigner(f + g + h, TARGET)
        self.assertEqual((a.assign(), a.parts), (2, 2))
        a.pin("%v1", ["BA"], ["BA"], function="f")
        self.assertEqual(a.assign(), 1)
        self.agrees(a, write("f", 3, 3, private=True, pins={1: BA}) + g + h)
        f, new = write("f", 3, 2, private=True), write("new", 1, 2)
        a.replace(f + new)
        self.assertEqual((a.assign(), a.parts), (2, 3))
        self.agrees(a, f + g + h + new)
        with self.assertRaisesRegex(LayoutError, "'f' is used"):
            a.remove("f")

    def test_layouts(self):
        a = LayoutAssigner(write("f", 8, 3), TARGET)
        a.pin("%v1", [Layout("BA")], ["BA"])
        a.assign()
        whole = assign(write("f", 8, 3, pins={1: BA}), TARGET).layouts
        self.assertGreater(len(a.layouts), 2)
        self.assertEqual(a.layouts, {name: whole[name] for name in a.layouts})
        self.assertEqual(str(a.layouts["%v1"]), "#layout.map<(d0, d1) -> buffer(d1, d0)>")
        self.assertEqual(a.target, TARGET)

    def test_what_is_wrong_is_said(self):
        a = LayoutAssigner(write("f", 3, 3) + write("g", 3, 3), TARGET)
        self.assertRaisesRegex(LayoutError, "call assign", lambda: a.cost)
        a.assign()
        before = a.module, say(a)
        for message, function in (
                ("several ops are named '%v1'", lambda: a.pin("%v1")),
                ("no op is named '%q'", lambda: a.pin("%q")),
                ("there is no function 'q'", lambda: a.pin("%v1", function="q")),
                ("there is no function 'q'", lambda: a.remove("q")),
                ("expected", lambda: a.pin("%v1", ["no layout"], function="f")),
                ("line 1, column 1: .*'func.fun' is unknown", lambda: a.replace("func.fun @f")),
                ("must not have module attributes", lambda: a.replace("module attributes {a.b} {}"))):
            with self.assertRaisesRegex(LayoutError, message):
                function()
        self.assertEqual((a.module, say(a)), before)
        self.assertRaises(TypeError, a.replace, 3)
        with self.assertRaisesRegex(TypeError, "a replacement must be text or bytecode, without arrays"):
            a.replace((write("f", 3, 3), {}))
        self.assertRaises(TypeError, a.pin, "%v1", [3], function="f")
        self.assertRaises(TypeError, LayoutAssigner.__new__(LayoutAssigner).assign)
        self.assertRaises(TypeError, LayoutAssigner, None)

    def test_replacements_that_do_not_fit_are_taken_back(self):
        a = LayoutAssigner(write("f", 3, 3, private=True) + write("g", 3, 3, calls="f"), TARGET)
        a.assign()
        before = a.module, say(a)
        with self.assertRaisesRegex(LayoutError, "operand type mismatch"):
            a.replace(write("new", 8, 2) + write("f", 8, 2, private=True))
        self.assertEqual((a.module, say(a)), before)
        self.assertEqual(a.assign(), 0)

    def test_pins_that_cannot_hold(self):
        a = LayoutAssigner(write("f", 3, 3), TARGET)
        a.pin("%v1", ["BA", "BA"])
        with self.assertRaisesRegex(LayoutError, "'layout.operand_layouts' must be an array"):
            a.assign()
        self.assertRaisesRegex(LayoutError, "call assign", lambda: a.layouts)
        a.pin("%v1")
        self.assertEqual(a.assign(), 1)
        self.agrees(a, write("f", 3, 3))

    def test_prices(self):
        asked = []

        def price(op):
            asked.append(op.name)
            return 3 * op.modeled

        a = LayoutAssigner(write("f", 8, 3) + write("g", 3, 3), TARGET, costs=price)
        a.assign()
        self.assertEqual(a.cost, assign(a.module, TARGET, costs=price).cost)
        asked.clear()
        a.pin("%v1", ["BA"], ["BA"], function="g")
        a.assign()
        self.assertGreater(len(asked), 0)
        self.assertEqual(a.cost, assign(a.module, TARGET, costs=price).cost)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "prices.mlir")
            path.write_text('func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {layout.cost = 1000 : i64} {\n'
                            '%y = arith.negf %x : tensor<8x8xf32>\nreturn %y : tensor<8x8xf32>\n}\n')
            a = LayoutAssigner(write("f", 8, 3), TARGET, costs=path)
            a.assign()
            self.assertEqual(a.cost, assign(a.module, TARGET, costs=path).cost)
            path.write_text("no list")
            with self.assertRaisesRegex(LayoutError, "prices.mlir"):
                LayoutAssigner(write("f", 8, 3), TARGET, costs=path)

    def test_exceptions_of_prices_leave_nothing_decided(self):
        fails = [True]

        def price(op):
            if fails[0]:
                raise KeyError(op.name)
            return op.modeled

        a = LayoutAssigner(write("f", 8, 3), TARGET, costs=price)
        self.assertRaises(KeyError, a.assign)
        self.assertRaisesRegex(LayoutError, "call assign", lambda: a.cost)
        fails[0] = False
        self.assertEqual(a.assign(), 1)
        self.agrees(a, write("f", 8, 3))

    def test_prices_cannot_ask_the_assigner_that_asks_them(self):
        questions = (lambda: a.cost, lambda: a.layouts, lambda: a.module, lambda: a.assign(), lambda: a.pin("%v1"),
                     lambda: a.replace(write("f", 8, 2)), lambda: a.remove("f"))
        question = [None]

        def price(op):
            if question[0]:
                question[0]()
            return op.modeled

        a = LayoutAssigner(write("f", 8, 3), TARGET, costs=price)
        for question[0] in questions:
            with self.assertRaisesRegex(LayoutError, "the cost function must not use the LayoutAssigner that calls it"):
                a.assign()
        question[0] = None
        self.assertEqual(a.assign(), 1)
        self.agrees(a, write("f", 8, 3))

    def test_nothing_to_decide(self):
        for text in "", "func.func @f() {\nreturn\n}", write("f", 0, 2), write("f", 1, 2):
            a = LayoutAssigner(text, TARGET)
            a.assign()
            self.agrees(a, text)

    def test_threads_share_one(self):
        text = "".join(write(f"f{i}", 1 + i % 3, 3) for i in range(8))
        a = LayoutAssigner(text, TARGET, costs=lambda op: op.modeled)
        a.assign()

        def edit(number):
            for _ in range(5):
                a.pin("%v1", ["BA"], ["BA"], function=f"f{number}")
                a.assign()
                a.pin("%v1", function=f"f{number}")
                a.assign()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for future in [pool.submit(edit, number) for number in range(8)]:
                future.result()
        self.agrees(a, text)


if __name__ == "__main__":
    unittest.main()
