"""Programs of loops and library calls, in which copies reorder the elements of a tensor.

A loop computes each element by its index, and so reads and writes every layout: compilers merge copies with loops. A
library call keeps the layouts of the program. A copy is a conversion: its result is the same tensor as its source.

The digits of a value say how it is stored: [(size, stride), ..], outermost first, with strides in the tensor as its
producer stores it. A transposition of 8x3 elements is [(3, 1), (8, 3)], a copy without change [(24, 1)].
"""


def merge(digits):
    """Returns the digits of a value without those of size 1, with those that follow one another merged."""
    merged = []
    for size, stride in digits:
        if size > 1 and merged and merged[-1][1] == size * stride:
            merged[-1] = merged[-1][0] * size, stride
        elif size > 1:
            merged.append((size, stride))
    return merged or [(1, 1)]


def regroup(digits, sizes):
    """Returns the digits for each of the sizes, outermost first, or None if a size is not made of whole digits."""
    left, groups = list(digits), []
    for wanted in sizes:
        group = []
        while wanted > 1:
            if not left:
                return None
            size, stride = left.pop(0)
            if size > wanted:
                if size % wanted:
                    return None
                left.insert(0, (size // wanted, stride))
                size, stride = wanted, stride * (size // wanted)
            if wanted % size:
                return None
            group.append((size, stride))
            wanted //= size
        groups.append(group)
    return groups


class Program:
    """A program under construction. Values that were not added are constant, and left out."""

    def __init__(self, capture):
        self.capture, self.values, self.bytes_of, self.layouts, self.ops = capture, {}, {}, {}, []

    def add_input(self, name, count, element):
        self._add_result(name, count, element)
        self.ops.append(("argument", [], [name], False))

    def add_output(self, value):
        if value in self.values:
            self.ops.append(("result", [self.values[value]], [], False))

    def add_op(self, name, operands, count, element, is_loop):
        """Adds an op that computes the value `name` of `count` elements of `element` bytes."""
        read = [self.values[each] for each in operands if each in self.values]
        if not read:
            return
        self._add_result(name, count, element)
        if is_loop:
            copied = [each for each in read if each[1] != self._stored(each[0])]
            self.ops += [(name, [each], [], True) for each in dict.fromkeys(map(tuple, copied))]
            self.ops.append((name, [], [name], True))
        else:
            self.ops.append((name, read, [name], False))

    def add_copy(self, name, source, groups):
        """Adds a value that has the elements of `source` in the order of the groups of its digits."""
        if source in self.values:
            root, _ = self.values[source]
            digits = tuple(merge([digit for group in groups for digit in group]))
            self.values[name] = root, digits
            self.layouts[root][digits] = None

    def get_digits(self, value):
        """Returns the digits of a value, or None if it is constant."""
        return self.values[value][1] if value in self.values else None

    def write(self):
        """Adds the tensors and the ops to the problem, and returns it."""
        for root, size in self.bytes_of.items():
            self.capture.add_tensor(root, {self._name(each): size for each in self.layouts[root]})
        for name, operands, results, is_free in self.ops:
            ends = operands + [(each, self._stored(each)) for each in results]
            chosen = [self._name(digits) for _, digits in ends]
            configurations = [[self._name(each)] for each in self.layouts[ends[0][0]]] if is_free else [chosen]
            self.capture.add_op(name, [root for root, _ in operands], results, configurations, chosen)
        return self.capture

    def _add_result(self, name, count, element):
        self.values[name], self.bytes_of[name] = (name, ((count, 1),)), count * element
        self.layouts[name] = {self._stored(name): None}

    def _stored(self, root):
        return self.values[root][1]

    def _name(self, digits):
        return "stored" if len(digits) == 1 else " ".join(f"{size}x{stride}" for size, stride in digits)
