"""How to have layouts chosen by the solver, or by a rule that another compiler chooses by."""

OPTIMAL = "optimal"
RULES = ("forward", "priority", "rank", "majority", "bidirectional")
# It shares no conversion, which needs a pass of its own to apply.
GREEDY = "greedy"


def decision(rule, *options):
    """The tool, the flag of the pass that decides, and of the pass that applies the decision."""
    if rule == OPTIMAL:
        return "layout-opt", f"--layout-solve={' '.join(options)}", "--layout-materialize"
    return ("layout-baselines", f"--layout-baseline={' '.join([f'rule={rule}', *options])}",
            "--layout-insert-for-each" if rule == GREEDY else "--layout-materialize")
