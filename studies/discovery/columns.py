"""The selectors themselves, over columns whose truth is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import streamsieve as ss
from streamsieve.independence.online_fdr import RULES
from streamsieve.protocols import BoolArray, FloatArray, IntArray
from studies import _report
from studies._desk import Desk
from studies.discovery._simulation import ALPHA, SIGNAL, Rates, known

TESTS = ("marginal", "conditional")
#: Correlations of causes with y where causes have copies, in standard errors.
STRENGTHS = (SIGNAL, 5.0)
#: Streams and the size of their data: independent columns, and causes with copies.
FULL = (40, {"n": 2000, "p": 1000, "causes": 100}), (30, {"n": 600, "p": 1000, "causes": 20})
QUICK = (5, {"n": 400, "p": 100, "causes": 10}), (5, {"n": 300, "p": 100, "causes": 5})


@dataclass(frozen=True)
class Columns:
    """Columns, a target, and which columns are what.

    Attributes
    ----------
    X, y : the data
    origin : of every column the cause it is or copies, or -1 for junk
    cause : whether it is a cause itself
    """

    X: FloatArray
    y: FloatArray
    origin: IntArray
    cause: BoolArray


def draw(seed: int, n: int, p: int, causes: int, copies: int = 0, strength: float = SIGNAL) -> Columns:
    """Draw columns, of which some cause y, and some copy causes, with which they correlate by 0.8.

    The correlation of a cause with y is so many standard errors.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    places = rng.permutation(p)[: causes * (1 + copies)].reshape(1 + copies, causes)
    origin = np.full(p, -1)
    origin[places] = np.arange(causes)
    cause = np.isin(np.arange(p), places[0])
    X[:, places[1:].ravel()] *= 0.6
    X[:, places[1:].ravel()] += 0.8 * np.tile(X[:, places[0]], (1, copies))
    share = strength**2 / n
    signs = rng.choice([-1.0, 1.0], causes)
    y = share**0.5 * X[:, places[0]] @ signs + (1 - causes * share) ** 0.5 * rng.normal(size=n)
    return Columns(X, y, origin, cause)


def false_ones(data: Columns, kept: IntArray, test: str) -> int:
    """Return how many columns were kept although what they were tested for is not so.

    Marginal: junk.  Conditional: junk, and copies of causes that were kept before them.
    """
    false, known_causes = 0, set[int]()
    for j in kept.tolist():
        origin = int(data.origin[j])
        false += origin < 0 or (test == "conditional" and origin in known_causes)
        known_causes |= {origin} if data.cause[j] else set()
    return false


# ------------------------------------------------------------------------------------ parts


def section(desk: Desk) -> str:
    """Compute and compare."""
    plain, copied = QUICK if desk.quick else FULL
    alone = _part(desk, "columns, independent", plain, 0, SIGNAL)
    proxies = {
        strength: _part(desk, f"columns, copies, {strength:g}", copied, 2, strength) for strength in STRENGTHS
    }
    return f"""\
## Columns

`OnlineFDR` over {plain[1]["p"]:,} independent columns and {plain[1]["n"]:,} rows;
{plain[1]["causes"]} of the columns cause y, each with a correlation of 3 standard errors; {plain[0]} streams.
*Marginal* is what the rules saw above as "a tenth", so that the earlier figures stand beside it again.
*Conditional* tests columns given those kept: what they explain is no noise any more, so that the others stand
out.

{_plain_table(alone)}
### With copies

{copied[1]["p"]:,} columns and {copied[1]["n"]:,} rows; {copied[1]["causes"]} causes, and two copies of each
that correlate with it by 0.8, anywhere in the stream; {copied[0]} streams. A copy depends on y, so *marginal*
keeps it with good reason; for *conditional* it is a false discovery once its cause is in. Power counts
causes of which the cause itself or a copy is kept.

{_at_each_strength(proxies)}"""


def _at_each_strength(found: dict[float, dict[str, dict[str, dict[str, float]]]]) -> str:
    return "\n".join(
        f"Causes that correlate with y by {strength:g} standard errors:\n\n{_copies_table(rates)}"
        for strength, rates in found.items()
    )


def _part(
    desk: Desk, name: str, size: tuple[int, dict[str, int]], copies: int, strength: float
) -> dict[str, dict[str, dict[str, float]]]:
    streams, numbers = size
    data = {**numbers, "copies": copies, "strength": strength}
    stored: dict[str, dict[str, dict[str, float]]] = desk.part(
        name, {**data, "streams": streams, "form": 2}, _compute, streams, data
    )
    return stored


def _compute(streams: int, data: dict[str, Any]) -> dict[str, dict[str, dict[str, float]]]:
    """Return rates and numbers of columns kept, by test and rule."""
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    sizes: dict[tuple[str, str], list[int]] = {}
    for seed in range(streams):
        drawn = draw(seed, **data)
        for test in TESTS:
            for rule in RULES:
                p_value = "z" if test == "marginal" else "auto"
                sieve = ss.OnlineFDR(
                    rule, alpha=ALPHA, scope=test, p_value=p_value, ledger="none", test="fisher_z"
                )
                kept = sieve.fit(drawn.X, drawn.y).selected_
                false = false_ones(drawn, kept, test) / max(1, len(kept))
                found = len({*drawn.origin[kept].tolist()} - {-1}) / data["causes"]
                pairs.setdefault((test, rule), []).append((false, found))
                sizes.setdefault((test, rule), []).append(len(kept))
    return {
        test: {
            rule: {**asdict(Rates.over(pairs[test, rule])), "kept": float(np.mean(sizes[test, rule]))}
            for rule in RULES
        }
        for test in TESTS
    }


def _plain_table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    rows = []
    for rule in RULES:
        marginal, conditional = (found[test][rule] for test in TESTS)
        theirs = known(rule, "a tenth")
        rows.append([
            rule, *(_beside(marginal[what], getattr(theirs, what)) for what in ("fdr", "power")),
            *(f"{conditional[what]:.3f}" for what in ("fdr", "power")),
        ])  # fmt: skip
    heads = ["rule", "FDR, marginal", "power, marginal", "FDR, conditional", "power, conditional"]
    return _report.table(heads, rows)


def _beside(ours: float, theirs: float | None) -> str:
    return f"{ours:.3f}" if theirs is None else f"{ours:.3f}, {theirs:.3f}, {ours - theirs:+.3f}"


def _copies_table(found: dict[str, dict[str, dict[str, float]]]) -> str:
    rows = [
        [
            rule,
            *(
                text
                for test in TESTS
                for text in (
                    f"{found[test][rule]['kept']:.1f}",
                    f"{found[test][rule]['fdr']:.3f}",
                    f"{found[test][rule]['power']:.3f}",
                )
            ),
        ]
        for rule in RULES
    ]
    return _report.table(
        ["rule", *(f"{what}, {test}" for test in TESTS for what in ("kept", "FDR", "power"))], rows
    )
