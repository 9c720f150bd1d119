"""Screen, then learn, in the order of time: does adaptation help (Wang 2021, tables 3.8 and 3.9)?"""

from __future__ import annotations

from collections.abc import Sequence

from studies import _report
from studies._desk import Desk
from studies.adaptation import _runs, findings, tables, thesis
from studies.adaptation._blocks import Errors
from studies.adaptation._methods import EPOCHS, FIRST_STEP, STEP
from studies.adaptation._streams import BLOCKS, LIVES, STREAMS


def run(desk: Desk) -> str | None:
    """Compute, and return the page; None if no stream is there."""
    done = _runs.compute(desk)
    if not done:
        return None
    return _report.page(
        desk,
        "Screening and learning in the order of time",
        _introduction(desk, done),
        findings.section(desk, done),
        tables.changes_section(desk, done),
        tables.errors_section(desk, done),
        thesis.section(),
    )


def _introduction(desk: Desk, names: Sequence[str]) -> str:
    lines = []
    for name in names:
        stored = Errors(desk, name).stored
        lines.append(
            [
                name,
                f"{stored['rows']:,}",
                f"{stored['features']:,}",
                f"{stored['k']:,}",
                f"{STREAMS[name].batch}",
                f"{stored['every']:,}",
                " / ".join(f"{stored['lives'][life]:,}" for life in LIVES),
                f"{stored['window']:,}",
            ]
        )
    headings = [
        "stream", "rows", "features", "screens keep", "batch", "block", "half-lives, slow / fast", "window"
    ]  # fmt: skip
    return f"""\
Wang, *Online and Offline Feature Screening and Applications*, 2021, section 3.4.3: a screen follows a stream,
with or without a fading factor, and SGD or sparse FSA learn from the features it keeps. Here rows stream in
the order of time, and every batch is predicted before the screen and the learner see its labels
(`streamsieve.evaluation.prequential`), so each error rate is over all rows but the first batch. Errors of a
learner that was made for the past are what adaptation is meant to reduce.

{_report.table(headings, lines)}
- Screens: the thesis's five, `Screen(criterion, k=..., half_life=...)`. What is not selected is 0 for the
  learner.
- `sgd` is a logistic regression by stochastic gradients; its steps shrink ({FIRST_STEP:g} / sqrt(rows)), so
  that all rows count. `sgd, forgets` has steps of {STEP:g} for good, so that late rows count more.
- `fsa` keeps half as many features as the screen and learns all rows anew, in {EPOCHS} passes, after every
  block. `fsa, forgets` learns those of the window only. (Going on from batch to batch is no choice: what
  annealing has dropped does not come back, and the screen may want it back.)
- Words are taken as they are, electricity's features in units of their standard deviation so far.
- Uncertainty: the stream is cut into {BLOCKS} blocks, and two ways are compared block by block on the same
  rows.
"""
