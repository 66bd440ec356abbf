# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
# Check that names, types and locations of a module are escaped in graphs, cost tables and rules.
import json
import pathlib
import re
import sys

from layout_mlir.tools import run_tool

folder = pathlib.Path(sys.argv[1])
EVIL = "\\22]; evil [label=\\22<img src=x>*/\\5C\\22\\0A$(id)\\FF\\5C"
module = folder / "module.mlir"
module.write_text(f"""#blocked = #layout.blocked<"NC" to "NC4c">
module {{
  func.func @"{EVIL}"(%x: tensor<4x8xf32>, %o: tensor<2x!evil<"{EVIL}">>) -> tensor<4x8xf32> {{
    %c = layout.convert %x : tensor<4x8xf32> to tensor<4x8xf32, #blocked> loc("{EVIL}")
    %r = "{EVIL}.op"(%c, %o) : (tensor<4x8xf32, #blocked>, tensor<2x!evil<"{EVIL}">>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }}
}}
""")
target = "target={#layout.cpu<lanes = 8>}"
graph, table, rules = folder / "graph.dot", folder / "cost.json", folder / "rules.txt"
run_tool("layout-opt", "--allow-unregistered-dialect", module, "-o", "/dev/null",
         f"--layout-print-graph={target} output={graph}",
         f"--layout-print-cost={target} format=json output={table}",
         f"--layout-print-rules=output={rules}")
text = graph.read_bytes().decode()
# A string ends at the first unescaped quote; the remaining text consists of words.
outside = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
assert '""' in outside and "evil" in text
for word in ("evil", "img", "$(", "*/", "\\"):
    assert word not in outside, outside
assert outside.count("{") == outside.count("}") and not re.search(r'"[^"]', outside.replace('""', ""))
rows = json.loads(table.read_bytes().decode())["conversions"]["rows"]
assert len(rows) == 1 and "evil" in rows[0]["location"] and '"' in rows[0]["location"], rows
# One line per op, in printable text.
lines = rules.read_bytes().decode("ascii").splitlines()
starts = ['func.func @"', "  %0 = layout.convert ", '  %1 = "', "  func.return "]
assert len(lines) == 4 and all(map(str.startswith, lines, starts)), lines
assert all(map(str.isprintable, lines)), lines
