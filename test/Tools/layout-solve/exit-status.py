# Check the output of layout-solve, and the exit status that states what is proven.

# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
import pathlib
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def solve(text, *options):
    """Returns the exit status and the output by the first word of each line."""
    run = subprocess.run(["layout-solve", "-", *options], input=text, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert not run.stderr, run.stderr
    return run.returncode, dict(line.partition(" ")[::2] for line in run.stdout.splitlines())


SMALL = "example 2 2 2 100\n2 2\n1 0 0 1\n1 5\n2 0 1 0 2\n0 0 7\n0 1 1\n"
status, answer = solve(SMALL)
assert (status, answer) == (0, {"cost": "1", "lower-bound": "1", "proven": "yes",
                                "assignment": "0 1"}), answer

# The answer must cost less than the bound.
for bound, expected in ("2", (0, "1")), ("1", (3, "infinite")):
    status, answer = solve(SMALL.replace(" 100\n", f" {bound}\n"))
    assert (status, answer["cost"]) == expected, answer
assert answer == {"cost": "infinite", "lower-bound": "infinite", "proven": "yes",
                  "assignment": "none"}, answer

# A problem without variables has one assignment, without values.
status, answer = solve("p 0 0 1 10\n0 7 0\n")
assert status == 0 and answer["cost"] == "7" and answer["assignment"] == "", answer

# Every two of six variables differ or pay 5: with two values there are at least six equal pairs, three for either
# value.
CLIQUE = "clique 6 2 15 1000\n2 2 2 2 2 2\n" + "".join(
    f"2 {a} {b} 0 2\n0 0 5\n1 1 5\n" for b in range(6) for a in range(b))
status, answer = solve(CLIQUE)
assert (status, answer["cost"], answer["lower-bound"]) == (0, "30", "30"), answer

# If tables are limited and nothing is searched, there is an assignment without a proof.
CUT = ("--max-table=1", "--max-nodes=0")
status, answer = solve(CLIQUE, *CUT)
assert status == 2 and answer["proven"] == "no", answer
assert int(answer["lower-bound"]) < 30 <= int(answer["cost"]), answer
found = answer["cost"]
status, answer = solve(CLIQUE.replace(" 1000\n", f" {found}\n"), *CUT)
assert status == 4 and answer["assignment"] == "none", answer
# The search still proves it.
status, answer = solve(CLIQUE, "--max-table=1")
assert (status, answer["cost"]) == (0, "30"), answer
status, answer = solve(CLIQUE, "--max-total=1", "--max-nodes=0")
assert status == 2, answer

# Whatever ends the search, exactly the variables of the unproven part are named.
PARTS = (CLIQUE.replace("clique 6 2 15 1000\n", "parts 8 2 16 1000\n2 2 ")
         + "2 6 7 0 1\n0 0 3\n")
for limit in "--max-nodes=0", "--max-work=0", "--max-seconds=0":
    status, answer = solve(PARTS, "--max-table=1", limit)
    assert status == 2 and answer["open"] == "0 1 2 3 4 5", answer
    assert int(answer["lower-bound"]) < 30 <= int(answer["cost"]), answer
status, answer = solve(PARTS, "--max-table=1", "--max-seconds=60")
assert (status, answer["cost"]) == (0, "30") and "open" not in answer, answer

# The result is at least as good as a known assignment.
known = folder / "known.sol"
known.write_text("1 0 1 0 1 0\n")
status, answer = solve(CLIQUE, *CUT, f"--initial={known}")
assert answer["cost"] == "30", answer

# Statistics follow the answer.
status, answer = solve(CLIQUE, "--statistics")
seconds = float(answer.pop("seconds"))
assert 0 <= seconds < 60, seconds
answer = {name: answer[name] for name in list(answer)[4:]}
assert answer == {"variables": "6", "largest-domain": "2", "functions": "15",
                  "largest-arity": "2", "tables": "1", "entries": "4",
                  "core-variables": "6", "wide-components": "0", "nodes": "0"}, answer
status, answer = solve(CLIQUE, "--statistics", "--max-table=1")
assert answer["wide-components"] == "1" and int(answer["nodes"]) > 0, answer

# Files: the answer, and only the values.
answer_file, values = folder / "answer", folder / "values"
status, answer = solve(SMALL, "-o", str(answer_file), f"--solution={values}")
assert not answer and status == 0
assert answer_file.read_text().startswith("cost 1\n") and values.read_text() == "0 1\n"
values.unlink()
status, answer = solve(SMALL.replace(" 100\n", " 1\n"), f"--solution={values}")
assert status == 3 and not values.exists()
