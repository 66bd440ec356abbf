"""Draws the first commands of an NPU program over the cycles of the simulator.

    result = program.run(x, events=200)
    pathlib.Path("timeline.svg").write_text(draw_timeline(result.events, program.megahertz))
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import NamedTuple

WIDTH, LEFT, ROW, TOP = 1600, 80, 36, 30
SHADES = ("#4477aa", "#66ccee", "#228833", "#ccbb44", "#ee6677", "#aa3377", "#999933", "#bbbbbb")
LETTER = 6.2  # the width of a letter at 10 pixels


class Event(NamedTuple):
    """A simulated command; times are cycles since the start of the program."""
    engine: str  # "dma" or "compute"
    begin: int
    end: int
    name: str


def _step(span: float) -> float:
    """Returns the distance of axis marks: 1, 2 or 5 times a power of ten, for about ten marks."""
    power = 1e-3
    while power * 100 < span:
        power *= 10
    return next(power * each for each in (1, 2, 5, 10) if power * each * 10 >= span)


def draw_timeline(events: Sequence[Event], megahertz: int) -> str:
    """Returns an SVG with one row for each engine; times are in microseconds."""
    end = max((event.end for event in events), default=0) or 1
    scale = (WIDTH - LEFT - 20) / end
    kinds = sorted({event.name for event in events})
    shades = {name: SHADES[number % len(SHADES)] for number, name in enumerate(kinds)}
    rows = {"dma": TOP, "compute": TOP + ROW + 6}
    height = TOP + 2 * ROW + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'font-family="sans-serif" font-size="10">',
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
             f'<text x="{LEFT}" y="16">the first {len(events)} commands, at {megahertz} MHz</text>']
    parts += [f'<text x="8" y="{top + ROW / 2 + 4}">{engine}</text>' for engine, top in rows.items()]
    for event in events:
        x, width = LEFT + event.begin * scale, max((event.end - event.begin) * scale, 0.3)
        top, name = rows[event.engine], html.escape(event.name)
        parts.append(f'<rect x="{x:.2f}" y="{top}" width="{width:.2f}" height="{ROW}" '
                     f'fill="{shades[event.name]}" stroke="white" stroke-width="0.3">'
                     f"<title>{name}: cycles {event.begin} to {event.end}</title></rect>")
        if width > LETTER * len(event.name) + 4:
            parts.append(f'<text x="{x + 3:.2f}" y="{top + ROW / 2 + 4}" fill="white" '
                         f'pointer-events="none">{name}</text>')
    span = end / megahertz
    step, mark = _step(span), 0
    while mark * step <= span:
        x = LEFT + mark * step * megahertz * scale
        parts.append(f'<line x1="{x:.2f}" x2="{x:.2f}" y1="{TOP}" y2="{height - 22}" stroke="#cccccc" '
                     f'stroke-width="0.5"/><text x="{x:.2f}" y="{height - 8}" '
                     f'text-anchor="middle">{mark * step:g} us</text>')
        mark += 1
    return "\n".join([*parts, "</svg>", ""])
