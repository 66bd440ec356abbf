# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check ops composed of several functions or commands, on three chips against numpy: comparisons of integers, reductions
# to one number, products with a factor without the batch, data-dependent rows of constants, slices of results, argmax,
# roundings, sines, powers, bodies with several results.
# CHECK: BM1684: [[N:[0-9]+]] results, 0 kernels
# CHECK: BM1684X: [[N]] results, 0 kernels
# CHECK: BM1688: [[N]] results, 0 kernels
import numpy as np

from npu_cases import case, dense, draw, generic, random, run_all, tensor, typed

SHAPES = [(2, 67, 5, 3), (3, 70), (1, 1, 9), (1, 3, 1, 1), (0, 4)]

# Integers that compare in all 32 bits.
INTEGERS = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
edges = np.array([0, 1, -1, 65535, 65536, -65536, 32768, -32768, 2**24 + 1, 2**24, 2**31 - 1, -2**31], np.int32)
for number, (name, of) in enumerate({("s" if name[0] in "lg" else "") + name: of for name, of in INTEGERS.items()}.items()):
    shape = SHAPES[number % len(SHAPES)]
    for sign in ("s", "u") if name[0] == "s" else ("",):
        x, y = (random.choice(edges, shape) for _ in range(2))
        a, b = (each.view(np.uint32) if sign == "u" else each for each in (x, y))
        case("  %zero = arith.constant 0.0 : f32\n  %six = arith.constant 6.0 : f32\n" +
             generic("%r", len(shape), [(f"%x{i}", typed(x)) for i in range(2)], f"""^bb0(%a: i32, %b: i32, %o: f32):
               %p = arith.cmpi {sign + name[len(sign):]}, %a, %b : i32
               %v = arith.select %p, %six, %zero : f32
               linalg.yield %v : f32""", tensor(shape)), [x, y], np.where(of(a, b), np.float32(6), np.float32(0)))
# One-hot of several classes, as i1 that become numbers.
for shape, classes in (((2, 9), 257), ((1, 1), 1), ((3, 70), 5)):
    x, size = random.integers(-1, classes, shape, np.int32), (*shape, classes)
    bits, known = tensor(size, "i1"), np.arange(classes, dtype=np.int32)
    case(f"  %c = arith.constant {dense(known)} : {typed(known)}\n" +
         generic("%b", 3, [("%x0", typed(x)), ("%c", typed(known))], "^bb0(%a: i32, %k: i32, %o: i1):\n"
                 " %p = arith.cmpi eq, %a, %k : i32\n linalg.yield %p : i1", bits, ["(a, b, c) -> (a, b)", "(a, b, c) -> (c)"]) +
         "\n" + generic("%r", 3, [("%b", bits)], "^bb0(%p: i1, %o: f32):\n %v = arith.uitofp %p : i1 to f32\n"
                        " linalg.yield %v : f32", tensor(size), init="%f"), [x], (x[..., None] == known).astype(np.float32))

# Reductions to one number, of more elements than the maximal number of commands of an op.
for shape in ((1000,), (300, 5), (2, 3, 7, 11, 2), (1,), (0, 3)):
    for kind, start, of in (("addf", 0.0, np.sum), ("maximumf", -np.inf, np.max), ("minimumf", np.inf, np.min)):
        x, dims = draw(*shape), list(range(len(shape)))
        number = {0.0: "0.0", np.inf: "0x7F800000", -np.inf: "0xFF800000"}[start]
        case(f"""  %z = arith.constant {number} : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce ins(%x0 : {tensor(shape)}) outs(%f : tensor<f32>) dimensions = {dims}
    (%a: f32, %b: f32) {{
      %m = arith.{kind} %a, %b : f32
      linalg.yield %m : f32
    }}""", [x], of(x, initial=np.float32(start)), 1e-4)

def product(spec, *shapes):
    """Adds a sum of products, by the letters of its loops."""
    factors, result = spec.split("->")
    operands, sizes = [draw(*shape) for shape in shapes], {}
    for letters, shape in zip(factors.split(","), shapes):
        sizes.update(zip(letters, shape))
    loops = result + "".join(sorted(set(factors) - set(result) - {","}))
    out = tuple(sizes[letter] for letter in result)
    maps = ", ".join(f"affine_map<({', '.join(loops)}) -> ({', '.join(each)})>" for each in (*factors.split(","), result))
    kinds = ", ".join('"parallel"' if loop in result else '"reduction"' for loop in loops)
    case(f"""  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {tensor(out)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(out)}) -> {tensor(out)}
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%x0, %x1 : {tensor(shapes[0])}, {tensor(shapes[1])}) outs(%f : {tensor(out)}) {{
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
  }} -> {tensor(out)}""", operands, np.einsum(spec, *(each.astype(np.float64) for each in operands)).astype(np.float32), 1e-4)


# Products with one factor without the batch, and a dot product.
for b, m, k, n in ((3, 5, 7, 9), (2, 70, 3, 33), (1, 1, 4, 1), (9, 64, 64, 32)):
    product("mk,bkn->bmn", (m, k), (b, k, n))
    product("bmk,kn->bmn", (b, m, k), (k, n))
    product("bmk,nk->bnm", (b, m, k), (n, k))
product("abk,kn->abn", (2, 3, 5), (5, 4))
product("amk,bkn->ambn", (2, 3, 5), (4, 5, 7))
product("k,k->", (1000,), (1000,))
product("k,kn->n", (9,), (9, 66))
product("bk,bk->b", (3, 300), (3, 300))

# Sums over several dims, which are adjacent in both factors, in one or in none.
product("akl,kln->an", (5, 3, 7), (3, 7, 9))
product("kal,kln->an", (3, 5, 7), (3, 7, 9))
product("kal,lnk->an", (3, 70, 4), (4, 66, 3))
product("bkal,lbnk->ban", (2, 3, 5, 4), (4, 2, 9, 3))
product("jkal,lnjk->na", (2, 3, 5, 4), (4, 6, 2, 3))
product("kl,lk->", (3, 50), (50, 3))

# A left factor that is broadcast over the batch without need, and whose tiles would not fit a core.
x, w, batched = draw(62, 64, 32), draw(64, 64), tensor((62, 64, 64))
case(f"""  %z = arith.constant 0.0 : f32
  %eb = tensor.empty() : {batched}
  %b = linalg.broadcast ins(%x1 : {tensor(w.shape)}) outs(%eb : {batched}) dimensions = [0]
  %e = tensor.empty() : {tensor(x.shape)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(x.shape)}) -> {tensor(x.shape)}
  %r = linalg.batch_matmul ins(%b, %x0 : {batched}, {tensor(x.shape)}) outs(%f : {tensor(x.shape)}) -> {tensor(x.shape)}""",
     [x, w], np.einsum("mk,bkn->bmn", w.astype(np.float64), x).astype(np.float32), 1e-4)

# Rows of a constant at data-dependent positions.
for ids, shape, dim in (((2, 3), (97, 36), 0), ((), (5, 7), 0), ((), (9,), 0), ((1, 1), (5, 7), 0), ((4,), (9, 70), 1), ((3,), (2, 66, 5), 1), ((0,), (3, 4), 0), ((2, 1), (1, 3), 0)):
    for element in (np.int32, np.int64):
        table, places = draw(*shape).round(3), random.integers(0, shape[dim], ids).astype(element)
        rest = [d for d in range(len(shape)) if d != dim]
        size = (*ids, *(shape[d] for d in rest))
        loops = "abcdef"[:len(size)]
        at = ", ".join("%at" if d == dim else f"%i{d}" for d in range(len(shape)))
        word = typed(places)[-4:-1]
        case(f"  %t = arith.constant {dense(table)} : {tensor(shape)}\n" + generic("%r", len(size), [("%x0", typed(places))], "\n".join([
            f"^bb0(%a: {word}, %o: f32):", f"%at = arith.index_cast %a : {word} to index",
            *(f"%i{d} = linalg.index {len(ids) + n} : index" for n, d in enumerate(rest)),
            f"%v = tensor.extract %t[{at}] : {tensor(shape)}", "linalg.yield %v : f32"]), tensor(size),
            [f"({', '.join(loops)}) -> ({', '.join(loops[:len(ids)])})"]), [places],
            np.moveaxis(table, dim, 0)[places].reshape(size) if places.size else np.zeros(size, np.float32), 0)

# The first row of a norm of the rows of a product.
for shape, columns in (((7, 5), 9), ((1, 3), 66), ((197, 4), 96)):
    x, w = draw(*shape), draw(shape[1], columns)
    rows, sums = tensor((shape[0], columns)), tensor((shape[0],))
    product_of = (x.astype(np.float64) @ w)[0]
    case(f"""  %z = arith.constant 0.0 : f32
  %n = arith.constant {columns}.0 : f32
  %ep = tensor.empty() : {rows}
  %fp = linalg.fill ins(%z : f32) outs(%ep : {rows}) -> {rows}
  %p = linalg.matmul ins(%x0, %x1 : {tensor(x.shape)}, {tensor(w.shape)}) outs(%fp : {rows}) -> {rows}
  %es = tensor.empty() : {sums}
  %fs = linalg.fill ins(%z : f32) outs(%es : {sums}) -> {sums}
  %s = linalg.reduce {{ arith.addf }} ins(%p : {rows}) outs(%fs : {sums}) dimensions = [1]
""" + generic("%c", 2, [("%p", rows), ("%s", sums)], "^bb0(%a: f32, %b: f32, %o: f32):\n %m = arith.divf %b, %n : f32\n"
              " %v = arith.subf %a, %m : f32\n linalg.yield %v : f32", rows, ["(a, b) -> (a, b)", "(a, b) -> (a)"]) +
         f"\n  %r = tensor.extract_slice %c[0, 0] [1, {columns}] [1, 1] : {rows} to {tensor((columns,))}", [x, w],
         (product_of - product_of.mean()).astype(np.float32), 1e-4)

# The index of the first largest element of a row, as a number.
for shape in ((2, 5), (1, 300), (3, 1), (66, 70)):
    x, size, out = draw(*shape).round(), tensor(shape), tensor(shape[:1])
    case(f"""  %inf = arith.constant 0xFF800000 : f32
  %n = arith.constant {shape[1]} : i64
  %et = tensor.empty() : {out}
  %ft = linalg.fill ins(%inf : f32) outs(%et : {out}) -> {out}
  %top = linalg.reduce {{ arith.maximumf }} ins(%x0 : {size}) outs(%ft : {out}) dimensions = [1]
  %ei = tensor.empty() : tensor<{shape[0]}xi64>
  %fi = linalg.fill ins(%n : i64) outs(%ei : tensor<{shape[0]}xi64>) -> tensor<{shape[0]}xi64>
  %most = linalg.generic {{indexing_maps = [affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a)>, affine_map<(a, b) -> (a)>],
                          iterator_types = ["parallel", "reduction"]}}
      ins(%x0, %top : {size}, {out}) outs(%fi : tensor<{shape[0]}xi64>) {{
    ^bb0(%a: f32, %t: f32, %o: i64):
      %i = linalg.index 1 : index
      %j = arith.index_cast %i : index to i64
      %p = arith.cmpf oeq, %a, %t : f32
      %s = arith.select %p, %j, %o : i64
      %m = arith.minsi %s, %o : i64
      linalg.yield %m : i64
  }} -> tensor<{shape[0]}xi64>
""" + generic("%r", 1, [("%most", f"tensor<{shape[0]}xi64>")],
              "^bb0(%a: i64, %o: f32):\n %v = arith.sitofp %a : i64 to f32\n linalg.yield %v : f32", out), [x],
         x.argmax(axis=1).astype(np.float32), 0)

# Extreme values of many elements that start from a number.
for shape, start in (((2, 309), 0.25), ((300,), -0.5), ((3, 7, 60), 2.0)):
    for kind, of in (("maximumf", np.max), ("minimumf", np.min)):
        x, kept = draw(*shape), shape[:1] if len(shape) > 1 else ()
        case(f"""  %z = arith.constant {start} : f32
  %e = tensor.empty() : {tensor(kept)}
  %f = linalg.fill ins(%z : f32) outs(%e : {tensor(kept)}) -> {tensor(kept)}
  %r = linalg.reduce {{ arith.{kind} }} ins(%x0 : {tensor(shape)}) outs(%f : {tensor(kept)})
      dimensions = {list(range(len(kept), len(shape)))}""", [x],
             of(x, axis=tuple(range(len(kept), len(shape))), initial=np.float32(start)))


def elementwise(body, wanted, *inputs, tolerance=1e-5):
    """Adds an op on f32; `body` defines %v from %a and %b."""
    arguments = ", ".join(f"%{name}: f32" for name, _ in zip("ab", inputs))
    kind = tensor(wanted.shape)
    case(generic("%r", wanted.ndim, [(f"%x{i}", kind) for i in range(len(inputs))],
                 f"^bb0({arguments}, %o: f32):\n {body}\n linalg.yield %v : f32", kind), list(inputs), wanted, tolerance)


# Roundings of halves, of numbers next to them, and of numbers that have no fraction.
halves = np.array([0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, -0.49999997, 0.99999994, 1, -1, 4194304.5, -4194303.5,
                   4194305.5, 8388607.5, -8388606.5, 8388609, 2**24 + 2, -3e38, 7.25, -7.75], np.float32)
for name, of in (("roundeven", np.rint), ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc),
                 ("round", lambda x: np.copysign(np.floor(np.abs(x.astype(np.float64)) + 0.5), x))):
    for x in (halves, draw(2, 67, 3) * np.float32(1000), draw(1, 1)):
        elementwise(f"%v = math.{name} %a : f32", of(x).astype(np.float32), x, tolerance=0)
angles = np.concatenate([np.linspace(-1e4, 1e4, 997), np.pi / 4 * np.arange(-16, 17)]).astype(np.float32)
for name in ("sin", "cos"):
    for x in (angles, draw(2, 3, 70), draw(1)):
        elementwise(f"%v = math.{name} %a : f32", getattr(np, name)(x.astype(np.float64)).astype(np.float32), x, tolerance=2e-6)
# Powers with integer exponents, and with any others, of positive and negative numbers and of 0.
for exponent in (4.0, 7.0, 16.0, -3.0, 1.0, 0.0):
    x = (np.abs(draw(3, 70)) + np.float32(0.5)) * np.where(random.random((3, 70)) < 0.5, -1, 1).astype(np.float32)
    elementwise(f"%k = arith.constant {exponent} : f32\n %v = math.powf %a, %k : f32",
                (x.astype(np.float64) ** exponent).astype(np.float32), x, tolerance=2e-5)
bases = np.array([0.5, 2, 3.25, 0, 0, 1, -2, -2, -1.5, -1.5, 7, 7], np.float32)
exponents = np.array([1.5, -2.25, 0, 0, 2, 9, 3, 2, -3, 0, 0.333, 5], np.float32)
elementwise("%v = math.powf %a, %b : f32", (bases.astype(np.float64) ** exponents).astype(np.float32), bases, exponents,
            tolerance=2e-5)
# Two results of one body, one of which the other reads, and of which both read a third value.
for shape in ((2, 67, 5), (1, 1), (3, 130)):
    x, y, kind = draw(*shape), draw(*shape), tensor(shape)
    of = 1 / (1 + np.exp(-x.astype(np.float64)))
    dims = ", ".join("abc"[:len(shape)])
    case(f"""  %e = tensor.empty() : {kind}
  %p:2 = linalg.generic {{indexing_maps = [{", ".join([f"affine_map<({dims}) -> ({dims})>"] * 4)}],
      iterator_types = [{", ".join(['"parallel"'] * len(shape))}]}} ins(%x0, %x1 : {kind}, {kind}) outs(%e, %e : {kind}, {kind}) {{
    ^bb0(%a: f32, %b: f32, %o: f32, %q: f32):
      %one = arith.constant 1.0 : f32
      %n = arith.negf %a : f32
      %x = math.exp %n : f32
      %d = arith.addf %x, %one : f32
      %s = arith.divf %one, %d : f32
      %m = arith.mulf %s, %b : f32
      %t = arith.subf %m, %s : f32
      linalg.yield %m, %t : f32, f32
  }} -> ({kind}, {kind})
  %r = linalg.sub ins(%p#0, %p#1 : {kind}, {kind}) outs(%e : {kind}) -> {kind}""", [x, y], of.astype(np.float32), 1e-5)
# Rows of nothing but an infinity, whose extreme value is finite on the chip.
for kind, of, bound, predicate in (("maximumf", np.max, -np.inf, "oeq"), ("minimumf", np.min, np.inf, "oeq"),
                                   ("maximumf", np.max, -np.inf, "one")):
    x = draw(3, 5, 9)
    x[0, 1], x[2, 0, 3] = bound, bound
    number, rows = {np.inf: "0x7F800000", -np.inf: "0xFF800000"}[bound], tensor((3, 5))
    body = f"""^bb0(%a: f32, %o: f32):
      %p = arith.cmpf {predicate}, %a, %z : f32
      %v = arith.select %p, %six, %a : f32
      linalg.yield %v : f32"""
    extreme = of(x, axis=2)
    wanted = np.where((extreme == bound) == (predicate == "oeq"), np.float32(6), extreme)
    if predicate == "one":
        wanted[np.isinf(wanted)] = -np.finfo(np.float32).max
    case(f"""  %z = arith.constant {number} : f32
  %six = arith.constant 6.0 : f32
  %h = tensor.empty() : {rows}
  %f = linalg.fill ins(%z : f32) outs(%h : {rows}) -> {rows}
  %m = linalg.reduce {{ arith.{kind} }} ins(%x0 : {tensor(x.shape)}) outs(%f : {rows}) dimensions = [2]
""" + generic("%r", 2, [("%m", rows)], body, rows), [x], wanted)
# More work memory than a core has, for a tensor of five dims.
x = draw(1, 3, 31, 31, 31)
elementwise("%v = math.exp %a : f32", np.exp(x), x, tolerance=1e-4)

run_all()
