"""An independent definition of distributions over a mesh, and a simulation of messages between ranks.

A distribution has the sizes of the mesh axes and, for each dim, the axes that split it from major to minor, and the
halo of each rank. It does not use maps: blocks are numpy slices.
"""

import itertools

import numpy as np


class Distribution:
    def __init__(self, axes, splits, partial=(), reduction="sum", halos=None):
        self.axes, self.splits = dict(axes), [list(split) for split in splits]
        self.halos = [tuple(map(int, halo)) for halo in halos or [(0, 0)] * len(self.splits)]
        self.partial, self.reduction = list(partial), reduction
        self.devices = int(np.prod(list(self.axes.values()), dtype=int))

    def text(self):
        axes = ", ".join(f"{name} = {size}" for name, size in self.axes.items())
        splits = ", ".join(f"[{', '.join(split)}]" for split in self.splits)
        halos = ", ".join(f"[{before}, {after}]" for before, after in self.halos)
        mesh = f"#layout.mesh<[{axes}], [{splits}]{f', halos = [{halos}]' if any(map(any, self.halos)) else ''}>"
        if not self.partial:
            return mesh
        return f"#layout.partial<{mesh}, {self.reduction}, [{', '.join(self.partial)}]>"

    def position(self, rank):
        return dict(zip(self.axes, np.unravel_index(rank, list(self.axes.values())), strict=True))

    def block(self, rank, shape):
        """Returns the indices that a rank stores, as slices."""
        return tuple(held for held, _ in self.cut(rank, shape))

    def within(self, rank, shape):
        """Returns the slices of a rank's local tensor that hold its block; the rest of the halo is outside of the
        tensor."""
        return tuple(slice(at, at + held.stop - held.start) for held, at in self.cut(rank, shape))

    def cut(self, rank, shape):
        position, cuts = self.position(rank), []
        for size, split, (before, after) in zip(shape, self.splits, self.halos, strict=True):
            number, parts = 0, 1
            for axis in split:
                number, parts = number * self.axes[axis] + position[axis], parts * self.axes[axis]
            length = (size + parts - 1) // parts
            first = number * length - before
            begin = min(max(first, 0), size)
            cuts.append((slice(begin, max(begin, min((number + 1) * length + after, size))), begin - first))
        return cuts

    def local_shape(self, shape):
        """Returns the sizes of the largest block, which every rank allocates."""
        parts = [int(np.prod([self.axes[axis] for axis in split], dtype=int)) for split in self.splits]
        return [max((n + k - 1) // k, 1) + sum(halo) if split else n
                for n, k, split, halo in zip(shape, parts, self.splits, self.halos, strict=True)]

    def mask(self, rank, shape):
        mask = np.zeros(shape, bool)
        mask[self.block(rank, shape)] = True
        return mask

    def part(self, rank):
        """Returns the number of the partial sum that a rank stores."""
        position = self.position(rank)
        return tuple(position[axis] for axis in self.partial)

    def parts(self):
        return list(itertools.product(*(range(self.axes[axis]) for axis in self.partial)))


class Shifted(Distribution):
    """One dim over one axis, with each block on the next rank."""

    def __init__(self, axis, ranks, size):
        super().__init__({axis: ranks}, [[axis]])
        self.size = size

    def text(self):
        [(axis, ranks)], [length] = self.axes.items(), self.local_shape([self.size])
        return (f"#layout.map<(i) -> mesh({axis} = (i floordiv {length} + 1) mod {ranks}, "
                f"offset = i mod {length})>")

    def position(self, rank):
        return super().position((rank - 1) % self.devices)


def all_over(bits, rank):
    """Returns every way to split the dims of a tensor by axes of extent two, in any order."""
    axes = {f"a{i}": 2 for i in range(bits)}
    found = []
    for places in itertools.product(range(rank + 1), repeat=bits):
        members = [[name for name, place in zip(axes, places, strict=True) if place == d]
                   for d in range(rank)]
        found += [Distribution(axes, order)
                  for order in itertools.product(*map(itertools.permutations, members))]
    return found


COMBINE = {"sum": (np.add, 0), "max": (np.maximum, None), "min": (np.minimum, None)}


def neutral(reduction, dtype):
    if reduction == "sum":
        return 0
    limits = np.finfo(dtype) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype)
    return limits.min if reduction == "max" else limits.max


def box_slices(offsets, sizes):
    return tuple(slice(offset, offset + size) for offset, size in zip(offsets, sizes, strict=True))


def run(plan, source, target, pieces, shape, dtype):
    """Returns the data of every rank after the messages; pieces[rank] is its data before.

    Checks the rounds, and the statistics that the plan states.
    """
    combine = COMBINE[plan["reduction"]][0] if plan["reduction"] else None
    start = neutral(plan["reduction"], dtype) if combine else np.array(97).astype(dtype)
    relabeling = plan["relabeling"] or list(range(plan["devices"]))
    number = {device: t for t, device in enumerate(relabeling)}
    assert sorted(number) == list(range(plan["devices"])), relabeling
    blocks = [target.block(number[rank], shape) for rank in range(plan["devices"])]
    after = [np.full([s.stop - s.start for s in block], start, dtype) for block in blocks]

    def deliver(message, box):
        into = after[message["to"]][box_slices(box["to_offsets"], box["sizes"])]
        held = pieces if message["phase"] == 0 else after
        data = held[message["from"]][box_slices(box["from_offsets"], box["sizes"])]
        assert into.shape == data.shape == tuple(box["sizes"]), box
        into[...] = combine(into, data) if combine and message["phase"] == 0 else data

    for copy in plan["copies"]:
        assert copy["from"] == copy["to"] and copy["phase"] == 0
        for box in copy["boxes"]:
            deliver(copy, box)
    sent, held, last, phase_of, busy = 0, {}, (0, 0), {}, set()
    for message in plan["messages"]:
        assert message["from"] != message["to"] and message["boxes"]
        assert (message["phase"], message["round"]) >= last, "out of order"
        last = message["phase"], message["round"]
        assert phase_of.setdefault(message["round"], message["phase"]) == message["phase"]
        count = sum(int(np.prod(box["sizes"], dtype=int)) for box in message["boxes"])
        assert count > 0
        sent += count
        for key in ("from", "to"):
            rank = message["round"], key, message[key]
            assert rank not in held, f"two messages at once: {rank}"
            held[rank] = count * plan["element_bytes"]
            place = message["round"], message["step"], message[key]
            assert place not in busy, f"busy twice in a step: {place}"
            busy.add(place)
        for box in message["boxes"]:
            deliver(message, box)
    peak = max((held.get((n, "from", rank), 0) + held.get((n, "to", rank), 0)
                for n in range(plan["rounds"]) for rank in range(plan["devices"])), default=0)
    assert plan["element_bytes"] == np.dtype(dtype).itemsize
    assert plan["bytes_sent"] == sent * plan["element_bytes"], plan["bytes_sent"]
    assert plan["peak_extra_bytes"] == peak, (plan["peak_extra_bytes"], peak)
    return after, blocks, number


def bound(source, target, number, shape):
    """Returns the minimal number of elements that ranks send: those that each needs and does not store."""
    ranks = range(source.devices)
    held = [source.mask(rank, shape) for rank in ranks]
    needed = [target.mask(number[rank], shape) for rank in ranks]
    if not source.partial:
        return sum(int((needed[r] & ~held[r]).sum()) for r in ranks)
    # A tree over all ranks that have a partial value of an index and all that need it.
    meet = sum((held[r] & needed[r]) for r in ranks) > 0
    targets = sum(needed[r].astype(int) for r in ranks)
    return int((len(source.parts()) - 1 + targets - meet).sum())


def distribute(source, shape, dtype, rng):
    """Returns a tensor and the data of each rank, with partial values if `source` is partial."""
    low, high = (-3, 3) if np.dtype(dtype).itemsize == 1 else (-200, 200)
    parts = {part: rng.integers(low, high, shape).astype(dtype) for part in source.parts()}
    whole = None
    for value in parts.values():
        whole = value if whole is None else COMBINE[source.reduction][0](whole, value)
    return whole, [parts[source.part(rank)][source.block(rank, shape)]
                   for rank in range(source.devices)]


def check(plan, source, target, shape, dtype, rng):
    whole, pieces = distribute(source, shape, dtype, rng)
    after, blocks, number = run(plan, source, target, pieces, shape, dtype)
    for rank, (got, block) in enumerate(zip(after, blocks, strict=True)):
        np.testing.assert_array_equal(got, whole[block], err_msg=f"rank {rank}")
    least = bound(source, target, number, shape) * plan["element_bytes"]
    what = f"{source.text()} to {target.text()} of {shape}"
    assert plan["bytes_bound"] == least, f"{what}: bound {plan['bytes_bound']}, not {least}"
    assert plan["bytes_sent"] == least, f"{what}: sends {plan['bytes_sent']}, bound {least}"
