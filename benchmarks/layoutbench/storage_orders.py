"""Tensors whose dims are stored in some order. A storage order lists the dims, outermost first: "0231" of an NCHW tensor
is NHWC. A transposition moves nothing if its result may have the storage order that makes it a view."""


def plain(rank):
    return "".join(map(str, range(rank)))


def view_order(order, permutation):
    """Returns the storage order of the result of a transposition that is a view of an operand with the given order:
    dim i of the result is dim permutation[i] of the operand."""
    return "".join(str(permutation.index(int(dim))) for dim in order)


def reachable_orders(ranks_of, permutations):
    """Returns {rank: storage orders}: for each rank, those that views of the plain order by one transposition have, or
    of which a transposition makes the plain order."""
    orders = {rank: {plain(rank): None} for rank in ranks_of}
    for permutation in permutations:
        rank = len(permutation)
        orders[rank][view_order(plain(rank), permutation)] = None
        orders[rank]["".join(map(str, permutation))] = None
    return {rank: list(each) for rank, each in orders.items()}
