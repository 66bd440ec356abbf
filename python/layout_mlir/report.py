"""Prints tables on the terminal and formats differences of results."""

from collections.abc import Iterable, Sequence


def print_rows(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    width = max(len(label) for label, _ in rows) + 2
    for label, text in rows:
        print(f"  {label:<{width}}{text}")


def describe_differences(label: str, differences: Iterable[tuple[float, float | None]], max_rel: float,
                         rounding: Sequence[float] = ()) -> tuple[list[tuple[str, str]], bool]:
    """Returns a row for each (absolute, relative) difference, and whether each one is within `max_rel` or its entry of
    `rounding`, an absolute bound on rounding errors."""
    rows, agree = [], True
    for number, (absolute, relative) in enumerate(differences):
        good = relative is not None and relative <= max_rel
        limit = f"{max_rel:g}"
        if not good and rounding and relative is not None and absolute <= rounding[number]:
            good, limit = True, f"{rounding[number]:.3g} absolute, what rounding does to it"
        agree &= bool(good)
        text = "NaN" if relative is None else f"{absolute:.3g} absolute, {relative:.3g} relative"
        rows.append((f"result {number}: {label}", f"{text} ({'within' if good else 'EXCEEDS'} {limit})"))
    return rows, agree
