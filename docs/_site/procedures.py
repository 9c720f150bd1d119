"""Cards of the online FDR procedures (``fdr=``): level, guarantee, and what simulations show."""

import contextlib
import inspect
import io
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from streamsieve import OnlineFDR
from streamsieve.independence.online_fdr import RULES

ROOT = Path(__file__).resolve().parents[2]
STEEP, SLOW = r"\gamma_t \propto t^{-1.6}", r"\gamma_t \propto t^{-1.1}"
#: The sum of what the stream and all discoveries so far pay at clock c.
PAID = r"S_c = w_0 \gamma_{c + 1} + (1 - w_0) \gamma_{c - c_1 + 1} + \sum_{j \ge 2} \gamma_{c - c_j + 1}"

EXAMPLE = """\
import numpy as np, streamsieve as ss

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 300)
X = rng.normal(size=(300, 1_000))
X[:, ::100] += 0.5 * y[:, None]  # columns 0, 100, 200, ... are informative
print(ss.OnlineFDR(alpha=0.05, fdr="{name}").fit(X, y).selected_)
print(ss.SAOLA(alpha=0.05, fdr="{name}").fit(X, y).selected_)  # before a redundancy rule
"""
DISCRETE = (
    "Where we deviate: a discrete p-value, as of a contingency table, is never discarded, because it need "
    "not be uniformly conservative."
)
SLOWER = (
    "Where we deviate: papers and the R package onlineFDR use weights that fall faster; these leave more "
    "for late columns."
)
SAME = "Weights and constants are those that the paper and the R package onlineFDR recommend."


class About(NamedTuple):
    """What a card says of a procedure beyond its constants."""

    title: str
    level: str
    weights: str
    #: Which tests advance the clock.
    clock: str
    purpose: str
    paper: str


ABOUT = {
    "addis": About(
        "ADDIS", r"\alpha_t = \min(\lambda, (\tau - \lambda)\, \alpha\, S_c)", STEEP,
        "tests with a p-value between lambda and tau; those above tau are discarded",
        "Independent columns, many of which have conservative p-values; the default.",
        "Tian and Ramdas, ADDIS, NeurIPS 2019",
    ),
    "saffron": About(
        "SAFFRON", r"\alpha_t = \min(\lambda, (1 - \lambda)\, \alpha\, S_c)", STEEP,
        "tests with a p-value above lambda",
        "Independent columns, many of which are informative.",
        "Ramdas, Zrnic, Wainwright and Jordan, SAFFRON, ICML 2018",
    ),
    "lord": About(
        "LORD++", r"\alpha_t = \alpha\, S_c",
        r"\gamma_t \propto \log(\max(t, 2)) / (t\, e^{\sqrt{\log t}})", "all tests",
        "Independent columns, few of which are informative; less power than ADDIS, fewer assumptions.",
        "Ramdas, Yang, Wainwright and Jordan, Online control of the FDR with decaying memory, NeurIPS 2017",
    ),
    "dlord": About(
        "D-LORD", r"\alpha_t = \min(\tau, \tau\, \alpha\, S_c)",
        r"\gamma_t \propto \log(\max(t, 2)) / (t\, e^{\sqrt{\log t}})",
        "tests with a p-value up to tau; the others are discarded",
        "As LORD++, where many p-values are conservative.",
        "Tian and Ramdas, ADDIS, NeurIPS 2019",
    ),
    "alpha_investing": About(
        "Generalized alpha-investing", r"\alpha_t = \alpha S_c / (1 + \alpha S_c)", STEEP,
        "tests that find nothing", "To compare with published results; ADDIS has more power.",
        "Aharoni and Rosset, Generalized alpha-investing, JRSS B 2014",
    ),
    "lond": About(
        "LOND", r"\alpha_t = \alpha\, \gamma_t\, (D_{t-1} + 1)", SLOW, "all tests",
        "Columns that depend on each other: copies, lags, n-grams, overlapping aggregates.",
        "Javanmard and Montanari, On online control of false discovery rate, arXiv:1502.06197, 2015",
    ),
    "lond_any": About(
        "Reshaped LOND", r"\alpha_t = \alpha\, \gamma_t\, (D_{t-1} + 1) / (1 + 1/2 + \dots + 1/t)", SLOW,
        "all tests", "Arbitrary dependence, where a tenth of the columns or more are informative.",
        "Zrnic, Ramdas and Jordan, Asynchronous online testing of multiple hypotheses, JMLR 2021",
    ),
    "alpha_spending": About(
        "Alpha-spending", r"\alpha_t = \alpha\, \gamma_t", SLOW, "all tests",
        "The probability of any false discovery must be bounded, under any dependence.",
        "Foster and Stine, Alpha-investing, JRSS B 2008",
    ),
}  # fmt: skip
#: Streams of the simulations, in the order of the card.
KINDS = {
    "noise": "noise only: probability of any discovery",
    "iid": "independent columns",
    "AR": "correlation .9 between neighbors",
    "equi": "correlation .5 between all",
    "copies": "runs of ten copies",
    "scattered": "the same in random places",
}


def pages() -> dict[str, str]:
    """Return one card per procedure."""
    return {f"methods/fdr_{name}.md": _card(name) for name in RULES}


def index() -> str:
    """Return the table of the procedures for the page of all methods."""
    lines = ['## Online FDR procedures (`fdr="..."`)', "", "| procedure | take it for |", "|---|---|"]
    lines += [
        f'| [{ABOUT[name].title}, `"{name}"`](fdr_{name}.md) | {ABOUT[name].purpose} |' for name in RULES
    ]
    return "\n".join(
        [
            *lines,
            "",
            "```{toctree}",
            ":hidden:",
            ":caption: Online FDR procedures",
            "",
            *(f"fdr_{name}" for name in RULES),
            "```",
        ]
    )


def _card(name: str) -> str:
    title, level, weights, clock, purpose, paper = ABOUT[name]
    rule = RULES[name]
    constants = {r"w_0": rule.first, r"\lambda": rule.low, r"\tau": rule.high if rule.high < 1 else 0}
    given = ", ".join(f"${symbol} = {value:g}$" for symbol, value in constants.items() if value)
    ticks = f"The clock $c$ starts at 0 and advances at {clock}; $c_j$ is its time after discovery $j$."
    sums = f"$${PAID}$$\n\n{ticks}"
    found = "$D_{t-1}$ is the number of discoveries before column $t$." if "D_{" in level else ""
    return f"""# {title}

{{bdg-primary}}`Online FDR procedure`

<p class="card-lead">{purpose}</p>

{_example(name)}

## Formula

Column $t$ is a discovery if its p-value is at most

$${level}$$

{sums if "S_c" in level else found}

Weights: ${weights}$, scaled to sum to at most 1{f"; {given}" if given else ""}.

## What is proved, and when it fails

{_guarantee(name)}

Rows must be independent, or their dependence given to `begin`: otherwise the p-values are wrong, and no
procedure helps. [False discoveries](/guides/false_discovery_control.md) has the theorems.

## How it streams

One comparison per column, in order of arrival; a level depends on the columns before it, never on how they
were cut into blocks. Memory is 16 bytes per discovery, beside a table of weights. A state saves and resumes;
two states do not merge, because levels depend on the order. The p-values cost more than the levels:
[OnlineFDR](online_fdr.md) has the measured time of both, and the parameters (`alpha`, `fdr`, `lag`).

## Simulated

1,000 two-sided tests per stream, alpha = 0.05, written by `python -m studies.calibration.simulated`:

{_simulated(name)}

## Paper

{paper}.

{DISCRETE if rule.discrete else SLOWER if weights == SLOW else SAME}
"""


def _example(name: str) -> str:
    """Return a program and what it prints, so that the card never shows what the code does not do."""
    code = EXAMPLE.format(name=name)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})  # noqa: S102 - our own program
    return f"```python\n{code}```\n```text\n{printed.getvalue()}```"


def _guarantee(name: str) -> str:
    """Return the procedure's line of the table in the docstring of ``OnlineFDR``."""
    doc = inspect.getdoc(OnlineFDR) or ""
    titles, lines = None, {}
    for line in doc.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] == "procedure":
            titles = cells[1:]
        elif titles and len(cells) == len(titles) + 1 and "=" not in line:
            lines.update({each.strip(): cells[1:] for each in cells[0].split(",")})
    assert titles is not None, "the docstring of OnlineFDR has no table of procedures"  # noqa: S101
    heads = [title.replace("``", "`") for title in titles]
    table = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", f"| {' | '.join(lines[name])} |"]
    note = "\n\n(1) if null p-values of continuous columns are uniformly conservative."
    return "\n".join(table) + (note if "(1)" in table[-1] else "")


def _simulated(name: str) -> str:
    results: list[dict[str, Any]] = json.loads(
        (ROOT / "studies" / "results" / "online_rules.json").read_text()
    )["streams"]
    lines = ["| columns | false discovery rate | power |", "|---|---|---|"]
    for row in results:
        if row["rule"] == name and row["lag"] == 0:
            kind, _, share = row["stream"].partition(",")
            power = "" if row["power"] is None else f"{row['power']:.2f}"
            what = KINDS.get(kind, kind) + (f", {share.strip()} informative" if share else "")
            lines.append(f"| {what} | {row['fdr']:.3f} | {power} |")
    return "\n".join(lines)
