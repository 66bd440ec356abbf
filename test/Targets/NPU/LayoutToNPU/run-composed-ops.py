# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t | FileCheck %s
# Check ops composed of several functions or commands, on three chips against numpy: comparisons of integers, reductions
# to one number, products with a factor without the batch, data-dependent rows of constants, slices of results, argmax.
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

run_all()
