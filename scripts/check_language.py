"""Checks how doc comments begin, and how long lines of pages are.

usage: check_language.py ROOT

docs/style.md says how a comment is written. This script counts, for each library, the `///` blocks that begin with a
verb and four habits that make comments hard to read, and fails if a share is past its limit. A share measures a library:
a single sentence may be right although it is counted. Libraries with few blocks are counted in the total alone.
"""

import collections
import pathlib
import re
import sys

from source_files import source_files

FEWEST_BLOCKS = 20
MOST_COLUMNS = 120  # of a page

_VERBS = """Adds Aligns Allocates Appends Applies Asserts Attaches Binds Broadcasts Builds Calculates Calls Cancels Casts
Checks Chooses Clears Clones Closes Collects Combines Compares Compiles Computes Constructs Contains Converts Copies Counts
Creates Cuts Decides Decodes Decomposes Defines Deletes Describes Determines Divides Draws Drops Emits Encodes Ends Enters
Enumerates Erases Estimates Evaluates Exchanges Expands Exports Extends Extracts Fails Fills Finds Finishes Folds Formats
Forwards Frees Fuses Gathers Gets Groups Handles Holds Implements Imports Infers Initializes Inlines Inserts Instantiates
Invokes Iterates Joins Keeps Legalizes Limits Links Lists Loads Locks Looks Lowers Makes Maps Marks Matches Measures Merges
Models Moves Narrows Normalizes Notes Notifies Opens Orders Packs Pads Parses Partitions Performs Picks Places Plans Prepares
Prices Prints Propagates Proves Puts Raises Reads Rebuilds Records Reduces Refines Registers Releases Removes Renames
Reorders Repeats Replaces Reports Represents Requires Resets Resolves Restores Returns Rewrites Rounds Runs Saturates Saves
Scales Schedules Searches Selects Sends Serializes Sets Shortens Shows Shrinks Simplifies Sinks Skips Solves Sorts Splits
Stages Starts Stores Strips Sums Swaps Tests Tiles Tracks Transforms Transposes Traverses Tries Unpacks Unrolls Updates Uses
Validates Verifies Visits Waits Walks Widens Wraps Writes Yields""".split()
# By name: the pattern, and whether it is searched for in the whole block.
_HABITS = {
    "a relative clause": (re.compile(r"(?:What|Who|Whose|Where|How|Which|When|Whether)\b"), False),
    "an anaphora": (re.compile(r"(?:The same|So|Those|That|These|This one|Such|All|None|Nothing|Of|By)\b|\.\."), False),
    "an empty 'nothing'": (re.compile(r"\b(?:[Nn]othing|[Nn]one) (?:where|for|if|of)\b|\b[Nn]ull (?:where|for|of)\b"), True),
    "a 'where' for 'if'": (re.compile(r"\bwhere (?:there|it|that|they|no|one|nothing|this|these|both|only)\b"), True),
}
# Percent of the blocks of a library, of all blocks.
LEAST_VERBS = 45, 60
MOST = {"a relative clause": (1, 0.2), "an anaphora": (2, 0.5), "an empty 'nothing'": (1, 0.2), "a 'where' for 'if'": (1, 0.3)}


def find_blocks(lines):
    """Yields the text of each `///` block."""
    block = []
    for line in [*lines, ""]:
        text = line.strip()
        if text.startswith("///") and not text.startswith("////"):
            block.append(text[3:].strip())
        elif block:
            yield " ".join(block).strip()
            block = []


def get_library(name):
    """Returns the folder that a file of include, lib or tools counts for, or None for other files."""
    parts = pathlib.PurePath(name).parts
    if not name.endswith((".h", ".cpp")) or parts[0] not in ("include", "lib", "tools"):
        return None
    return "/".join(part for part in parts[1:-1][:3 if parts[0] == "lib" else 4] if part != "layout") or parts[0]


def count_blocks(root, names):
    """Returns counts by library and by what is counted; the library of all is ''."""
    counts = collections.defaultdict(collections.Counter)
    for name in names:
        library = get_library(name)
        if library is None:
            continue
        for block in find_blocks((root / name).read_text(encoding="utf-8").splitlines()):
            for each in (library, ""):
                counts[each]["blocks"] += 1
                counts[each]["verb"] += block.split(" ")[0] in _VERBS
                for habit, (pattern, anywhere) in _HABITS.items():
                    counts[each][habit] += bool(pattern.search(block) if anywhere else pattern.match(block))
    return counts


def check_counts(counts):
    """Yields a message for each share that is past its limit."""
    for library, count in sorted(counts.items()):
        if library and count["blocks"] < FEWEST_BLOCKS:
            continue
        name, level = (library, 0) if library else ("all libraries", 1)
        verbs = 100 * count["verb"] / count["blocks"]
        if verbs < LEAST_VERBS[level]:
            yield f"{name}: {verbs:.1f} % of {count['blocks']} doc comments begin with a verb, at least {LEAST_VERBS[level]} %"
        for habit, limits in MOST.items():
            share = 100 * count[habit] / count["blocks"]
            if count[habit] > 1 and share > limits[level]:
                yield f"{name}: {share:.1f} % of {count['blocks']} doc comments have {habit}, at most {limits[level]} %"


def check_pages(root, names):
    """Yields a message for each line of a page that is too long; tables, links and code may be."""
    for name in names:
        if not name.endswith(".md") or name.startswith("docs/reference/"):
            continue
        is_code = False
        for number, line in enumerate((root / name).read_text(encoding="utf-8").splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            may_be_long = is_code or line.startswith("    ") or line.lstrip().startswith(("|", "<!--")) or "](" in line
            if len(line) > MOST_COLUMNS and not may_be_long:
                yield f"{name}:{number}: a line of {len(line)} columns, at most {MOST_COLUMNS}"


def main(argv):
    if len(argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(argv[1])
    names = source_files(argv[1])
    counts = count_blocks(root, names)
    problems = [*check_counts(counts), *check_pages(root, names)]
    for problem in problems:
        print(problem)
    print(f"{counts['']['blocks']} doc comments, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
