"""Programs that read and write tensors at data-dependent indices, in and out of bounds.

A case has a module, its inputs, and the results by NumPy or the text of the error that ends the program.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Case(NamedTuple):
    name: str
    text: str
    inputs: list[Array]
    wanted: list[Array] | str


def _rows(rows: str, element: str, count: str, body: str) -> str:
    """Returns a lookup of rows of `rows` x 4 numbers by `count` integers."""
    sizes = "" if count != "?" else "%n"
    return f"""
#ids = affine_map<(a, b) -> (a)>
#all = affine_map<(a, b) -> (a, b)>
func.func @main(%t: tensor<{rows}x4xf32>, %ids: tensor<{count}x{element}>) -> tensor<{count}x4xf32> {{
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : {element}
  %n = tensor.dim %ids, %c0 : tensor<{count}x{element}>
  %rows = tensor.dim %t, %c0 : tensor<{rows}x4xf32>
  %size = arith.index_cast %rows : index to {element}
  %e = tensor.empty({sizes}) : tensor<{count}x4xf32>
  %r = linalg.generic {{indexing_maps = [#ids, #all], iterator_types = ["parallel", "parallel"]}}
      ins(%ids : tensor<{count}x{element}>) outs(%e : tensor<{count}x4xf32>) {{
  ^bb0(%id: {element}, %o: f32):
    {body}
    %i = arith.index_cast %at : {element} to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%i, %j] : tensor<{rows}x4xf32>
    linalg.yield %v : f32
  }} -> tensor<{count}x4xf32> loc("emb")
  return %r : tensor<{count}x4xf32>
}}
"""


PLAIN = "%at = arith.addi %id, %zero : {0}"
WRAPPED = """%is = arith.cmpi slt, %id, %zero : {0}
    %more = arith.addi %id, %size : {0}
    %at = arith.select %is, %more, %id : {0}"""


def says(index: int, size: int, node: str = "emb", dim: int = 0) -> str:
    return (f"node '{node}': " if node else "") + f"index {index} is out of range for dim {dim} of size {size}"


def lookups(dynamic: bool = True) -> Iterator[Case]:
    """Yields lookups of rows."""
    for element, width in ("i32", "i4"), ("i64", "i8"):
        for rows, count in [("10", "5")] + [("?", "?")] * dynamic:
            table = np.arange(40, dtype="f4").reshape(10, 4)
            for body, name, least in (PLAIN, "plain", 0), (WRAPPED, "wrapped", -10):
                text = _rows(rows, element, count, body.format(element))
                stem = f"{name} {element} {rows}"
                inside = np.array([9, 0, least, 3, 7], width)
                yield Case(f"{stem} in range", text, [table, inside], [table[inside]])
                # The error states the wrapped value of a negative index.
                for wrong, found in (10, 10), (1000, 1000), (least - 1, -1), (least - 77, -77):
                    ids = inside.copy()
                    ids[3] = wrong
                    yield Case(f"{stem} at {wrong}", text, [table, ids], says(found, 10))
            if dynamic and rows == "?":
                text = _rows(rows, element, count, PLAIN.format(element))
                none = np.zeros((0, 4), "f4")
                yield Case(f"{stem} of nothing", text, [none, np.zeros(0, width)], [none])
                yield Case(f"{stem} without ids", text, [table, np.zeros(0, width)], [none])
                yield Case(f"{stem} without rows", text, [none, np.zeros(2, width)], says(0, 0))


def nested() -> Iterator[Case]:
    """Yields nested lookups in a dim that is longer than its loop."""
    text = """
func.func @main(%t: tensor<1x3x4x4xf32>, %i: tensor<3x2xi32>) -> tensor<1x2x3xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<1x2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<1x2x3xf32>) {
  ^bb0(%o: f32):
    %k = linalg.index 2 : index
    %b = linalg.index 1 : index
    %x = tensor.extract %i[%k, %c0] : tensor<3x2xi32>
    %y = arith.index_cast %x : i32 to index
    %z = tensor.extract %t[%c0, %y, %y, %b] : tensor<1x3x4x4xf32>
    linalg.yield %z : f32
  } -> tensor<1x2x3xf32> loc("twice")
  return %r : tensor<1x2x3xf32>
}
"""
    table = np.arange(48, dtype="f4").reshape(1, 3, 4, 4)
    # Indices that the program does not read may have any value.
    ids = np.array([[1, 99], [2, -99], [0, 99]], "i4")
    k = ids[:, 0]
    yield Case("nested in range", text, [table, ids], [table[0, k, k, :2].T[None]])
    for wrong in 3, -1:
        bad = ids.copy()
        bad[1, 0] = wrong
        yield Case(f"nested at {wrong}", text, [table, bad], says(wrong, 3, "twice", 1))


def loops() -> Iterator[Case]:
    """Yields loops that write and read elements and slices at data-dependent indices."""
    scatter = """
func.func @main(%x: tensor<6xf32>, %ids: tensor<?xi64>, %u: tensor<?xf32>) -> tensor<6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<6xf32> {
    %id = tensor.extract %ids[%i] : tensor<?xi64>
    %at = arith.index_cast %id : i64 to index
    %v = tensor.extract %u[%i] : tensor<?xf32>
    %z = tensor.insert %v into %y[%at] : tensor<6xf32> loc("put")
    scf.yield %z : tensor<6xf32>
  }
  return %r : tensor<6xf32>
}
"""
    x, u = np.zeros(6, "f4"), np.arange(1, 4, dtype="f4")
    y = x.copy()
    y[[5, 0, 2]] = u
    yield Case("scatter in range", scatter, [x, np.array([5, 0, 2]), u], [y])
    for wrong in 6, -1, 2**40, -2**63:
        yield Case(f"scatter at {wrong}", scatter, [x, np.array([5, wrong, 2]), u], says(wrong, 6, "put"))
    row = """
func.func @main(%x: tensor<5x4xf32>, %at: tensor<1xi32>, %u: tensor<2x4xf32>) -> (tensor<3x4xf32>, tensor<5x4xf32>) {
  %c0 = arith.constant 0 : index
  %id = tensor.extract %at[%c0] : tensor<1xi32>
  %i = arith.index_cast %id : i32 to index
  %r = tensor.extract_slice %x[%i, 0] [3, 4] [1, 1] : tensor<5x4xf32> to tensor<3x4xf32> loc("cut")
  %s = tensor.insert_slice %u into %x[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<5x4xf32> loc("put")
  return %r, %s : tensor<3x4xf32>, tensor<5x4xf32>
}
"""
    x, u = np.arange(20, dtype="f4").reshape(5, 4), -np.ones((2, 4), "f4")
    for at in 0, 2:
        y = x.copy()
        y[at:at + 2] = u
        yield Case(f"slice at {at}", row, [x, np.array([at], "i4"), u], [x[at:at + 3], y])
    for at, found in (3, 5), (-1, -1), (2**31 - 1, 2**31 - 1):
        yield Case(f"slice at {at}", row, [x, np.array([at], "i4"), u], says(found, 5, "cut"))
