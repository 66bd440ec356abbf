# REQUIRES: browser
# RUN: %python %s %layout_src_root %t.html
"""Checks that web/layout_map.js agrees with the library about maps in a browser, and accepts the same texts."""

import json
import math
import pathlib
import random
import re
import sys
import unittest

import layout_mlir
from browser import Browser
from layout_mlir import Layout, LayoutError, Target

ROOT, PAGE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv.pop())
sys.argv.pop()
sys.path.insert(0, str(ROOT / "test/Integration/Inputs"))
from random_layouts import random_layout  # noqa: E402

SCRIPT = pathlib.Path(layout_mlir.__file__).parent / "web/layout_map.js"
ELEMENTS = {1: "i8", 2: "i16", 4: "f32"}
FAMILIES = ("blocked", "packed_dims", "rgba_image", "npu_scatter")
MORE = [  # layouts that the vectors and the random layouts of linear memory do not cover
    ("(i, j) replicate(r : 3, q : 2) -> mesh(device = r * 2 + q, offset = [i, j])", (3, 5)),
    ("(n, h, w, c) -> image2d_array(x = w, y = [n, h], slice = c floordiv 4, lane = c mod 4)", (2, 3, 5, 6)),
    ("(n, h, w, c) -> image3d(x = w, y = [n, h] align 4, z = c floordiv 4, lane = c mod 4)", (2, 3, 5, 6)),
    ("(n, c) -> buffer(n, [c] align 4) stored(n, c floordiv 4, c mod 4)", (3, 6)),
    ("(i, j) -> buffer(offset = i * (size(j) * 3 + 1) + j * 2 + 5 extent size(i) * size(j) * 4 + 9)", (4, 5)),
    ("(i, j) -> buffer(offset = i * -1 * size(j) + j + size(i) * size(j))", (4, 5)),
    ("(i) -> mesh(row = xor(i floordiv 2 mod 4, 3 : 8), column = ceil(ceil(size(i), 3) + 1, 2) + i * 0x2)", (9,)),
    ("(size, mod, xor) -> buffer(pad(size, 1, 2), xor, mod mod 4, mod floordiv 4) // names of functions", (2, 3, 4)),
]

COMPARE = """
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const faults = [];
for (const {text, shape, extents, stored, points, back} of arguments[0]) {
  const expect = (what, said, right) => same(said, right) || faults.push({text, shape, what, said, right});
  try {
    const map = LayoutMap.parse(text);
    expect('extents', map.extents(shape), extents);
    expect('index outside', map.index(extents, shape), null);
    if (stored)
      expect('axes', map.axes(shape).map(({extent}) => extent), stored);
    for (const [index, address] of points) {
      expect(`address of ${index}`, map.address(index, shape), address);
      expect(`index at ${address}`, map.index(address, shape), index);
    }
    for (const [address, index] of back)
      expect(`index at ${address}`, map.index(address, shape), index);
  } catch (error) {
    faults.push({text, shape, what: String(error)});
  }
}
return faults;
"""

PARSE = """
return arguments[0].map((text) => {
  try { LayoutMap.parse(text); } catch (error) { return [error.name, error.message, error.column]; }
});
"""


def case(layout, shape, rng, text=None):
    """Returns the library's results for a layout on a shape, at some indices and addresses."""
    extents = list(layout.storage_extent(shape).values())
    def address(index):
        found = layout.address(index, shape)
        return [found[name] for name in layout.coordinates]
    count = min(math.prod(shape), 20)
    indices = [[rng.randrange(size) for size in shape] for _ in range(count)]
    indices += [[size - 1 for size in shape]] if count else []
    addresses = [[rng.randrange(extent) for extent in extents] for _ in range(8 if all(extents) else 0)]
    canonical = str(layout.canonical(shape))
    is_group = re.search(r"buffer\((?!offset =)|stored\(", canonical)
    return dict(text=text or canonical, shape=shape, extents=extents,
                stored=layout.stored_shape(shape) if is_group and text is None else None,
                points=[[index, address(index)] for index in indices],
                back=[[at, layout.backward_index(tuple(at), shape)] for at in addresses])


def family_cases(rng):
    for family in FAMILIES:
        for vector in json.loads((ROOT / f"test/vectors/{family}.json").read_text())["cases"]:
            if "error" in vector:
                continue
            options = {}
            if "target" in vector:
                options = dict(target=Target(**vector["target"], bytes_per_npu=vector["bytes_per_npu"]),
                               element=ELEMENTS[vector["element_bytes"]])
            yield case(Layout(vector["layout"], **options), vector["shape"], rng)


def random_cases(seed):
    rng = random.Random(seed)
    shape = [rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 8, 12, 17, 33]) for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 5]))]
    while math.prod(shape) > 3000:
        shape = [-(-size // 2) for size in shape]
    text = random_layout(rng, shape, [rng.random() < 0.4 for _ in shape]).text
    layout = Layout(text)
    yield case(layout, shape, rng)
    if text.startswith("#layout.map"):
        yield case(layout, shape, rng, text)
    try:
        yield case(layout.canonical(), shape, rng, str(layout.canonical()))
    except LayoutError:
        pass  # its map depends on the shape


def changed(text, rng):
    """Returns the text with one token removed, duplicated, or copied from another place."""
    tokens = re.findall(r"\s+|[\w.#]+|->|.", text)
    at = rng.randrange(len(tokens))
    tokens[at:at + 1] = rng.choice([[], [tokens[at], " ", tokens[at]], [rng.choice(tokens)], ["0"], ["-1"]])
    return "".join(tokens)


class MapsInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        PAGE.write_text(f'<!doctype html><script src="{SCRIPT.resolve().as_uri()}"></script>')
        cls.browser = cls.enterClassContext(Browser())
        cls.browser.open(PAGE)

    def compare(self, cases):
        faults = self.browser.run(COMPARE, cases)
        self.assertFalse(faults, "\n".join(map(str, faults[:10])))

    def test_families(self):
        self.compare(list(family_cases(random.Random(1))))

    def test_random_layouts(self):
        self.compare([c for seed in range(300) for c in random_cases(seed)])

    def test_spaces_sizes_and_names(self):
        rng = random.Random(2)
        maps = [(f"#layout.map<{text}\n>", shape) for text, shape in MORE]
        self.compare([case(Layout(text), shape, rng, way) for text, shape in maps for way in (None, text)])

    def test_large_shapes(self):
        rng = random.Random(3)
        cases = [case(Layout(text), shape, rng) for text, shape in (
            ("NCHW16c", (64, 1000, 224, 225)), ("#layout.rgba_image<in_out_channel>", (2, 720, 1281, 67)),
            ("#layout.map<(i, j) -> buffer(i floordiv 8, j, xor(i mod 8, j : 8))>", (1 << 20, 1 << 20)))]
        self.compare(cases)

    def test_padding_value(self):
        text = str(Layout("#layout.padded<#layout.map<(i) -> buffer([i] align 4)>, 1.0 : f32>",
                          element="f32").canonical())
        self.assertEqual(self.browser.run("return LayoutMap.parse(arguments[0]).padding", text), "1.000000e+00 : f32")

    def test_takes_and_refuses_the_same_texts(self):
        rng = random.Random(4)
        texts = [f"#layout.map<{text}>" for text, _ in MORE[:-1]]
        texts = [changed(text, rng) for text in texts for _ in range(40)]
        texts += ["", "#layout.map<>", "#layout.map<(i) -> buffer(i)> x", "#layout.map<(i, i) -> buffer(i)>",
                  "#layout.map<(true) -> buffer(0)>", "#layout.map<(i) -> buffer(xor(i, i))>",
                  "#layout.map<(i) -> buffer(xor(i, 1 : 3))>",
                  "#layout.map<(i) -> buffer(" + "(" * 70 + "i" + ")" * 71 + ">"]
        refused = 0
        for text, fault in zip(texts, self.browser.run(PARSE, texts), strict=True):
            with self.subTest(text=text):
                try:
                    Layout(text)
                except LayoutError as error:
                    refused += 1
                    self.assertIsNotNone(fault, str(error))
                    self.assertEqual(fault[0], "Error")
                    self.assertTrue(fault[1])
                else:
                    self.assertIsNone(fault)
        self.assertTrue(len(texts) / 2 < refused < len(texts) - 20, refused)

    def test_numbers_that_do_not_fit_are_refused(self):
        say = """const map = LayoutMap.parse(arguments[0]);
                 try { return map.extents(arguments[1]); } catch (error) { return error.message; }"""
        text = "(i, j) -> buffer(i, j)"
        self.assertEqual(self.browser.run(say, text, [2 ** 30, 2 ** 20]), [2 ** 50])
        self.assertIn("past 2^53", self.browser.run(say, text, [2 ** 30, 2 ** 30]))
        self.assertIn("of 2 dims", self.browser.run(say, text, [2]))


if __name__ == "__main__":
    unittest.main()
