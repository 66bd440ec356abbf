# RUN: %python %s %t.md
# RUN: %python %layout_src_root/scripts/trained_page.py
"""Checks that pages with measurements have the form in which commands write them, and that a page keeps the rows of its
day and machine."""

import pathlib
import sys
import unittest

from bench import torch_compile
from bench.measured_page import Circumstances, Page

PATH = pathlib.Path(sys.argv.pop())


class MeasuredPages(unittest.TestCase):
    def test_page_of_pytorch(self):
        self.assertIsNone(torch_compile.PAGE.check())

    def test_rows(self):
        PATH.unlink(missing_ok=True)
        page = Page(PATH, "./dev bench", "# Times\n", ("model", "ms"), lambda rows: f"There are {len(rows)} rows.")
        day = Circumstances("2026-01-02", "a machine, 2 cores")
        for row, when, expected in (("b", day, "b"), ("a", day, "ab"), ("c", day, "abc"),
                                    ("b", Circumstances("2026-01-03", day.machine), "b")):
            page.update([[row, "1"]], when, "abc")
            self.assertIsNone(page.check())
            self.assertEqual([line[2] for line in PATH.read_text().splitlines()[7:]], list(expected))
        PATH.write_text(PATH.read_text().replace("1 rows", "2 rows"))
        self.assertRegex(page.check(), "is not as `./dev bench` writes it")


if __name__ == "__main__":
    unittest.main()
