# RUN: %python %s %t.md
# RUN: %python %layout_src_root/scripts/trained_page.py
"""Checks that pages with measurements have the form in which commands write them, and that a page keeps the rows of its
machine and names their days."""

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
        day, later = "2026-01-02", "2026-01-05"
        for row, date, machine, expected, dates in (
                ("b", day, "one", "b", day), ("a", day, "one", "ab", day), ("c", later, "one", "abc", f"{day} to {later}"),
                ("a", later, "one", "abc", f"{day} to {later}"), ("b", later, "other", "b", later)):
            page.update([[row, "1"]], Circumstances(date, machine), "abc")
            self.assertIsNone(page.check())
            lines = PATH.read_text().splitlines()
            self.assertEqual([line[2] for line in lines[7:]], list(expected))
            self.assertIn(f"Measured: {dates}, {machine}.", lines)
        PATH.write_text(PATH.read_text().replace("1 rows", "2 rows"))
        self.assertRegex(page.check(), "is not as `./dev bench` writes it")


if __name__ == "__main__":
    unittest.main()
