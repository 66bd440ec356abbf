"""Pages of docs with measurements, which name the date and the machine.

A `Page` has one table, whose rows may be measured one by one: `update` replaces the given rows and keeps those that were
measured on the same machine. The page then names the first day and the last one.
"""

import dataclasses
import datetime
import os
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@dataclasses.dataclass
class Circumstances:
    """The machine and the date of a measurement, or the first and the last date, as `2026-01-02 to 2026-01-05`."""
    date: str
    machine: str

    def __str__(self):
        return f"{self.date}, {self.machine}"


def describe_circumstances():
    """Returns the date of today and this machine."""
    from layout_mlir.html_report import find_processor

    return Circumstances(str(datetime.date.today()), f"{find_processor()}, {len(os.sched_getaffinity(0))} cores")


def render_table(columns, rows, numbers=()):
    """Returns the lines of a table. The columns at the positions `numbers` are aligned to the right."""
    rules = ["---:" if position in numbers else "---" for position in range(len(columns))]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in [columns, rules, *rows])


def parse_table(text):
    """Returns the columns and the rows of the only table in a text."""
    lines = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
             for line in text.splitlines() if line.startswith("|")]
    return lines[0], lines[2:]


@dataclasses.dataclass(frozen=True)
class Page:
    """A page with the table of the given columns. `summarize` returns a sentence about the rows, lists of cells."""
    path: pathlib.Path
    command: str
    head: str
    columns: tuple
    summarize: object

    def render(self, rows, circumstances):
        return "\n".join([self.head, self.summarize(rows), f"Measured: {circumstances}.", "",
                          render_table(self.columns, rows, range(1, len(self.columns))), ""])

    def update(self, rows, circumstances, order):
        """Writes the page with the given rows. `order` has the first cells of all rows in their order."""
        known = {row[0]: row for row in rows}
        if self.path.exists():
            text = self.path.read_text()
            before = self._find_circumstances(text)
            if before and before.machine == circumstances.machine:
                known = {row[0]: row for row in parse_table(text)[1]} | known
                dates = dict.fromkeys([before.date.split(" to ")[0], circumstances.date])
                circumstances = dataclasses.replace(circumstances, date=" to ".join(dates))
        self.path.write_text(self.render([known[name] for name in order if name in known], circumstances))

    def _find_circumstances(self, text):
        found = re.search(r"^Measured: ([^,]+), (.*)\.$", text, re.M)
        return found and Circumstances(*found.groups())

    def check(self):
        """Returns the error that the page does not have the form in which it is written, or None."""
        text = self.path.read_text()
        found = self._find_circumstances(text)
        if found and self.render(parse_table(text)[1], found) == text:
            return None
        return f"{self.path} is not as `{self.command}` writes it"
