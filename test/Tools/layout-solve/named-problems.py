# Check problems of ops and tensors in JSON: the optimum by enumeration, the same answer for any order of keys and
# lists, and located errors.

# RUN: %python %s
import argparse
import itertools
import json
import random
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--problems", type=int, default=60, help="small ones, which are enumerated")
parser.add_argument("--shuffles", type=int, default=4, help="of each of the wide ones")
args = parser.parse_args()


def solve(problem, *options):
    text = problem if isinstance(problem, str) else json.dumps(problem)
    run = subprocess.run(["layout-solve", "-", *options], input=text, text=True, capture_output=True)
    return run.returncode, run.stdout, run.stderr


def get_layout(end, chosen):
    return end["layouts"][chosen[end["op"]]] if "op" in end else end["layout"]


def evaluate(problem, chosen):
    """Evaluates the definition: an op costs its configuration, a tensor for each requested layout."""
    costs = [problem["ops"][op][configuration] for op, configuration in chosen.items()]
    for tensor in problem["tensors"].values():
        made, prices = get_layout(tensor["producer"], chosen), tensor["conversions"]
        prices = problem["conversions"][prices] if isinstance(prices, str) else prices
        for requested in {get_layout(end, chosen) for end in tensor["consumers"]} - {made}:
            costs.append(prices.get(made, {}).get(requested))
    for factor in problem["factors"]:
        key = [chosen[op] for op in factor["over"]]
        costs.append(next((entry["cost"] for entry in factor["costs"] if entry["when"] == key),
                          factor.get("otherwise", 0)))
    return None if None in costs else sum(costs)


def draw(seed, ops, layouts, window, given, forbidden=.1):
    """Returns a program with random operands; a share `given` of its inputs and outputs have a fixed layout, and a
    share `forbidden` of the costs is missing."""
    r = random.Random(seed)
    names = [f"op{i}" for i in range(ops)]
    kinds = [f"L{i}" for i in range(layouts)]
    problem = {"ops": {}, "tensors": {}, "conversions": {}, "factors": []}

    def end(op):
        if r.random() < given:
            return {"layout": r.choice(kinds)}
        return {"op": op, "layouts": {c: r.choice(kinds) if r.random() < .2 else kinds[int(c[1:]) % layouts]
                                      for c in problem["ops"][op]}}

    def prices():
        return {a: {b: r.randint(1, 90) for b in kinds if b != a and r.random() >= forbidden} for a in kinds}

    for name in names:
        problem["ops"][name] = {f"c{c}": None if r.random() < forbidden / 2 else r.randint(0, 50)
                                for c in range(r.randint(1, layouts + 1))}
    problem["conversions"] = {"common": prices()}
    for i, name in enumerate(names[:-1]):
        users = r.choices(names[i + 1:i + 1 + window], k=r.randint(1, 4))
        problem["tensors"][f"t{i}"] = {"producer": end(name), "consumers": [end(user) for user in users],
                                       "conversions": "common" if r.random() < .5 else prices()}
    for _ in range(ops // 3):
        over = r.sample(names, 2)
        problem["factors"].append({"over": over, "costs": [
            {"when": [r.choice(list(problem["ops"][op])) for op in over], "cost": r.choice([None if forbidden else 9, 7, 20])}]})
    return problem


def shuffle(value, r):
    """Returns the same problem in another order; ordered lists stay unchanged."""
    if isinstance(value, dict):
        keys = list(value)
        r.shuffle(keys)
        return {key: value[key] if key in ("over", "when") else shuffle(value[key], r) for key in keys}
    if isinstance(value, list):
        value = [shuffle(each, r) for each in value]
        r.shuffle(value)
        for each in value:
            if "over" in each:  # and both may change together here
                places = r.sample(range(len(each["over"])), len(each["over"]))
                each["over"] = [each["over"][p] for p in places]
                each["costs"] = [entry | {"when": [entry["when"][p] for p in places]} for entry in each["costs"]]
    return value


infeasible = 0
for seed in range(args.problems):
    problem = draw(seed, ops=random.Random(seed).randint(1, 6), layouts=3, window=3, given=.3)
    names = list(problem["ops"])
    all_costs = (evaluate(problem, dict(zip(names, choice)))
                 for choice in itertools.product(*problem["ops"].values()))
    least = min((cost for cost in all_costs if cost is not None), default=None)
    status, out, err = solve(problem)
    answer = json.loads(out)
    assert not err and answer["cost"] == answer["lower_bound"] == least and answer["proven"], (seed, least, out, err)
    assert status == (3 if least is None else 0), status
    infeasible += least is None
    if least is None:
        assert "configurations" not in answer, answer
        continue
    chosen = answer["configurations"]
    assert evaluate(problem, chosen) == least, (seed, answer)
    for name, tensor in problem["tensors"].items():
        requested = {get_layout(end, chosen) for end in tensor["consumers"]} - {get_layout(tensor["producer"], chosen)}
        assert answer["copies"].get(name, []) == sorted(requested), (seed, name, answer)
assert args.problems < 60 or 0 < infeasible < args.problems // 2, infeasible

for seed, options in itertools.product(range(2), ([], ["--max-nodes=0", "--max-table=64"])):
    problem = draw(seed, ops=120, layouts=5, window=40, given=.1, forbidden=0)
    first = solve(problem, *options)
    assert first[0] in (0, 2) and not first[2], first
    for shuffle_seed in range(args.shuffles):
        again = solve(shuffle(problem, random.Random(shuffle_seed)), *options)
        assert again == first, (seed, options, shuffle_seed)
print(f"{4 * args.shuffles} shuffles, {args.problems} problems: the same answers")

# The same graph in a format for other solvers.
problem = draw(1, 5, 3, 3, .2, forbidden=0)
status, out, _ = solve(problem, "--write-wcsp=-")
assert status == 0 and out.startswith("problem "), out
assert solve(out)[1].splitlines()[0] == f"cost {json.loads(solve(problem)[1])['cost']}", out

# A budget: the cheapest within it by enumeration, with peaks, and with an initial assignment.
def count_amount(budget, chosen):
    def count(amounts):
        return sum(amounts.get(op, {}).get(configuration, 0) for op, configuration in chosen.items())
    return budget["base"] + count(budget["amounts"]) + max(map(count, budget["peaks"]), default=0)


exceeded = 0
for seed in range(args.problems):
    r = random.Random(seed)
    problem = draw(seed, ops=5, layouts=3, window=3, given=.3, forbidden=0)

    def draw_amounts(share):
        return {op: {c: r.randint(0, 9) for c in costs if r.random() < .7}
                for op, costs in problem["ops"].items() if r.random() < share}
    problem["budget"] = budget = {"limit": r.randint(5, 25), "base": r.randint(0, 3), "amounts": draw_amounts(.8),
                                  "peaks": [draw_amounts(.5) for _ in range(seed % 3)]}
    choices = [dict(zip(problem["ops"], choice)) for choice in itertools.product(*problem["ops"].values())]
    amounts = [count_amount(budget, chosen) for chosen in choices]
    least = min((evaluate(problem, chosen) for chosen, amount in zip(choices, amounts) if amount <= budget["limit"]),
                default=None)
    status, out, err = solve(problem)
    answer = json.loads(out)
    assert answer["cost"] == answer["lower_bound"] == least and answer["proven"] and not err, (seed, least, out, err)
    assert answer["least_amount"] <= min(amounts), (seed, answer)
    exceeded += least is None
    if least is None:
        assert status == 3 and answer["least_amount"] > budget["limit"], (seed, answer)
        continue
    assert answer["amount"] == count_amount(budget, answer["configurations"]) <= budget["limit"], (seed, answer)
    again = json.loads(solve(problem | {"initial": answer["configurations"]})[1])
    assert again["cost"] == least, (seed, again)
assert args.problems < 60 or 0 < exceeded < args.problems // 2, exceeded

# An answer is no worse than the initial assignment, however early the search ends. The assignments of the solver itself
# are worse there.
problem = draw(0, ops=120, layouts=5, window=40, given=.1, forbidden=0)
early = ["--max-nodes=0", "--max-table=4", "--max-seconds=0"]
best = json.loads(solve(problem)[1])
unaided = json.loads(solve(problem, *early)[1])["cost"]
assert unaided is None or unaided > best["cost"], unaided
assert json.loads(solve(problem | {"initial": best["configurations"]}, *early)[1])["cost"] == best["cost"]

BUDGET = '{"ops": {"a": {"x": 1}}, "budget": {%s}}'
B = '{"op": "b", "layouts": {"y": "A"}}'
X = '"x": {"producer": {"layout": "A"}, "consumers": [%s], "conversions": {"A": {"B": 1}}}'
for text, message in (
        ("{", "Expected object key"),
        ("{}", "missing value at problem.ops"),
        ('{"ops": {}, "op": 1}', "unknown key at problem.op"),
        ('{"ops": {"a": {}}}', "op 'a' has no configuration"),
        ('{"ops": {"a": {"x": -1}}}', "expected null or an integer from 0 to 2^63 - 3 at problem.ops.a.x"),
        ('{"ops": {"a": {"x": 1.5}}}', "expected null or an integer"),
        ('{"ops": {"a": {"x": 9223372036854775806}}}', "expected null or an integer"),
        ('{"ops": {}, "tensors": {%s}}' % X % '{"op": "b", "layouts": {}}', "tensor 'x' names op 'b', which does not "
                                                                            "exist"),
        ('{"ops": {"b": {"y": 1}}, "tensors": {%s}}' % X % '{"op": "b", "layouts": {}}',
         "tensor 'x' has no layout for configuration 'y' of op 'b'"),
        ('{"ops": {"b": {"y": 1}}, "tensors": {%s}}' % X % '{"op": "b", "layouts": {"y": "A", "z": "A"}}',
         "tensor 'x' names configuration 'z' of op 'b'"),
        ('{"ops": {}, "tensors": {%s}}' % X % '{"op": "b"}', "expected 'op' and 'layouts', or 'layout' alone at "
         "problem.tensors.x.consumers[0]"),
        ('{"ops": {}, "tensors": {%s}}' % X.replace('"B": 1', '"A": 1') % "", "converts layout 'A' to itself"),
        ('{"ops": {}, "tensors": {%s}}' % X.replace('{"A": {"B": 1}}', '"none"') % "", "names conversions 'none'"),
        ('{"ops": {"a": {"x": 1}}, "factors": [{"over": ["a", "a"], "costs": []}]}', "factor 0 is over op 'a' twice"),
        ('{"ops": {"a": {"x": 1}}, "factors": [{"over": ["b"], "costs": []}]}', "factor 0 names op 'b', which does not exist"),
        ('{"ops": {"a": {"x": 1}}, "factors": [{"over": ["a"], "costs": [{"when": ["y"], "cost": 1}]}]}',
         "names configuration 'y' of op 'a'"),
        ('{"ops": {"a": {"x": 1}}, "factors": [{"over": ["a"], "costs": [{"when": [], "cost": 1}]}]}',
         "has an entry of 0 configurations for 1 ops"),
        ('{"ops": {"a": {"x": 1}}, "factors": [{"over": ["a"], "costs": [{"when": ["x"], "cost": 1},'
         ' {"when": ["x"], "cost": 1}]}]}', "has two entries for the same configurations"),
        ('{"ops": {"a": {"x": 1},\n "\\u0061": {"x": 2}}}', '[2:2]: "\\u0061" is repeated in one object'),
        ('{"ops": {"a": {"x": 1, "x": 1}}}', '[1:24]: "x" is repeated in one object'),
        ('{"ops": {"a": {"x": 9223372036854775805}, "b": {"x": 1}}}', "add up to 2^63 - 3 or more"),
        ('{"ops": {"b": {"y": 1}}, "tensors": {%s}}' % X.replace('{"layout": "A"}', B) % B,
         "tensor 'x' has op 'b' as producer and consumer; copies cannot form a cycle"),
        (BUDGET % '"limit": -1', "the budget: limit -1 must not be negative"),
        (BUDGET % '"most": 1', "unknown key at problem.budget.most"),
        (BUDGET % '"limit": 1, "base": -1', "the budget: base -1 must not be negative"),
        (BUDGET % '"limit": 1, "amounts": {"b": {}}', "the budget names op 'b', which does not exist"),
        (BUDGET % '"limit": 1, "amounts": {"a": {"y": 1}}', "the budget names configuration 'y' of op 'a'"),
        (BUDGET % '"limit": 1, "peaks": [{"a": {"x": -1}}]', "the budget has a negative amount for configuration 'x'"),
        (BUDGET % '"limit": 1, "amounts": {"a": {"x": 4611686018427387905}}', "add up to more than 2^62"),
        ('{"ops": {"a": {"x": 1}}, "initial": {}}', "the initial assignment has no configuration of op 'a'"),
        ('{"ops": {"a": {"x": 1}}, "initial": {"a": "y"}}', "the initial assignment names configuration 'y' of op 'a'"),
        ('{"ops": {}, "initial": {"a": "x"}}', "the initial assignment names op 'a', which does not exist"),
        ("{" + '"a": [' * 100000, "nested more than 64 deep")):
    status, out, err = solve(text)
    assert status == 1 and not out and message in err, (text[:200], err)
wide = {"ops": {f"o{i}": {"a": 1, "b": 2} for i in range(40)}}
wide["factors"] = [{"over": list(wide["ops"]), "costs": []}]
assert "too many entries" in solve(wide)[2]
for option in "--initial=x", "--solution=x":
    status, _, err = solve('{"ops": {}}', option)
    assert status == 1 and "is for problems in wcsp format" in err, err
assert json.loads(solve('{"ops": {}}')[1])["cost"] == 0
assert set(json.loads(solve('{"ops": {}}', "--statistics")[1])["statistics"]) == {"nodes", "work", "seconds"}
assert "which the wcsp format does not have" in solve('{"ops": {}, "budget": {"limit": 1}}', "--write-wcsp=-")[2]
