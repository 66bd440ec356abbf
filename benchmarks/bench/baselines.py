"""Selects the tool and passes that choose layouts by the solver, or by a rule of another compiler."""

OPTIMAL = "optimal"
RULES = ("forward", "priority", "rank", "majority", "bidirectional")
# Does not share conversions between consumers, and needs its own pass to be applied.
GREEDY = "greedy"


def decision(rule, *options):
    """Returns the tool, the flag of the pass that decides, and the flag of the pass that applies the decision."""
    if rule == OPTIMAL:
        return "layout-opt", f"--layout-solve={' '.join(options)}", "--layout-materialize"
    return ("layout-baselines", f"--layout-baseline={' '.join([f'rule={rule}', *options])}",
            "--layout-insert-for-each" if rule == GREEDY else "--layout-materialize")
