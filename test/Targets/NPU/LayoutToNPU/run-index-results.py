# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Check i64 results on an NPU: the index of a largest element, alone, with the element and of windows, and tokens that are
# appended to those of an argument and keep all their bits, on several chips against numpy.
import numpy as np

from npu_cases import run_functions

random = np.random.default_rng(23)


def largest(x, rows, columns, prefix, word="i64"):
    """Returns the text of %{prefix}most, the argmax of each row."""
    size, out, words = (f"tensor<{text}>" for text in (f"{rows}x{columns}xf32", f"{rows}xf32", f"{rows}x{word}"))
    return f"""
  %{prefix}et = tensor.empty() : {out}
  %{prefix}ft = linalg.fill ins(%inf : f32) outs(%{prefix}et : {out}) -> {out}
  %{prefix}top = linalg.reduce {{ arith.maximumf }} ins({x} : {size}) outs(%{prefix}ft : {out}) dimensions = [1]
  %{prefix}ei = tensor.empty() : {words}
  %{prefix}fi = linalg.fill ins(%none : {word}) outs(%{prefix}ei : {words}) -> {words}
  %{prefix}most = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
                          iterator_types = ["parallel", "reduction"]}}
      ins({x}, %{prefix}top : {size}, {out}) outs(%{prefix}fi : {words}) {{
    ^bb0(%a: f32, %t: f32, %o: {word}):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to {word}
      %p = arith.cmpf oeq, %a, %t : f32
      %s = arith.select %p, %j, %o : {word}
      %m = arith.minsi %s, %o : {word}
      linalg.yield %m : {word}
  }} -> {words}"""


def both(condition, worst, none, shape, word):
    """The extreme element along dim 1 of three, and its index."""
    size, out, words = (f"tensor<{text}>" for text in ("x".join(map(str, shape)) + "xf32", f"{shape[0]}x{shape[2]}xf32",
                                                       f"{shape[0]}x{shape[2]}x{word}"))
    return f"""func.func @main(%x: {size}) -> ({words}, {out}) {{
  %worst = arith.constant {worst} : f32
  %none = arith.constant {none} : {word}
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%worst : f32) outs(%e : {out}) -> {out}
  %g = tensor.empty() : {words}
  %h = linalg.fill ins(%none : {word}) outs(%g : {words}) -> {words}
  %r:2 = linalg.generic {{indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (a, c)>,
                                          affine_map<(a, b, c) -> (a, c)>], iterator_types = ["parallel", "reduction", "parallel"]}}
      ins(%x : {size}) outs(%h, %f : {words}, {out}) {{
  ^bb0(%a: f32, %place: {word}, %best: f32):
    {condition}
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to {word}
    %s = arith.select %is, %j, %place : {word}
    %t = arith.select %is, %a, %best : f32
    linalg.yield %s, %t : {word}, f32
  }} -> ({words}, {out})
  return %r#0, %r#1 : {words}, {out}
}}"""


def with_nan(predicate, takes_last=False):
    first = "" if takes_last else "\n    %q = arith.cmpf oeq, %best, %best : f32\n    %v = arith.andi %u, %q : i1"
    return f"""%p = arith.cmpf {predicate}, %a, %best : f32
    %u = arith.cmpf une, %a, %a : f32{first}
    %is = arith.ori %p, %{"u" if takes_last else "v"} : i1"""


def find(x, is_better, worst, none):
    """What a body with one comparison yields."""
    best, place = np.full((x.shape[0], x.shape[2]), worst, np.float32), np.full((x.shape[0], x.shape[2]), none)
    for i in range(x.shape[1]):
        better = is_better(x[:, i], best)
        best, place = np.where(better, x[:, i], best), np.where(better, i, place)
    return place, best


ORDERS = {"ogt": np.greater, "oge": np.greater_equal, "olt": np.less, "ole": np.less_equal}


def windows(shape, kernel, stride):
    """The places of the largest elements of windows in the whole tensor, as a pool of ONNX has them."""
    rows, columns = ((size - kernel) // stride + 1 for size in shape[2:])
    out, words = (f"tensor<{shape[0]}x{shape[1]}x{rows}x{columns}x{element}>" for element in ("f32", "i64"))
    size, taps, plane = "tensor<" + "x".join(map(str, shape)) + "xf32>", f"tensor<{kernel}x{kernel}xf32>", shape[2] * shape[3]
    loops = "(n, c, h, w, i, j)"
    return f"""func.func @main(%x: {size}) -> ({out}, {words}) {{
  %inf = arith.constant 0xFF800000 : f32
  %most = arith.constant 9223372036854775807 : i64
  %step = arith.constant {stride} : index
  %width = arith.constant {shape[3]} : index
  %channels = arith.constant {shape[1]} : index
  %plane = arith.constant {plane} : index
  %e = tensor.empty() : {out}
  %f = linalg.fill ins(%inf : f32) outs(%e : {out}) -> {out}
  %k = tensor.empty() : {taps}
  %top = linalg.pooling_nchw_max {{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}
      ins(%x, %k : {size}, {taps}) outs(%f : {out}) -> {out}
  %g = tensor.empty() : {words}
  %l = linalg.fill ins(%most : i64) outs(%g : {words}) -> {words}
  %p = linalg.generic {{indexing_maps = [affine_map<{loops} -> (n, c, h * {stride} + i, w * {stride} + j)>, affine_map<{loops} -> (i, j)>,
                                        affine_map<{loops} -> (n, c, h, w)>, affine_map<{loops} -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%x, %k, %top : {size}, {taps}, {out}) outs(%l : {words}) {{
  ^bb0(%a: f32, %b: f32, %t: f32, %o: i64):
    %is = arith.cmpf oeq, %a, %t : f32
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %i = linalg.index 4 : index
    %j = linalg.index 5 : index
    %h1 = arith.muli %h, %step : index
    %h2 = arith.addi %h1, %i : index
    %h3 = arith.muli %h2, %width : index
    %w1 = arith.muli %w, %step : index
    %w2 = arith.addi %w1, %j : index
    %s1 = arith.addi %h3, %w2 : index
    %s2 = arith.index_cast %s1 : index to i64
    %s3 = arith.select %is, %s2, %most : i64
    %s4 = arith.minsi %o, %s3 : i64
    linalg.yield %s4 : i64
  }} -> {words}
  %q = linalg.generic {{indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins(%p : {words}) outs(%g : {words}) {{
  ^bb0(%a: i64, %o: i64):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %s1 = arith.muli %n, %channels : index
    %s2 = arith.addi %s1, %c : index
    %s3 = arith.muli %s2, %plane : index
    %s4 = arith.index_cast %a : i64 to index
    %s5 = arith.addi %s3, %s4 : index
    %s6 = arith.index_cast %s5 : index to i64
    linalg.yield %s6 : i64
  }} -> {words}
  return %top, %q : {out}, {words}
}}"""


for chip_number, chip in enumerate(('"BM1684"', '"BM1688"', "npus = 3, bytes_per_npu = 16384, eu_bytes = 64")):
    for rows, columns in ((1, 97), (3, 300), (5, 1), (1, 1), (0, 5), (70, 4)):
        x = random.standard_normal((rows, columns)).astype(np.float32).round()
        word = "i32" if rows == 3 else "i64"
        head = f"""
  %inf = arith.constant 0xFF800000 : f32
  %none = arith.constant {columns} : {word}"""
        text = f"""func.func @main(%x: tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{word}> {{{head}{largest("%x", rows, columns, "", word)}
  return %most : tensor<{rows}x{word}>
}}"""
        output, = run_functions(text, chip, x)
        assert output.dtype == ("int32" if rows == 3 else "int64")
        np.testing.assert_array_equal(output, x.argmax(axis=1))

    # Two iterations: the second one looks up the result of the first one.
    rows, columns = 2, 11
    table = random.standard_normal((columns, columns)).astype(np.float32).round(3)
    tokens = random.integers(-2**63, 2**63 - 1, (rows, 4))
    tokens[:, 0] = [7, 3]
    dense = np.array2string(table, separator=",", threshold=10**6).replace("\n", "")
    text = f"""func.func @main(%tokens: tensor<{rows}x4xi64>) -> (tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>) {{
  %inf = arith.constant 0xFF800000 : f32
  %none = arith.constant {columns} : i64
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = arith.constant dense<{dense}> : tensor<{columns}x{columns}xf32>
  %e = tensor.empty() : tensor<{rows}x{columns}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  %r:2 = scf.for %n = %c0 to %c2 step %c1 iter_args(%all = %tokens, %last = %f) -> (tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>) {{
    %token = tensor.extract_slice %all[0, %n] [{rows}, 1] [1, 1] : tensor<{rows}x4xi64> to tensor<{rows}xi64>
    %row = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a, b)>], iterator_types = ["parallel", "parallel"]}}
        ins(%token : tensor<{rows}xi64>) outs(%e : tensor<{rows}x{columns}xf32>) {{
      ^bb0(%a: i64, %o: f32):
        %at = arith.index_cast %a : i64 to index
        %j = linalg.index 1 : index
        %v = tensor.extract %table[%at, %j] : tensor<{columns}x{columns}xf32>
        linalg.yield %v : f32
    }} -> tensor<{rows}x{columns}xf32>{largest("%row", rows, columns, "")}
    %next = arith.addi %n, %c1 : index
    %grown = tensor.insert_slice %most into %all[0, %next] [{rows}, 1] [1, 1] : tensor<{rows}xi64> into tensor<{rows}x4xi64>
    scf.yield %grown, %row : tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>
  }}
  return %r#0, %r#1 : tensor<{rows}x4xi64>, tensor<{rows}x{columns}xf32>
}}"""
    wanted = tokens.copy()
    for step in range(2):
        last = table[wanted[:, step]]
        wanted[:, step + 1] = last.argmax(axis=1)
    grown, row = run_functions(text, chip, tokens)
    np.testing.assert_array_equal(grown, wanted)
    np.testing.assert_array_equal(row, last)

    # With the element, of which there are many equal ones; of a NaN the index is in range.
    for number, shape in enumerate(((2, 67, 5), (3, 10, 1), (1, 1, 3), (70, 3, 2))):
        x = random.integers(-2, 3, shape).astype(np.float32)
        # The chips share the orders among them.
        for order_number in (number + chip_number, number + chip_number + 2):
            predicate, order = list(ORDERS.items())[order_number % len(ORDERS)]
            word, worst = ("i32", "i64")[order_number % 2], -np.inf if predicate[1] == "g" else np.inf
            text, start = ("0xFF800000" if worst < 0 else "0x7F800000"), 0
            body = with_nan(predicate, "e" in predicate)
            if order_number == number + chip_number + 2:
                worst, text, start, body = 1, 1.0, 77, f"%is = arith.cmpf {predicate}, %a, %best : f32"
            found = run_functions(both(body, text, start, shape, word), chip, x)
            for output, wanted in zip(found, find(x, order, worst, start), strict=True):
                np.testing.assert_array_equal(output, wanted)
    x = np.full((2, 9, 3), np.nan, np.float32)
    x[0, 4:, 1] = 7
    places, _ = run_functions(both(with_nan("ogt"), "0xFF800000", 0, x.shape, "i64"), chip, x)
    assert places.min() >= 0 and places.max() < 9 and places[1].max() == 0

    for shape, kernel, stride in (((2, 6, 6, 8), 2, 2), ((1, 67, 9, 7), 3, 2), ((1, 1, 4, 4), 4, 1)):
        x = random.integers(-9, 9, shape).astype(np.float32)
        under = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))[:, :, ::stride, ::stride]
        under = under.reshape(*under.shape[:4], kernel * kernel)
        at = under.argmax(4)
        n, c, h, w = np.indices(at.shape)
        top, places = run_functions(windows(shape, kernel, stride), chip, x)
        np.testing.assert_array_equal(top, under.max(4))
        np.testing.assert_array_equal(places, ((n * shape[1] + c) * shape[2] + h * stride + at // kernel) * shape[3] +
                                      w * stride + at % kernel)
