# Check that certificates of random problems are accepted, for all options of the solver, and that false ones are
# rejected: a cost, a choice, a bound or a function that differs from the problem, and proofs with invalid steps.

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import argparse
import collections
import itertools
import json
import math
import pathlib
import random
import subprocess

from layout_mlir import certify

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--problems", type=int, default=60)
parser.add_argument("--lies", type=int, default=60)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

OPTIONS = ([], ["--max-table=1"], ["--max-table=4"], ["--max-table=1", "--max-nodes=0"],
           ["--max-table=8", "--max-work=2000"], ["--max-total=64"])


def draw_tables(rng):
    """Returns functions of up to three of some variables, with some forbidden tuples."""
    count = rng.randint(1, 14)
    domains = [rng.randint(1, 4) for _ in range(count)]
    unit, bound = rng.choice([(1, 10 ** 9), (1, rng.randint(1, 60)), (3, 10 ** 9), (1 << 40, 1 << 61)])
    lines = [f"random {count} {max(domains)} 0 {bound}", " ".join(map(str, domains))]
    functions = rng.randint(0, 3 * count)
    for _ in range(functions):
        scope = rng.sample(range(count), min(rng.choice([0, 1, 2, 2, 2, 2, 3]), count))
        tuples = [(*values, bound if rng.random() < .1 else rng.randint(0, 30) * unit)
                  for values in itertools.product(*(range(domains[v]) for v in scope)) if rng.random() < .8]
        lines.append(" ".join(map(str, (len(scope), *scope, rng.randint(0, 3) * unit, len(tuples)))))
        lines += [" ".join(map(str, entry)) for entry in tuples]
    lines[0] = lines[0].replace(" 0 ", f" {functions} ") if functions else lines[0]
    return "\n".join(lines) + "\n"


def draw_program(rng):
    """Returns ops whose operands are results of earlier ops, with shared copies."""
    layouts = [f"L{i}" for i in range(rng.randint(2, 4))]
    names = [f"op{i}" for i in range(rng.randint(3, 24))]
    ends = {layout: layout for layout in layouts}
    prices = {a: {b: rng.randint(0, 40) for b in layouts if b != a and rng.random() < .95} for a in layouts}
    ops = {name: {layout: rng.randint(0, 20) for layout in layouts} for name in names}
    tensors = {f"t{i}": {"producer": {"op": name, "layouts": ends}, "conversions": prices,
                         "consumers": [{"op": other, "layouts": ends}
                                       for other in rng.sample(names[i + 1:], min(rng.randint(1, 4),
                                                                                  len(names) - i - 1))]}
               for i, name in enumerate(names)}
    return json.dumps({"ops": ops, "tensors": tensors, "factors": []})


def certify_problem(text, options):
    """Returns the text of the certificate."""
    path = args.folder / "certificate"
    run = subprocess.run(["layout-solve", "-", f"--certificate={path}", *options], input=text, text=True,
                         capture_output=True, check=False)
    assert not run.stderr, (run.stderr, text)
    return path.read_text()


def solve(text):
    run = subprocess.run(["layout-solve", "-"], input=text, text=True, capture_output=True, check=False)
    return run.stdout.split()[1]


def is_accepted(text):
    try:
        certify.check(text)
        return True
    except (certify.Rejected, ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError):
        return False


def change_number(rng, line, at=1):
    words = line.split()
    place = rng.randrange(at, len(words))
    words[place] = str(int(words[place]) + rng.choice([-7, -1, 1, 2, 40, 1000]))
    return " ".join(words)


def plant(rng, kind, head, steps, text):
    """Returns a false claim, or None if none was found."""
    problem = certify.Problem(text)
    chosen = [int(word) for word in head[3].split()[1:]]
    if kind in ("price", "function"):
        # The claims stay, and the problem is replaced.
        lines = text.split("\n")
        if len(lines) < 4:
            return None
        at = rng.randrange(2, len(lines) - 1)
        lines[at] = change_number(rng, lines[at], len(lines[at].split()) - 1) if kind == "price" else "0 0 0"
        return head, steps, "\n".join(lines)
    place = rng.randrange(len(chosen))
    chosen[place] = rng.randrange(problem.domains[place])
    worse, claimed = problem.network.cost(chosen), int(head[1].split()[1])
    if kind == "choice":
        words = " ".join(map(str, chosen))
        return ([head[0], head[1], head[2], f"assignment {words}"], steps, text) if worse != claimed else None
    # The proof must not support the larger bound.
    if not claimed < worse < problem.top:
        return None
    head = [head[0], f"cost {worse}", f"lower-bound {worse}", "assignment " + " ".join(map(str, chosen))]
    best = dict(enumerate(int(word) for word in head[3].split()[1:]))
    steps = list(steps)
    at = rng.randrange(len(steps) + 1)
    if kind == "drop":
        steps.insert(at, f"d {place} " + " ".join(str(x) for x in range(problem.domains[place]) if x != best[place]))
    elif kind == "omit" and steps:
        del steps[at - 1]
    elif kind == "number" and steps and len(steps[at - 1].split()) > 1:
        steps[at - 1] = change_number(rng, steps[at - 1])
    elif kind == "charge":
        a, b, c = (rng.randrange(len(chosen)) for _ in range(3))
        steps.insert(at, f"s {a} {rng.randrange(2)} {b} {c} {rng.randrange(2)} {worse}")
    elif kind == "part":
        # A variable with its tables, and with copies of others.
        order = [place, *rng.sample(range(len(chosen)), min(2, len(chosen)))]
        rng.shuffle(order)
        steps[at:at] = [f"c {place}", f"e {' '.join(map(str, order))}", "end"]
    elif kind == "branch":
        steps.insert(at, f"b {place} {best[place]}")
        steps.append("end")
    return head, steps, text


rng = random.Random(args.seed)
counts = collections.Counter()
proven = []
while counts["problems"] < args.problems:
    options = rng.choice(OPTIONS)
    source = rng.choice([draw_tables, draw_program])(rng)
    certificate = certify_problem(source, options)
    try:
        cost, bound, _ = certify.check(certificate)
    except certify.Rejected as error:
        raise AssertionError(f"{error}: {options}\n{source}") from error
    counts["problems"] += 1
    counts["proven"] += cost == bound
    top, _, text = certificate.partition("\nwcsp\n")
    version, *claims, _ = (lines := top.split("\n"))[:5]
    counts.update({line[0] for line in lines[5:] if line})
    if cost == bound != math.inf and claims[2] != "assignment":
        proven.append(([version, *claims], lines[5:], text))
# All kinds of steps occurred, and certificates without a proof, too.
assert args.problems < 60 or not set("emxsdbctuw") - set(counts), counts
assert args.problems < 60 or 0 < counts["proven"] < counts["problems"], counts

KINDS = "price", "choice", "bound", "function", "drop", "omit", "number", "charge", "part", "branch"
lies = 0
while lies < args.lies:
    kind = KINDS[lies % len(KINDS)]
    lie = plant(rng, kind, *rng.choice(proven))
    if lie is None:
        continue
    head, steps, text = lie
    certificate = "\n".join([*head, "proof", *steps, "wcsp"]) + "\n" + text
    if kind in ("price", "function"):
        # The claim may still be true for the other problem.
        try:
            problem = certify.Problem(text)
            least = solve(text)
            cost = problem.network.cost([int(word) for word in head[3].split()[1:]])
        except (certify.Rejected, IndexError, ValueError):
            continue
        claimed = head[1].split()[1]
        if least == claimed and str(cost) == claimed:
            continue
    assert not is_accepted(certificate), (kind, certificate)
    lies += 1


def expect_rejected(message, problem, claims, *steps):
    """Checks that a certificate is rejected with this message."""
    try:
        certify.check("\n".join(["layout-certificate 1", *claims, "proof", *steps, "wcsp", problem]) + "\n")
    except certify.Rejected as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"accepted, where '{message}' was expected")


def claim(value, assignment):
    return f"cost {value}", f"lower-bound {value}", f"assignment {assignment}"


# Three copies at 2 each, any two of which are enough: a bound that halves costs would prove 3, and the optimum is 4.
shared = "\n".join(["shared 6 2 10 100", "2 2 2 2 2 2", *(f"1 {copy} 0 1\n1 2" for copy in range(3)),
                    *(f"2 {3 + user} {(user + value) % 3} 0 1\n{value} 0 100" for user in range(3) for value in range(2)),
                    "2 3 4 0 1\n1 1 3"])
part = "c 0 1 2", "e 3 4 5 0 1 2", "end"
assert certify.check("\n".join(["layout-certificate 1", *claim(4, "1 1 0 0 0 1"), "proof", *part, "wcsp", shared]))
expect_rejected("the steps prove 4, not 6", shared, claim(6, "1 1 1 0 0 1"), *part)
expect_rejected("the steps prove 4, not 6", shared, claim(6, "1 1 1 0 0 1"), *part, "e 3", "e 4 5")
expect_rejected("the steps prove 0, not 4", shared, claim(4, "1 1 0 0 0 1"), "c 0 1 2", "end")
# In units of one eighth the result is the same; later steps do not inherit the unit, and numbers stay as small as
# possible.
assert certify.check("\n".join(["layout-certificate 1", *claim(4, "1 1 0 0 0 1"), "proof", "t 8", *part, "u", "wcsp", shared]))
expect_rejected("the steps prove 4, not 6", shared, claim(6, "1 1 1 0 0 1"), "t 8", *part, "u")
expect_rejected("the steps prove 4, not 6", shared, claim(6, "1 1 1 0 0 1"), "t 8", "t 8", *part, "u", "u", *part)
expect_rejected("the bound is for parts of a cost", shared, claim(6, "1 1 1 0 0 1"), "t 8", *part)
expect_rejected("the bound is for parts of a cost", shared, claim(6, "1 1 1 0 0 1"), "c 0 1 2", "t 8", *part[1:], "u")
expect_rejected("numbers get too large", shared, claim(6, "1 1 1 0 0 1"), f"t {10 ** 15}", *part, "u")
for trial in "t 0", "t -8", "t -1000000":
    expect_rejected("the steps prove 4, not 6", shared, claim(6, "1 1 1 0 0 1"), trial, *part, "u")
for steps in (*part, *part), (*part, "e 0"), ("c 0 1 2 2", *part[1:]), ("e 3", *part), (*part[:2],):
    text = "\n".join(["layout-certificate 1", *claim(6, "1 1 1 0 0 1"), "proof", *steps, "wcsp", shared]) + "\n"
    assert not is_accepted(text), steps

# Steps with tables of 8 ** 29 entries are refused at once.
star = "\n".join(["star 30 8 29 100", " ".join(["8"] * 30), *(f"2 0 {other} 1 1\n0 0 2" for other in range(1, 30))])
claims = claim(29, "0 " + " ".join(["1"] * 29))
expect_rejected("too much work", star, claims, "e 0")
expect_rejected("a table is too large", star, claims, "m 29 " + " ".join(map(str, range(29))) + " 0 0 1")
# Costs above the value for forbidden tuples are invalid: they could hide a cost or a choice.
expect_rejected("numbers get too large", f"p 1 2 1 {2 ** 210}\n2\n1 0 0 2\n0 {2 ** 205}\n1 {2 ** 206}",
                claim(2 ** 200, "0"))
expect_rejected("numbers get too large", f"p 1 2 1 {2 ** 201}\n2\n1 0 0 2\n0 {2 ** 201}\n1 {2 ** 201}",
                claim(2 ** 200, "0"))
# A value for each variable, a complete problem, and complete lines.
pair = "p 2 2 1 100\n2 2\n2 0 1 5 1\n0 0 7"
certify.check("\n".join(["layout-certificate 1", *claim(5, "0 1"), "", "proof", "wcsp", pair]) + "\n")
expect_rejected("1 of 2 values are assigned", pair, claim(5, "0"))
expect_rejected("3 of 2 values are assigned", pair, claim(5, "0 1 0"))
expect_rejected("the problem ends too early", pair[:-2], claim(5, "0 1"))
expect_rejected("there is text after the problem", pair + " 1", claim(5, "0 1"))
expect_rejected("domains are too large", f"p 1 {2 ** 28} 0 100\n{2 ** 28}", claim(0, "0"))
for changed in "assignment 0 1\nproof by me", "assignment 0 none 1\nproof":
    text = "\n".join(["layout-certificate 1", *claim(5, "")[:2], changed, "wcsp", pair]) + "\n"
    assert not is_accepted(text), text

print(f"{counts['problems']} certificates accepted, {counts['proven']} of them proofs of optimality; "
      f"{lies} lies rejected")
