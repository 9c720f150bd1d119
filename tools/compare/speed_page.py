"""The page that ``python -m tools.compare.speed --write`` writes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from benchmarks._machine import load, machine

if TYPE_CHECKING:
    from tools.compare.speed import Times

#: Titles of decisions that cost time, by suite and the beginning of a case.
REASONS = {
    ("columns", ""): "2026-11-17 · Correlations are tested by t, and confirmed where t fails.",
    ("blankets", "FastOSFS(g2)"): "2026-11-17 · Tables are tested by permutation moments.",
    ("blankets", "one G2"): "2026-11-17 · Tables are tested by permutation moments.",
    ("blankets", ""): "2026-11-17 · Correlations are tested by t, and confirmed where t fails.",
}


def page(found: list[Times], *, old: str, allowance: float, took: float) -> str:
    """Return the page for the times of all cases."""
    return "\n".join(_lines(found, old, allowance, took)) + "\n"


def _lines(found: list[Times], old: str, allowance: float, took: float) -> Iterator[str]:
    ran = [each for each in found if not each.not_run]
    slower = sorted((each for each in ran if each.ratio > 1 + allowance), key=lambda each: -each.ratio)
    equal = [each for each in slower if each.papers is not None and each.papers <= each.old * (1 + allowance)]
    yield "# Benchmarks, before and after\n"
    yield f"Written by `python -m tools.compare.speed --git {old}`; do not edit.\n"
    yield (
        f"Every case runs in the tree of `{old}` and in this one, in two processes that take turns; the best "
        f"of many rounds counts. What is slower by more than {allowance:.0%} was raced again in new "
        "processes, and where its selectors have other p-values by default now, with those of the papers "
        '(`p_value="z"`, `"chi2"`), which are all that the old tree has.\n'
    )
    now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    yield f"Machine: {machine()}. {now}, load average {load()} at the end; {took / 60:.0f} minutes.\n"
    yield (
        "Since then every block is checked for broken indices and strange values, the types of its columns "
        "are guessed unless they are declared, dependent rows are looked for, and Ctrl-C is answered during "
        "long calls. Small fits and streams of many short columns show these costs most.\n"
    )
    yield (
        f"**{len(ran) - len(slower)} of {len(ran)} cases take at most {1 + allowance:.2f} times as long as "
        f"before**; of the other {len(slower)}, {len(equal)} do with the p-values of the papers.\n"
    )
    if slower:
        yield from _slower(slower)
    for suite, cases in groupby(found, key=lambda each: each.suite):
        yield f"\n## {suite}\n\n| case | before | after | ratio |\n| --- | --- | --- | --- |"
        yield from _rows(cases)


def _slower(slower: list[Times]) -> Iterator[str]:
    yield "## Slower\n"
    yield "| suite | case | ratio | with the papers' p-values | decision |\n| --- | --- | --- | --- | --- |"
    for each in slower:
        papers = "" if each.papers is None else f"{each.papers / each.old:.3f}"
        yield f"| {each.suite} | {each.case} | {each.ratio:.3f} | {papers} | {reason(each)} |"


def reason(times: Times) -> str:
    """Return the title of the decision on p-values if most of the additional time is theirs, or nothing."""
    if times.papers is None or times.papers - times.old > (times.new - times.old) / 2:
        return ""
    keys = [key for key in REASONS if times.suite == key[0] and times.case.startswith(key[1])]
    return REASONS[max(keys, key=lambda key: len(key[1]))] if keys else ""


def _rows(cases: Iterable[Times]) -> Iterator[str]:
    for each in cases:
        if each.not_run:
            yield f"| {each.case} | | | {each.not_run} |"
        else:
            yield f"| {each.case} | {_seconds(each.old)} | {_seconds(each.new)} | {each.ratio:.3f} |"


def _seconds(value: float) -> str:
    """Return a time as a reader likes it."""
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"
