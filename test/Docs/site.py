# REQUIRES: browser, material, python-extension
# RUN: rm -rf %t && mkdir %t
# RUN: %python %layout_src_root/scripts/figures.py --check %layout_obj_root/bin/layout-translate %layout_src_root %t/pages
# RUN: %python %layout_src_root/scripts/build_site.py %layout_obj_root/bin/layout-translate %t/pages %layout_src_root %t/site
# RUN: %python %layout_src_root/scripts/check_links.py --site %t/site
# RUN: %python %s %t/site
"""Checks that the documentation site builds without a warning, that its links have targets, and that its pages work in
a browser."""

import pathlib
import shutil
import sys
import unittest

from browser import Browser
from layout_mlir import Layout

SITE = pathlib.Path(sys.argv.pop()).resolve()
TRY = (SITE / "try.html").as_uri()


def setUpModule():
    Site.browser = unittest.enterModuleContext(Browser(1280, 900))


class Site(unittest.TestCase):
    def open(self, page):
        self.browser.open(page if "://" in page else SITE / page)

    def put(self, **values):
        """Sets the values of fields at once, as pasting does."""
        self.browser.run("""for (const [id, value] of Object.entries(arguments[0]))
                                document.getElementById(id).value = value;
                            for (const id of Object.keys(arguments[0]))
                                document.getElementById(id).dispatchEvent(new Event('input'));""", values)


class Pages(Site):
    def test_landing_page(self):
        self.open("index.html")
        self.assertEqual(self.browser.count(".cards li"), 7)
        self.assertGreater(self.browser.count(".md-content table tr"), 5)
        light = self.browser.screenshot(SITE.parent / "landing.png")
        self.browser.use_scheme("dark")
        dark = self.browser.screenshot()
        self.browser.use_scheme("light")
        self.assertGreater(sum(light.getpixel((5, 890))), sum(dark.getpixel((5, 890))) + 300)

    def test_search_from_the_disk(self):
        self.open("reference/LayoutPasses.html")
        self.browser.click("label.md-search__icon, .md-search__input")
        self.browser.type(".md-search__input", "swizzle")
        self.assertTrue(self.browser.find(".md-search-result__link").get_attribute("href").startswith("file:"))

    @unittest.skipUnless(shutil.which("dot"), "graphviz draws them")
    def test_flowcharts_are_drawn(self):
        self.open("architecture.html")
        self.assertGreater(self.browser.count(".flowchart .node"), 10)
        self.assertNotIn("flowchart BT", self.browser.text(".md-content"))

    def test_gallery_shows_every_picture(self):
        self.open("gallery.html")
        drawn = len(list((SITE / "figures").glob("*.svg")))
        self.assertEqual(self.browser.count(".picture img"), drawn)
        self.assertGreater(self.browser.run("""const image = document.querySelector('.picture img');
            return image.decode().then(() => image.naturalWidth)"""), 100)
        self.browser.screenshot(SITE.parent / "gallery.png")
        links = self.browser.run("return [...document.querySelectorAll('a[href*=\"try.html#\"]')].map((a) => a.hash)")
        self.assertEqual(len(links), drawn)
        self.open("try.html")
        for link, fault, cells in self.browser.run("""return arguments[0].map((link) => {
                history.replaceState(null, '', link);
                dispatchEvent(new HashChangeEvent('hashchange'));
                return [link, document.querySelector('#fault').textContent, document.querySelectorAll('.cell').length];
            });""", links):
            self.assertEqual(fault, "", link)
            self.assertGreater(cells, 0, link)

    def resize(self, width, height):
        self.browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def test_no_page_scrolls_sideways_on_a_phone(self):
        self.resize(390, 844)
        self.addCleanup(self.resize, 1280, 900)
        for page in ("index.html", "gallery.html", "try.html", "spec.html", "start.html"):
            self.open(page)
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 390, page)
        self.open("try.html")
        self.put(layout="#layout.rgba_image<in_out_channel>", shape="2x5x3x6")
        self.assertTrue(self.browser.run("""
            const picture = document.querySelector('#picture');
            const {right, bottom} = picture.querySelector('svg').getBoundingClientRect();
            return picture.scrollWidth > picture.clientWidth && [...picture.querySelectorAll('rect')].every((rect) => {
                const cell = rect.getBoundingClientRect();
                return cell.right <= right && cell.bottom <= bottom;
            });"""), "the picture is cut")


class TryALayout(Site):
    def setUp(self):
        super().setUp()
        self.open("try.html")

    def test_typing_changes_the_picture(self):
        before = self.browser.screenshot(SITE.parent / "try.png")
        self.assertEqual(self.browser.count("#picture .pad"), 12)
        self.browser.type("#shape", "3x4")
        self.browser.type("#layout", "(i, j) -> buffer(j, i)")
        self.assertEqual((self.browser.count("#picture .cell"), self.browser.count("#picture .pad")), (12, 0))
        self.assertNotEqual(before.tobytes(), self.browser.screenshot().tobytes())
        self.put(layout="NCHW16c", shape="1x17x2x3")
        self.assertEqual(self.browser.text("#meaning code"), "(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)")
        self.assertIn("102 elements + 90 padding = 192 positions (offset 192)", self.browser.text("#meaning"))

    def test_every_layout_of_the_list_is_drawn(self):
        for layout, fault, cells in self.browser.run("""
            const fault = document.querySelector('#fault');
            return kLayouts.flatMap(({layouts}) => layouts).map(({layout}, n) => {
                const list = document.querySelector('#known');
                list.value = n;
                list.dispatchEvent(new Event('change'));
                return [layout, fault.textContent, document.querySelectorAll('.cell text').length];
            });"""):
            self.assertEqual(fault, "", layout)
            self.assertGreater(cells, 0, layout)

    def test_hovering_says_what_the_library_says(self):
        for text, shape, indices in (
                ("NCHW4c", (1, 6, 2, 3), [(0, 5, 1, 2), (0, 0, 1, 0)]),
                ("#layout.rgba_image<in_out_channel>", (2, 5, 3, 6), [(1, 4, 2, 5), (0, 0, 2, 3)])):
            self.put(layout=text, shape="x".join(map(str, shape)))
            layout = Layout(text)
            for index in indices:
                cell = f"#picture [data-index='{','.join(map(str, index))}']"
                self.browser.run("document.querySelector(arguments[0]).scrollIntoView("
                                 "{block: 'center', inline: 'center', behavior: 'instant'})", cell)
                self.browser.hover(cell)
                address = layout.address(index, shape)
                self.assertIn(" is at " + ", ".join(f"{name} {x}" for name, x in address.items()),
                              self.browser.text("#answer"))
                self.assertEqual(self.browser.find("#index").get_property("value"), ", ".join(map(str, index)))
                self.assertEqual(self.browser.find("#address").get_property("value"),
                                 ", ".join(map(str, address.values())))
                self.assertEqual(self.browser.count("#picture .marked"), 1)
        self.browser.hover("#picture .pad")
        self.assertRegex(self.browser.text("#answer"), "^x 1, y 0, lane 2 is padding|is padding$")

    def test_the_address_of_the_page_holds_what_it_shows(self):
        text = "(i, j) -> buffer(i, xor(i, j : 4)) // a + b & c"
        self.put(layout=text, shape="4x4")
        address = self.browser.run("return location.href")
        self.open("index.html")
        self.open(address)
        self.assertEqual(self.browser.find("#layout").get_property("value"), text)
        self.assertEqual(self.browser.count("#picture .cell"), 16)

    def test_huge_shapes_are_drawn_in_part(self):
        self.put(layout="NCHW16c", shape="64x1000x224x225")
        shape, index = (64, 1000, 224, 225), (63, 999, 223, 224)
        self.assertLessEqual(self.browser.count("#picture .cell"), 1024)
        self.assertRegex(self.browser.text("#caption"), r"^\d+ of 3,251,404,800 positions")
        self.browser.type("#index", "63, 999, 223, 224")
        offset = Layout("NCHW16c").address(index, shape)["offset"]
        self.assertIn(f"is at offset {offset}", self.browser.text("#answer"))
        self.browser.type("#address", str(offset + 1))
        self.assertEqual(self.browser.text("#answer"), f"offset {offset + 1} is padding")

    def test_an_index_that_is_hard_to_find_is_searched_when_asked_for(self):
        self.put(layout="(i) -> buffer(i mod 4, i floordiv 4)", shape="4000000")
        self.assertEqual(self.browser.text("#fault"), "")
        self.assertGreater(self.browser.count("#picture .unknown"), 0)
        self.browser.hover("#picture .unknown")
        offset = int(self.browser.find("#address").get_property("value"))
        self.assertEqual(self.browser.text("#answer"), f"(i {4 * offset}) is at offset {offset}")

    def test_what_is_wrong_is_said(self):
        rows = "(i, j) -> buffer(i, j)"
        for layout, shape, message in (
                ("", "2x3", "type a map"),
                (" \n", "2x3", "type a map"),
                ("NCHW17c", "2x3", "the list has no such layout"),
                ("#layout.packed_dims<[0]>", "2", "the list has no such layout"),
                ("(i, j) -> buffer(i, k)", "2x3", "column 21: unknown dim 'k'; the dims are (i, j)"),
                ("(i, j) -> tape(i, j)", "2x3", "column 11: the coordinates of space 'tape' are named"),
                ("<img src=x onerror=undefined_name()>", "2x3", "column 1: expected '('"),
                ("(i) -> buffer(<b>i</b>)", "2", "column 15: expected a dim"),
                ("(a, b) -> buffer(offset = a" + " * (size(a) + 2)" * 20 + " * (size(b) + 2)" * 300 + ")", "2x3",
                 "past 2^53"),
                (", ".join(f"d{d}" for d in range(30)).join("()") + " -> buffer(offset = d0"
                 + "".join(f" * (size(d{d}) + 1)" for d in range(30)) + ")", "x".join(["1"] * 30), "too many terms"),
                (rows, "2", "this layout is of 2 dims, the shape has 1"),
                (rows, "", "this layout is of 2 dims, the shape has 0"),
                (rows, "2x?", "a shape is numbers, as in 1x17x2x3, not '?'"),
                (rows, "-2x3", "a shape is numbers, as in 1x17x2x3, not '-2'"),
                (rows, "2x<b>", "a shape is numbers, as in 1x17x2x3, not '<b>'"),
                (rows, "99999999x999999999", "past 2^53"),
                (rows, "2x99999999999999999999", "a size is a number"),
                ("(i, j) -> mesh(a = i, b = j)", "100000000x100000000", "more than 2^53 positions"),
                ("(i, j) -> buffer(i)", "2x3", "(0,0) and (0,1) are both at 0"),
                ("(i) -> buffer(offset = i * -1)", "3", "(1) is at -1, outside of the storage")):
            with self.subTest(layout=layout, shape=shape):
                self.put(layout=layout, shape=shape)
                self.assertIn(message, self.browser.text("#fault"))
                self.assertEqual(self.browser.count("#try img, #try b"), 0)
                self.browser.run("document.querySelector('#color').dispatchEvent(new Event('change'))")
        self.put(layout=rows, shape="2x3")
        for field, text, message in (
                ("index", "1", "an index has 2 numbers here"), ("index", "2, 0", "outside of the shape"),
                ("address", "6", "outside of the storage"), ("address", "-1", "not '-1'")):
            self.put(**{field: text})
            self.assertIn(message, self.browser.text("#answer"))

    def test_small_extents(self):
        for layout, shape, cells in (
                ("() -> buffer()", "", 1), ("(i) -> buffer(i)", "1", 1), ("(i) -> buffer(i)", "0", 0),
                ("(i, j) -> buffer(i, [j] align 4)", "3x0", 0), ("(i) -> buffer(i, 0)", "2", 2),
                ("(i) -> imagery(row = i)", "3", 3), ("(i, j) -> mesh(a = i, b = j)", "10000000x0", 0),
                ("(i) -> image2d(x = 0, y = 0, lane = i)", "1000000", 256),
                ("(i, j) -> mesh(a = i, b = j)", "2x0", 0), ("(i) replicate(r : 3) -> buffer(r, i)", "2", 6)):
            with self.subTest(layout=layout, shape=shape):
                self.put(layout=layout, shape=shape)
                self.assertEqual(self.browser.text("#fault"), "")
                self.assertEqual(self.browser.count("#picture .cell"), cells)


if __name__ == "__main__":
    unittest.main()
