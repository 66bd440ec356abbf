# RUN: rm -rf %t && mkdir %t
# RUN: env CXX=%host_cxx %python %s %t
# Rows of tables with any 32 bits in their elements, selected by data, on several chips against numpy:
# more rows than are operands, in arguments, computed tensors and constants.
import numpy as np

from npu_cases import run_functions

random = np.random.default_rng(55)
SPECIAL = np.array([0x80000000, 0x7F800000, 0xFF800000, 0x7FC12345, 0xFF812345, 1, 0x807FFFFF, 0x7F7FFFFF], np.uint32)


def draw(shape, element="f4"):
    """Elements of all 32-bit patterns, with infinities, NaN, zeros of both signs and denormals."""
    bits = random.integers(0, 2**32, shape, np.uint32)
    return np.where(random.random(shape) < 0.3, random.choice(SPECIAL, shape), bits).astype(np.uint32).view(element)


def tensor(x):
    """The type of an array."""
    element = {"f4": "f32", "i4": "i32", "i8": "i64"}[x.dtype.str[1:]]
    return f"tensor<{''.join(f'{size}x' for size in x.shape)}{element}>"


def read(chip, table, ids, sizes, maps, at, wanted, wraps=False, constant=False, computed=False):
    """Reads table[at] over loops of `sizes`; `at` has names of loops and %at0, .. of the elements of `ids`."""
    names = [f"i{loop}" for loop in range(len(sizes))]
    element = tensor(table)[-4:-1]
    result = tensor(np.empty(sizes, table.dtype))
    lines = [f"%{name} = linalg.index {loop} : index" for loop, name in enumerate(names)]
    for number, rows in enumerate(ids):
        word, name = tensor(rows)[-4:-1], f"%k{number}"
        if wraps:
            lines += [f"%z{number} = arith.constant 0 : {word}", f"%n{number} = arith.constant {table.shape[0]} : {word}",
                      f"%l{number} = arith.cmpi slt, {name}, %z{number} : {word}",
                      f"%s{number} = arith.addi {name}, %n{number} : {word}",
                      f"%w{number} = arith.select %l{number}, %s{number}, {name} : {word}"]
            name = f"%w{number}"
        lines.append(f"%at{number} = arith.index_cast {name} : {word} to index")
    arguments = [f"%k{n}: {tensor(rows)[-4:-1]}" for n, rows in enumerate(ids)] + [f"%o: {element}"]
    places = ", ".join(f"affine_map<({', '.join(names)}) -> ({each})>" for each in (*maps, ", ".join(names)))
    kinds = ", ".join(['"parallel"'] * len(sizes))
    inputs = [*ids] if constant else [table, *ids]
    head = [] if not constant else [
        f'%t = arith.constant dense<"0x{table.tobytes().hex().upper()}"> : {tensor(table)}']
    if computed:
        head = [f"%te = tensor.empty() : {tensor(table)}",
                f"%t = linalg.negf ins(%x : {tensor(table)}) outs(%te : {tensor(table)}) -> {tensor(table)}"]
    signature = ", ".join([] if constant else [f"{'%x' if computed else '%t'}: {tensor(table)}"] +
                          [f"%ids{n}: {tensor(rows)}" for n, rows in enumerate(ids)])
    if constant:
        signature = ", ".join(f"%ids{n}: {tensor(rows)}" for n, rows in enumerate(ids))
    text = "\n  ".join([
        f"func.func @main({signature}) -> {result} {{", *head, f"%e = tensor.empty() : {result}",
        f"%r = linalg.generic {{indexing_maps = [{places}], iterator_types = [{kinds}]}}",
        f"  ins({', '.join(f'%ids{n}' for n in range(len(ids)))} : {', '.join(map(tensor, ids))}) outs(%e : {result}) {{",
        f"^bb0({', '.join(arguments)}):", *lines, f"%v = tensor.extract %t[{at}] : {tensor(table)}",
        f"linalg.yield %v : {element}", f"}} -> {result}", f"return %r : {result}"]) + "\n}\n"
    output, = run_functions(text, chip, *inputs)
    wanted = wanted.view(np.uint32)
    if computed:  # the negation of zeros and denormals is +0
        wanted = np.where(wanted & 0x7F800000, wanted ^ np.uint32(0x80000000), 0)
    np.testing.assert_array_equal(output.view(np.uint32), wanted)


def pick(rows, shape, element="i4", low=0):
    ids = np.asarray(random.integers(low, rows, shape).astype(element))
    ids.reshape(-1)[:1] = rows - 1
    return ids


for chip in ('"BM1684"', '"BM1688"', "npus = 3, bytes_per_npu = 32768, eu_bytes = 64"):
    # Embeddings; the names of a vector; a middle dim; negative indices from the end; one index.
    table, ids = draw((301, 5)), pick(301, (2, 3), "i8")
    read(chip, table, [ids], (2, 3, 5), ["i0, i1"], "%at0, %i2", table[ids])
    read(chip, table, [ids], (2, 3, 5), ["i0, i1"], "%at0, %i2", table[ids], constant=True)
    read(chip, table, [ids], (2, 3, 5), ["i0, i1"], "%at0, %i2", table[ids], computed=True)
    table, ids = draw((97,)), pick(97, (7,))
    read(chip, table, [ids], (7,), ["i0"], "%at0", table[ids])
    table, ids = draw((3, 70, 4)), pick(70, (5,))
    read(chip, table, [ids], (3, 5, 4), ["i1"], "%i0, %at0, %i2", table[:, ids])
    table, ids = draw((66, 1)), pick(66, (9,), "i8", -66)
    read(chip, table, [ids], (9, 1), ["i0"], "%at0, %i1", table[ids], wraps=True)
    table, ids = draw((65, 6)), pick(65, ())
    read(chip, table, [ids], (6,), [""], "%at0, %i0", table[ids])
    table, ids = draw((80, 3), "i4"), pick(80, (4,), "i8")
    read(chip, table, [ids], (4, 3), ["i0"], "%at0, %i1", table[ids])
    # An element of each column, of a column at an index, and of two dims at two indices.
    table, ids = draw((90, 5)), pick(90, (4, 5))
    read(chip, table, [ids], (4, 5), ["i0, i1"], "%at0, %i1", np.take_along_axis(table, ids, 0))
    read(chip, table, [ids], (4, 5), ["i0, 2"], "%at0, %i1", table[ids[:, 2]])
    table, ids, more = draw((13, 3, 9)), pick(13, (6,)), pick(9, (6, 2), "i8")
    read(chip, table, [ids, more], (6, 2, 3), ["i0", "i0, i1"], "%at0, %i2, %at1", table.swapaxes(1, 2)[ids[:, None], more])
    table = draw((13, 9))
    read(chip, table, [ids, more], (6, 2), ["i0", "i0, i1"], "%at0, %at1", table[ids[:, None], more])
    read(chip, table, [ids, more], (6, 2), ["i0", "i0, i1"], "%at0, %at1", table[ids[:, None], more], constant=True)
