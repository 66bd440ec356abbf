"""Rows of a table on the terminal, and how far results are apart in them."""

from collections.abc import Iterable, Sequence


def print_rows(title: str, rows: Sequence[tuple[str, str]]) -> None:
    print(f"\n{title}")
    width = max(len(label) for label, _ in rows) + 2
    for label, text in rows:
        print(f"  {label:<{width}}{text}")


def describe_differences(label: str, differences: Iterable[tuple[float, float | None]], max_rel: float,
                         rounding: Sequence[float] = ()) -> tuple[list[tuple[str, str]], bool]:
    """A row for each (absolute, relative) difference, and whether all are within the limit, or as
    small as `rounding` says that the results are known."""
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
