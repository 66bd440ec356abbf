# Check random problems: the least cost is that of enumeration, before and after the problem was written again, and
# writing it twice gives the same text.

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import itertools
import pathlib
import random
import subprocess
import sys

SEED = 7
folder = pathlib.Path(sys.argv[1])


def draw(rng):
    """Returns a text, and the least cost below its bound (None if there is none)."""
    domains = [rng.randint(1, 4) for _ in range(rng.randint(1, 6))]
    bound = rng.choice([1, 12, 30, 10 ** 12])
    blocks, functions, shared = [], [], []
    for _ in range(rng.randint(0, 9)):
        arity = rng.randint(0, min(4, len(domains)))
        scope = rng.sample(range(len(domains)), arity)
        default = rng.choice([0, 1, 4, bound])
        taken = [number for number, (sizes, _) in enumerate(shared)
                 if sizes == [domains[v] for v in scope]]
        head = f"{arity} {' '.join(map(str, scope))} {default}"
        if taken and rng.random() < 0.7:
            number = rng.choice(taken)
            costs = shared[number][1]
            blocks.append(f"{head} {-1 - number}")
        else:
            costs = {values: rng.choice([0, 1, 2, 5, 9, bound, bound + 3])
                     for values in itertools.product(*(range(domains[v]) for v in scope))
                     if rng.random() < 0.6}
            if arity and rng.random() < 0.5:
                shared.append(([domains[v] for v in scope], costs))
                head = "-" + head
            listed = "".join(f"\n{' '.join(map(str, values))} {cost}"
                             for values, cost in costs.items())
            blocks.append(f"{head} {len(costs)}{listed}")
        functions.append((scope, default, costs))
    text = (f"random {len(domains)} {max(domains)} {len(functions)} {bound}\n"
            f"{' '.join(map(str, domains))}\n" + "\n".join(blocks) + "\n")

    def cost(assignment):
        terms = [costs.get(tuple(assignment[v] for v in scope), default)
                 for scope, default, costs in functions]
        return bound if any(term >= bound for term in terms) else sum(terms)

    least = min(map(cost, itertools.product(*map(range, domains))))
    return text, (None if least >= bound else least), cost


def run(*words):
    return subprocess.run(["layout-solve", *words], stdout=subprocess.PIPE, text=True,
                          check=False)


rng = random.Random(SEED)
kinds = {0: 0, 3: 0}
for index in range(40):
    text, least, cost = draw(rng)
    path, written, again = (folder / f"{index}.{name}" for name in ("in", "out", "again"))
    path.write_text(text)
    assert run(str(path), f"--write-wcsp={written}").returncode == 0
    assert run(str(written), f"--write-wcsp={again}").returncode == 0
    assert written.read_text() == again.read_text(), f"problem {index} of seed {SEED}"
    for file in path, written:
        result = run(str(file))
        where = f"problem {index} of seed {SEED}, {file.suffix}:\n{text}{result.stdout}"
        lines = dict(line.split(" ", 1) for line in result.stdout.splitlines())
        assert result.returncode == (3 if least is None else 0), where
        assert lines["cost"] == ("infinite" if least is None else str(least)), where
        assert lines["cost"] == lines["lower-bound"], where
        if least is not None:
            assert cost([int(v) for v in lines["assignment"].split()]) == least, where
    kinds[3 if least is None else 0] += 1
assert min(kinds.values()) > 5, kinds
