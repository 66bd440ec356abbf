"""Loops over tensors, written as Python functions, as text of MLIR.

    def running_sum(x):
        y = empty(x, shape(x))
        total = 0
        for i in range(size(x, 0)):
            total += x[i]
            y[i] = total
        return y

`translate(running_sum, [Type("f32", (None,))], ..)` reads the source of the function and gives
scf.for with `total` and `y` as what it carries, tensor.extract and tensor.insert. What is known when
it is translated (an attribute, a rank, a size) is computed then, and an `if` of it takes one branch.

    x[i, j], y[i, j] = v            an element, as `index`, f32 (f64 where an argument is) or i1
    for i in range(..)              scf.for; it carries what its body assigns and was there before
    for index in indices(sizes)     a nest of them; `index` is a tuple
    for d, i in enumerate(index)    a sequence of known length is unrolled, as in [.. for d in ..]
    if, .. if .. else ..            scf.if; both branches assign the same names
    a and b, not a                  both sides are computed
    + - * / // < == min() ..        on integers, or on floats; integers become floats beside floats
    return                          at the end

Other functions of the same module are translated in place. A tensor is a value: `y[i] = v` makes a
new one of the same name, and bufferization makes that a store.
"""

import ast
import builtins
import dataclasses
import functools
import inspect
import operator
import textwrap

_STATIC = (int, float, bool, str, tuple, list, type(None))


@dataclasses.dataclass(frozen=True)
class Type:
    """Of a tensor; a size that is None is open. `unsigned`: how an integer is read."""
    element: str
    sizes: tuple
    unsigned: bool = False

    def __str__(self):
        return "tensor<" + "".join(f"{'?' if size is None else size}x" for size in self.sizes) + self.element + ">"


@dataclasses.dataclass(frozen=True)
class Value:
    """A tensor or a scalar of the program: its name in the text and its type, a Type or a word."""
    name: str
    type: object


# The operation on integers and on floats.
_BINARY = {
    ast.Add: (operator.add, "arith.addi", "arith.addf"),
    ast.Sub: (operator.sub, "arith.subi", "arith.subf"),
    ast.Mult: (operator.mul, "arith.muli", "arith.mulf"),
    ast.Div: (operator.truediv, None, "arith.divf"),
    ast.FloorDiv: (operator.floordiv, "arith.floordivsi", None),
    ast.Mod: (operator.mod, "arith.remsi", None),  # of what is not negative
    ast.And: (operator.and_, "arith.andi", None),
    ast.Or: (operator.or_, "arith.ori", None),
    "min": (min, "arith.minsi", "arith.minimumf"),
    "max": (max, "arith.maxsi", "arith.maximumf"),
}
_COMPARE = {
    ast.Lt: (operator.lt, "slt", "olt"), ast.LtE: (operator.le, "sle", "ole"),
    ast.Gt: (operator.gt, "sgt", "ogt"), ast.GtE: (operator.ge, "sge", "oge"),
    ast.Eq: (operator.eq, "eq", "oeq"), ast.NotEq: (operator.ne, "ne", "une"),
}
_UNARY = {"floor": "math.floor", "ceil": "math.ceil", "roundeven": "math.roundeven"}


class _Writer:
    """Writes operations. Every method takes values or what is known, and gives values."""

    def __init__(self, float_type):
        self.float, self.lines, self.count = float_type, [], 0

    def emit(self, text, *types):
        names = []
        for _ in types:
            names.append(f"%{self.count}")
            self.count += 1
        self.lines.append((", ".join(names) + " = " if names else "") + text)
        values = [Value(name, type) for name, type in zip(names, types)]
        return values[0] if len(values) == 1 else values

    def value(self, x):
        """What is known, as a constant."""
        if isinstance(x, bool):
            return self.emit(f"arith.constant {str(x).lower()}", "i1")
        if isinstance(x, int):
            return self.emit(f"arith.constant {x} : index", "index")
        if isinstance(x, float):
            return self.emit(f"arith.constant {x:.17e} : {self.float}", self.float)
        return x

    def as_float(self, x):
        x = self.value(x)
        if x.type == "index":
            word = self.emit(f"arith.index_cast {x.name} : index to i64", "i64")
            return self.emit(f"arith.sitofp {word.name} : i64 to {self.float}", self.float)
        return x

    def as_index(self, x):
        """A float that is whole, or a bit."""
        x = self.value(x)
        if x.type == "i1":
            return self.emit(f"arith.index_castui {x.name} : i1 to index", "index")
        if x.type == self.float:
            word = self.emit(f"arith.fptosi {x.name} : {self.float} to i64", "i64")
            return self.emit(f"arith.index_cast {word.name} : i64 to index", "index")
        return x

    def same(self, a, b):
        """Both values of one type: beside a float, an integer is one."""
        a, b = self.value(a), self.value(b)
        return (self.as_float(a), self.as_float(b)) if self.float in (a.type, b.type) else (a, b)

    def binary(self, kind, a, b):
        function, on_integers, on_floats = _BINARY[kind]
        if isinstance(a, _STATIC) and isinstance(b, _STATIC):
            return function(a, b)
        if on_integers is None:
            a, b = self.as_float(a), self.as_float(b)
        a, b = self.same(a, b)
        name = on_floats if a.type == self.float else on_integers
        return self.emit(f"{name} {a.name}, {b.name} : {a.type}", a.type)

    def compare(self, kind, a, b):
        function, on_integers, on_floats = _COMPARE[kind]
        if isinstance(a, _STATIC) and isinstance(b, _STATIC):
            return function(a, b)
        a, b = self.same(a, b)
        name, predicate = ("arith.cmpf", on_floats) if a.type == self.float else ("arith.cmpi", on_integers)
        return self.emit(f"{name} {predicate}, {a.name}, {b.name} : {a.type}", "i1")

    # ------------------------------------------------------------------- tensors

    def load(self, tensor, indices):
        element = tensor.type.element
        places = ", ".join(self.value(index).name for index in indices)
        x = self.emit(f"tensor.extract {tensor.name}[{places}] : {tensor.type}", element)
        if element in ("f16", "bf16", "f32", "f64"):
            return x if element == self.float else self.emit(
                f"arith.extf {x.name} : {element} to {self.float}", self.float)
        if element == "i1":
            return x
        cast = "index_castui" if tensor.type.unsigned else "index_cast"
        return self.emit(f"arith.{cast} {x.name} : {element} to index", "index")

    def store(self, x, tensor, indices):
        element = tensor.type.element
        x = self.as_float(x) if element in ("f16", "bf16", "f32", "f64") else self.value(x)
        if x.type != element:
            cast = "arith.truncf" if x.type == self.float else "arith.index_cast"
            x = self.emit(f"{cast} {x.name} : {x.type} to {element}", element)
        places = ", ".join(self.value(index).name for index in indices)
        return self.emit(f"tensor.insert {x.name} into {tensor.name}[{places}] : {tensor.type}", tensor.type)

    def size(self, tensor, dim):
        if tensor.type.sizes[dim] is not None:
            return tensor.type.sizes[dim]
        return self.emit(f"tensor.dim {tensor.name}, {self.value(dim % len(tensor.type.sizes)).name} : "
                         f"{tensor.type}", "index")

    def empty(self, like, sizes):
        """Of the elements of a tensor, or of those that are named."""
        element = like.type.element if isinstance(like, Value) else like
        known = tuple(size if isinstance(size, int) else None for size in sizes)
        result = Type(element, known, isinstance(like, Value) and like.type.unsigned)
        named = ", ".join(size.name for size in sizes if not isinstance(size, int))
        return self.emit(f"tensor.empty({named}) : {result}", result)

    def first(self, tensor, sizes):
        """The first elements of each dim."""
        known = tuple(size if isinstance(size, int) else None for size in sizes)
        result = dataclasses.replace(tensor.type, sizes=known)
        named = ", ".join(str(size) if isinstance(size, int) else size.name for size in sizes)
        zeros, ones = (", ".join([each] * len(sizes)) for each in "01")
        return self.emit(f"tensor.extract_slice {tensor.name}[{zeros}] [{named}] [{ones}] : {tensor.type} to "
                         f"{result}", result)

    # ------------------------------------------------- what the functions may call

    def functions(self):
        """By name."""
        found = {
            "size": self.size, "empty": self.empty, "first": self.first,
            "rank": lambda x: len(x.type.sizes),
            "shape": lambda x: tuple(self.size(x, d) for d in range(len(x.type.sizes))),
            "is_number": lambda x: x.type.element != "i1",
            "integer": self.as_index, "real": self.as_float,
            "min": lambda *xs: functools.reduce(lambda a, b: self.binary("min", a, b), xs),
            "max": lambda *xs: functools.reduce(lambda a, b: self.binary("max", a, b), xs),
        }
        for name, kind, start in ("product_of", ast.Mult, 1), ("all_of", ast.And, True):
            found[name] = functools.partial(self._all, kind, start)
        for name, op in _UNARY.items():
            found[name] = functools.partial(self._unary, op)
        return found

    def _all(self, kind, start, xs):
        return functools.reduce(lambda a, b: self.binary(kind, a, b), xs) if xs else start

    def _unary(self, op, x):
        x = self.as_float(x)
        return self.emit(f"{op} {x.name} : {self.float}", self.float)


def _assigned(statements):
    """The names that statements assign, in the order of the text."""
    names = {}

    def collect(target):
        if isinstance(target, (ast.Tuple, ast.List)):
            for each in target.elts:
                collect(each)
        else:
            names[target.value.id if isinstance(target, ast.Subscript) else target.id] = True

    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Assign):
                collect(node.targets[0])
            elif isinstance(node, ast.AugAssign):
                collect(node.target)
    return list(names)


class _Interpreter:
    """Runs the statements of one function: what is known is computed, the rest is written."""

    def __init__(self, writer, function, arguments):
        self.writer, self.globals = writer, function.__globals__
        source = ast.parse(textwrap.dedent(inspect.getsource(function)))
        self.statements = source.body[0].body
        bound = inspect.signature(function).bind(*arguments[0], **arguments[1])
        bound.apply_defaults()
        self.names = dict(bound.arguments)

    def run(self):
        return self.block(self.statements)

    def block(self, statements):
        for statement in statements:
            if isinstance(statement, ast.Return):
                return self.value(statement.value)
            getattr(self, f"do_{type(statement).__name__}")(statement)
        return None

    # ---------------------------------------------------------------- statements

    def do_Expr(self, statement):
        pass  # the description of the function

    def assign(self, target, x):
        if isinstance(target, (ast.Tuple, ast.List)):
            for each, part in zip(target.elts, x):
                self.assign(each, part)
        elif isinstance(target, ast.Subscript):
            name = target.value.id
            self.names[name] = self.writer.store(x, self.names[name], self.places(target.slice))
        else:
            self.names[target.id] = x

    def do_Assign(self, statement):
        self.assign(statement.targets[0], self.value(statement.value))

    def do_AugAssign(self, statement):
        target = ast.copy_location(type(statement.target)(**{**vars(statement.target), "ctx": ast.Load()}),
                                   statement.target)
        self.assign(statement.target, self.writer.binary(type(statement.op), self.value(target),
                                                         self.value(statement.value)))

    def inside(self, statements):
        """The lines of a block and the names after it; those before it stay."""
        names, lines = dict(self.names), self.writer.lines
        self.writer.lines = []
        self.block(statements)
        written, after = self.writer.lines, self.names
        self.names, self.writer.lines = names, lines
        return written, after

    def do_For(self, statement):
        call = statement.iter
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        if name == "range":
            bounds = [self.value(each) for each in call.args]
            low, high = bounds if len(bounds) == 2 else (0, bounds[0])
            self.loop(statement.target, low, high, statement.body)
        elif name == "indices":
            self.nest(statement.target, self.value(call.args[0]), (), statement.body)
        else:
            for each in list(self.value(call)):
                self.assign(statement.target, each)
                self.block(statement.body)

    def nest(self, target, sizes, index, body):
        """A loop for each of the sizes, around the body."""
        if len(index) == len(sizes):
            self.assign(target, index)
            self.block(body)
            return
        self.loop(None, 0, sizes[len(index)], body,
                  lambda i: self.nest(target, sizes, (*index, i), body))

    def loop(self, target, low, high, body, inner=None):
        writer = self.writer
        low, high, step = writer.value(low), writer.value(high), writer.value(1)
        carried = [name for name in _assigned(body) if name in self.names]
        initial = [writer.value(self.names[name]) for name in carried]
        before, lines = dict(self.names), writer.lines
        i = Value(f"%{writer.count}", "index")
        writer.count += 1
        arguments = []
        for value in initial:
            arguments.append(Value(f"%{writer.count}", value.type))
            writer.count += 1
        self.names.update(zip(carried, arguments))
        writer.lines = []
        if inner:
            inner(i)
        else:
            self.assign(target, i)
            self.block(body)
        last = [self.like(self.names[name], value) for name, value in zip(carried, initial)]
        written, writer.lines, self.names = writer.lines, lines, before
        types = [value.type for value in initial]
        pairs = ", ".join(f"{a.name} = {b.name}" for a, b in zip(arguments, initial))
        carries = f" iter_args({pairs}) -> ({', '.join(map(str, types))})" if carried else ""
        text = [f"scf.for {i.name} = {low.name} to {high.name} step {step.name}{carries} {{", *written,
                _yield(last), "}"]
        results = writer.emit("\n".join(text), *types)
        self.names.update(zip(carried, results if len(types) != 1 else [results]))

    def like(self, x, other):
        return self.writer.as_float(x) if other.type == self.writer.float else self.writer.value(x)

    def do_If(self, statement):
        condition = self.value(statement.test)
        if not isinstance(condition, Value):
            self.block(statement.body if condition else statement.orelse)
            return
        (then, after), (other, otherwise) = self.inside(statement.body), self.inside(statement.orelse)
        names = [name for name in _assigned([statement]) if name in after and name in otherwise]
        values = self.choose(condition, (then, [after[name] for name in names]),
                             (other, [otherwise[name] for name in names]))
        self.names.update(zip(names, values))

    def choose(self, condition, *branches):
        """scf.if of (lines, values) of each branch; the values that it gives."""
        writer, blocks, given = self.writer, [], []
        is_float = [any(isinstance(x, float) or isinstance(x, Value) and x.type == writer.float for x in pair)
                    for pair in zip(*(values for _, values in branches))]
        lines = writer.lines
        for written, values in branches:
            writer.lines = list(written)
            given = [writer.as_float(x) if real else writer.value(x) for x, real in zip(values, is_float)]
            blocks.append([*writer.lines, _yield(given)])
        writer.lines = lines
        types = [value.type for value in given]
        head = f"scf.if {condition.name}" + (f" -> ({', '.join(map(str, types))})" if types else "")
        results = writer.emit("\n".join([head + " {", *blocks[0], "} else {", *blocks[1], "}"]), *types)
        return results if len(types) != 1 else [results]

    # --------------------------------------------------------------- expressions

    def value(self, node):
        return getattr(self, f"get_{type(node).__name__}")(node)

    def places(self, node):
        index = self.value(node)
        return index if isinstance(index, tuple) else (index,)

    def get_Constant(self, node):
        return node.value

    def get_Name(self, node):
        if node.id in self.names:
            return self.names[node.id]
        functions = self.writer.functions()
        if node.id in functions:
            return functions[node.id]
        return self.globals[node.id] if node.id in self.globals else getattr(builtins, node.id)

    def get_Tuple(self, node):
        parts = []
        for each in node.elts:
            if isinstance(each, ast.Starred):
                parts.extend(self.value(each.value))
            else:
                parts.append(self.value(each))
        return tuple(parts)

    get_List = get_Tuple

    def get_Slice(self, node):
        return slice(*(each and self.value(each) for each in (node.lower, node.upper, node.step)))

    def get_Subscript(self, node):
        what = self.value(node.value)
        if isinstance(what, Value):
            return self.writer.load(what, self.places(node.slice))
        return what[self.value(node.slice)]

    def get_BinOp(self, node):
        a, b = self.value(node.left), self.value(node.right)
        return self.writer.binary(type(node.op), a, b)

    def get_BoolOp(self, node):
        values = [self.value(each) for each in node.values]
        known = [x for x in values if not isinstance(x, Value)]
        if any(bool(x) == isinstance(node.op, ast.Or) for x in known):
            return isinstance(node.op, ast.Or)
        rest = [x for x in values if isinstance(x, Value)]
        if not rest:
            return not isinstance(node.op, ast.Or)
        return functools.reduce(lambda a, b: self.writer.binary(type(node.op), a, b), rest)

    def get_UnaryOp(self, node):
        x = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return self.writer.compare(ast.Eq, x, False) if isinstance(x, Value) else not x
        return self.writer.binary(ast.Sub, 0, x) if isinstance(x, Value) else -x

    def get_Compare(self, node):
        values = [self.value(each) for each in (node.left, *node.comparators)]
        if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return (values[0] is values[1]) == isinstance(node.ops[0], ast.Is)
        parts = [self.writer.compare(type(op), a, b) for op, a, b in zip(node.ops, values, values[1:])]
        return functools.reduce(lambda a, b: self.writer.binary(ast.And, a, b), parts)

    def get_IfExp(self, node):
        condition = self.value(node.test)
        if not isinstance(condition, Value):
            return self.value(node.body if condition else node.orelse)
        branches = []
        for each in (node.body, node.orelse):
            lines = self.writer.lines
            self.writer.lines = []
            value = self.value(each)
            branches.append((self.writer.lines, [value]))
            self.writer.lines = lines
        return self.choose(condition, *branches)[0]

    def get_ListComp(self, node):
        generator, = node.generators
        before, results = dict(self.names), []
        for each in self.value(generator.iter):
            self.assign(generator.target, each)
            results.append(self.value(node.elt))
        self.names = before
        return tuple(results)

    def get_Call(self, node):
        function = self.value(node.func)
        positional = self.get_Tuple(ast.Tuple(node.args))
        named = {each.arg: self.value(each.value) for each in node.keywords}
        if inspect.isfunction(function) and function.__globals__ is self.globals:
            return _Interpreter(self.writer, function, (positional, named)).run()
        return function(*positional, **named)


def _yield(values):
    if not values:
        return "scf.yield"
    return f"scf.yield {', '.join(x.name for x in values)} : {', '.join(str(x.type) for x in values)}"


def translate(function, name, arguments, results, **known):
    """The function as text, and the types of its results. `arguments`: a Type each, or in words that of
    an argument that is not there; the function is given None for it. `results`: the types to give, None
    for what the function makes. `known`: what else the function takes."""
    is_double = any(isinstance(each, Type) and each.element == "f64" for each in [*arguments, *results])
    writer = _Writer("f64" if is_double else "f32")
    given = [Value(f"%arg{number}", each) if isinstance(each, Type) else None
             for number, each in enumerate(arguments)]
    values = _Interpreter(writer, function, (given, known)).run()
    values = [value if type_ in (None, value.type) else
              writer.emit(f"tensor.cast {value.name} : {value.type} to {type_}", type_)
              for value, type_ in zip(values if isinstance(values, tuple) else (values,), results)]
    head = ", ".join(f"%arg{number}: {each}" for number, each in enumerate(arguments))
    names, types = (", ".join(each) for each in ([x.name for x in values], [str(x.type) for x in values]))
    text = [f'func.func private @"{name}"({head}) -> ({types}) {{', *writer.lines, f"return {names} : {types}", "}"]
    return "\n".join(text), [x.type for x in values]
