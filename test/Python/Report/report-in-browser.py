# Check the page of --report in a browser: the graph, its details, the tables, the picture of a layout, and the two
# look-ups, which must agree with the library.
# REQUIRES: onnx, python-extension, browser, graphviz
# RUN: %python %s %t

import json
import pathlib
import random
import sys

from browser import Browser
from layout_mlir import Layout, run

# Names of a model are escaped, whatever they contain.
HOSTILE = '</script><script>alert(1)</script> "é" <b>'
MODEL = """
func.func @main(%x: tensor<1x61x20x20xf32>) -> tensor<1x64x16x16xf32> {
  %w = arith.constant dense<0.01> : tensor<61x61x3x3xf32>
  %v = arith.constant dense<0.01> : tensor<64x61x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x61x18x18xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x61x18x18xf32>) -> tensor<1x61x18x18xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x61x20x20xf32>, tensor<61x61x3x3xf32>)
    outs(%f : tensor<1x61x18x18xf32>) -> tensor<1x61x18x18xf32> loc("first.conv")
  %1 = math.tanh %0 : tensor<1x61x18x18xf32> loc("HOSTILE")
  %g = tensor.empty() : tensor<1x64x16x16xf32>
  %h = linalg.fill ins(%zero : f32) outs(%g : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32>
  %2 = linalg.conv_2d_nchw_fchw ins(%1, %v : tensor<1x61x18x18xf32>, tensor<64x61x3x3xf32>)
    outs(%h : tensor<1x64x16x16xf32>) -> tensor<1x64x16x16xf32> loc("second.conv")
  return %2 : tensor<1x64x16x16xf32>
}
""".replace("HOSTILE", HOSTILE.replace('"', '\\22'))

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
model, page = folder / "net <1>.mlir", folder / "report.html"
model.write_text(MODEL, encoding="utf-8")
assert run.main([str(model), "--repeat", "1", "--report", str(page), "--keep", str(folder / "kept")]) == 0
cost = json.loads((folder / "kept" / "cost.json").read_text())
graph = json.loads((folder / "kept" / "graph.json").read_text())
conversions = [box for box in graph["boxes"] if "conversion" in box]
assert conversions, "this network is to have conversions"


def check_summary(browser):
    assert browser.text("h1") == "net <1>.mlir"
    assert browser.text("#certificate strong") == "Proven optimal."
    assert f"{cost['assignment']['cost']:,}" in browser.text("#certificate")
    assert browser.count(".card") == 4 and "Results agree" in browser.text("#cards")
    assert "#layout.cpu" in browser.text("#target")
    assert "processor" in browser.text("#machine")
    assert "largest difference" in browser.text("#rows")


def check_graph(browser):
    assert browser.count("#graph .node") == len(graph["boxes"])
    assert browser.count("#graph .node.moves") == len(conversions)
    shown = browser.run("return Object.fromEntries([...document.querySelectorAll('#graph .node')]"
                        ".map(node => [node.id, node.classList[1]]))")
    assert shown == {box["id"]: "moves" if box in conversions else box.get("layout", "plain") for box in graph["boxes"]}
    row = conversions[0]["conversion"]
    browser.click("#next")
    assert browser.count("#graph .node.moves.selected") == 1
    details = browser.text("#details")
    assert row["why"] in details and f"{row['bytes_read']:,}" in details, details
    browser.type("#search", "second.conv\n")
    assert "second.conv" in browser.text("#details")
    browser.type("#search", "</script>\n")
    assert HOSTILE in browser.text("#details"), browser.text("#details")
    width = browser.run("return document.querySelector('#graph svg').viewBox.baseVal.width")
    browser.click("#zoom-in")
    assert browser.run("return document.querySelector('#graph svg').viewBox.baseVal.width") < width
    browser.click("#fit")
    argument = next(box for box in graph["boxes"] if "argument" in box)
    browser.click(f"#graph #{argument['id']}")
    assert "Argument 0" in browser.text("#details")


def check_tables(browser):
    rows = "#conversions-table tbody tr"
    assert browser.count(rows) == len(conversions)
    assert f"{cost['assignment']['cost']:,}" in browser.text("#strategies-table tr.best")
    strategies = json.loads((folder / "kept" / "strategies.json").read_text())["strategies"]
    expected = sorted(each["cost"] for each in strategies)
    assert len(expected) == 8 and expected[0] < expected[-1]
    for order in (1, -1, 1):
        shown = browser.run("return [...document.querySelectorAll('#strategies-table td:nth-child(3)')]"
                            ".map(cell => Number(cell.textContent.replaceAll(',', '')))")
        assert shown == expected[::order], shown
        browser.click("#strategies-table th:nth-child(3) button")
    browser.click(rows)
    assert browser.text("#details h3") == "Conversion"


def check_look_up(browser, layout, shape):
    """Types some indices and addresses."""
    dice = random.Random(7)
    extents = layout.storage_extent(shape)
    for _ in range(5):
        index = [dice.randrange(size) for size in shape]
        browser.type("#index", ", ".join(map(str, index)))
        address = layout.address(index, shape)
        shown = ", ".join(f"{name} {address[name]}" for name in extents)
        if list(extents) == ["offset"]:
            shown += f", byte {4 * address['offset']:,}"
        assert browser.text("#index-result") == shown
        assert browser.count("#window td.found") == 1 and browser.count("#storage td.found") == 1
        address = {name: dice.randrange(extent) for name, extent in extents.items()}
        browser.type("#address", ", ".join(map(str, address.values())))
        found = layout.backward_index(address, shape)
        expected = str(found) if found else "padding: no element lies there"
        assert browser.text("#address-result") == expected, (address, found)
    browser.type("#index", "1, 2")
    assert "an index is 4 numbers below" in browser.text("#index-result")
    browser.type("#address", "1000000")
    assert f"an address is {next(iter(extents))} below" in browser.text("#address-result")


def check_other_spaces(browser):
    """Checks images and cores, which this network does not use."""
    for text, shape in (("(n, c, h, w) -> image2d_array(x = w, y = h, slice = [n, c floordiv 4], lane = c mod 4)", (3, 9, 7, 20)),
                        ("(n, c, h, w) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)", (2, 9, 11, 5)),
                        ("(n, c, h, w) -> npu(npu = c mod 8, offset = [n, c floordiv 8, [h, w] align 16])", (2, 19, 5, 7))):
        tensor = "x".join(map(str, shape)) + "xf32"
        browser.run("data.maps.push({text: arguments[0], picture: null});"
                    "openLayout({layout: 'plain', map: data.maps.length - 1, tensor: arguments[1]})", text, tensor)
        check_look_up(browser, Layout(f"#layout.map<{text}>"), shape)
        browser.click("#close")
    browser.run("openLayout({layout: 'plain', map: data.maps.length - 1, tensor: '2x0x5x7xf32'})")
    assert browser.count("#window td") == 0 and "below (2, 0, 5, 7)" in browser.text("#index-result")
    browser.click("#close")


def check_layout(browser):
    box = conversions[0]
    tiled = box if box["layout"] != "plain" else box["conversion"]["read"]
    browser.click(f"#details .chip.{tiled['layout']}")
    assert browser.run("return document.querySelector('#layout').open")
    text = graph["maps"][tiled["map"]]
    assert browser.text("#layout-text") == text
    shape = tuple(int(size) for size in tiled["tensor"].split("x")[:-1])
    layout = Layout(f"#layout.map<{text}>", element="f32")
    browser.type("#index", ", ".join("0" for _ in shape))
    browser.hover("#window tr:nth-child(3) td:nth-child(3)")
    second = [int(word) for word in browser.text("#hover").split(")")[0].strip("(").split(",")]
    assert browser.text("#hover") == f"({', '.join(map(str, second))}) at offset {layout.address(second, shape)['offset']}"
    browser.hover("#picture svg rect + rect")
    assert "at offset" in browser.text("#hover")
    browser.screenshot(folder / "layout.png")
    check_look_up(browser, layout, shape)
    browser.click("#close")
    assert not browser.run("return document.querySelector('#layout').open")


with Browser(1300, 1000) as browser:
    browser.open(page)
    check_summary(browser)
    browser.screenshot(folder / "light.png")
    check_graph(browser)
    check_tables(browser)
    check_layout(browser)
    check_other_spaces(browser)
    browser.use_scheme("dark")
    dark = browser.screenshot(folder / "dark.png")
    assert sum(dark.getpixel((5, 5))) < 150
