"""Parses pictures as XML and checks their geometry.

usage: check_svg.py FILE.svg...

Cells must be inside the picture and must not overlap; texts must start inside it.
"""

import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def check(path):
    root = ElementTree.parse(path).getroot()
    width, height = int(root.get("width")), int(root.get("height"))
    assert root.get("viewBox") == f"0 0 {width} {height}"
    cells = []
    for rect in root.iter(SVG + "rect"):
        if rect.find(SVG + "title") is None:
            continue
        x, y, w, h = (int(rect.get(name)) for name in ("x", "y", "width", "height"))
        assert 0 < x and x + w < width and 0 < y and y + h < height, rect.attrib
        cells.append((x, y, x + w, y + h))
    cells.sort(key=lambda cell: (cell[1], cell[0]))
    for i, (x0, y0, x1, y1) in enumerate(cells):
        for u0, v0, u1, v1 in cells[i + 1:]:
            if v0 >= y1:
                break
            assert u0 >= x1 or u1 <= x0, f"cells overlap at {x0}, {y0}"
    for text in root.iter(SVG + "text"):
        assert 0 < int(text.get("x")) < width and 0 < int(text.get("y")) < height
    return len(cells)


for name in sys.argv[1:]:
    print(f"{name}: {check(name)} cells")
