"""From a report to the text of a page."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Mapping
from typing import Any

from streamsieve.evaluation._stream_learners import BASELINES
from streamsieve.evaluation._verdict_words import count_text, metric_label
from streamsieve.evaluation.final_fit import FinalFit
from streamsieve.evaluation.html import _features, _figures, _tables, _text
from streamsieve.evaluation.html._facts import Facts
from streamsieve.evaluation.report import Report
from streamsieve.evaluation.verdict import Standing, Verdict
from streamsieve.exceptions import CapabilityError
from streamsieve.state import replacing

#: Failures and warnings that are written out.
TOLD = 25
#: Length of a text of a failure or warning.
LONGEST_TEXT = 400
PROTOCOLS = {
    "screening": "repeated cross-validation over numbers of features",
    "streaming": "columns that stream in, in random orders",
    "prequential": "rows that stream in: each is a test before it is a lesson",
}


def check_extra() -> None:
    """Refuse to begin where a page could not be written in the end."""
    for package in ("jinja2", "matplotlib"):
        if importlib.util.find_spec(package) is None:
            raise CapabilityError(
                f"a page needs {package}, which is not here: pip install 'streamsieve[cli]'"
            )


def write_page(
    path: str | os.PathLike[str],
    report: Report,
    verdict: Verdict,
    fits: Mapping[str, FinalFit],
    facts: Facts,
) -> None:
    """Write a comparison as one page, complete or not at all; its pictures join those of the report.

    Parameters
    ----------
    path : file to write, as "report.html"
    report : what the protocol found
    verdict : what that means, from :func:`streamsieve.evaluation.verdict.verdict`
    fits : what every selector chooses from all rows, from ``final_fits``
    facts : where the data came from, and how the comparison was started
    """
    check_extra()
    stable = _tables.stabilities(report, verdict)
    pictures = _pictures(report)
    bars = [
        each
        for each in (_figures.times(verdict, whole=report.protocol == "prequential"), _figures.stable(stable))
        if each is not None
    ]
    report.pictures.update({picture.name: picture.figure for picture in [*pictures, *bars]})
    text = _rendered(
        facts=facts,
        report=report,
        verdict=verdict,
        sentence=_text.unbroken(verdict.sentence),
        summary=_summary(report, verdict, facts),
        cards=_cards(verdict),
        how=_how(verdict, report),
        table=_tables.standings(verdict, fits, report),
        pictures=[_shown(picture) for picture in pictures],
        bars={picture.name: _shown(picture) for picture in bars},
        stable=_tables.stability_rows(stable),
        features=_features.sections(fits, verdict),
        empty=_features.kept_nothing(report),
        failures=_failures(report, fits),
        warnings=_warnings(report),
        settings=_settings(report, facts),
        parameters=json.dumps(
            {key: report.settings[key] for key in ("selectors", "learners")}, indent=2, ensure_ascii=False
        ),
        seconds=_text.seconds(facts.seconds),
    )
    with replacing(path) as file:
        file.write(text)


def _rendered(**content: Any) -> str:
    import jinja2  # noqa: PLC0415 - needs the cli extra

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("streamsieve.evaluation.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(**content)


def _shown(picture: _figures.Picture) -> dict[str, Any]:
    width, height = (round(96 * inches) for inches in picture.figure.get_size_inches())
    return {
        "address": picture.address(), "caption": picture.caption, "alt": picture.alt, "width": width,
        "height": height,
    }  # fmt: skip


def _pictures(report: Report) -> list[_figures.Picture]:
    draw = {
        "screening": _figures.by_size, "streaming": _figures.column_streams,
        "prequential": _figures.row_streams,
    }  # fmt: skip
    return draw[report.protocol](report)


# ------------------------------------------------------------------------------------ the top


def _summary(report: Report, verdict: Verdict, facts: Facts) -> list[str]:
    data = report.settings["data"]
    rows = int(data.get("rows") or 0)
    parts = [f"{rows:,} rows", f"{verdict.n_features:,} features"]
    classes = data.get("classes", report.settings.get("classes")) or []
    kind = f"{len(classes)} classes: {_text.listed(classes, 6)}" if classes else "a number"
    parts.append(f"target {_text.short(facts.target)} ({kind})" if facts.target else f"target: {kind}")
    parts.append(PROTOCOLS[report.protocol])
    return parts


def _cards(verdict: Verdict) -> list[tuple[str, str, str]]:
    """Return what stands beside the sentence, in large letters: heading, value, remark."""
    use, plain = verdict.recommended, verdict.all_features
    spread = "" if math.isnan(use.std) else f"± {use.std:.3f} over {use.n} folds"
    of = f"of {verdict.n_features:,}" if verdict.n_features else ""
    cards = [
        ("use", _what_to_use(use), f"with {use.learner}"),
        (metric_label(verdict.metric), _text.score(use.mean), spread),
        ("features", "0" if use.learner in BASELINES else count_text(use.features), of),
    ]
    if plain is not None and plain is not use:
        cards.append(("all features", _text.score(plain.mean), f"with {plain.learner}"))
    return cards


def _what_to_use(use: Standing) -> str:
    if use.keeps_all:
        return "all features"
    return use.selector if use.features >= 1 or use.learner in BASELINES else "no features"


def _how(verdict: Verdict, report: Report) -> list[str]:
    settings = report.settings
    if not verdict.tested and report.protocol != "prequential":
        return ["Differences are not tested: nothing was repeated, or the others failed in some parts."]
    if not verdict.tested:
        once = (
            "Combinations are ranked over the whole stream. It was followed once, so there is nothing to "
            "test a difference with; another stretch of the stream may rank them otherwise."
        )
        return [once]
    if report.protocol == "screening":
        runs = settings["runs"]
        repeated = f"{runs} run{'s' * (runs != 1)} of {settings['folds']}-fold cross-validation"
        chosen = (
            "Each combination stands at the size where its mean score is highest. Sizes and the winner are "
            "chosen by the scores that are shown, so the best scores are a little too good, and p-values a "
            "little too small."
        )
    else:
        split = settings["split"]
        parts = (
            f"{split}-fold cross-validation" if isinstance(split, int) else f"{split:.0%} of rows held out"
        )
        orders = settings["orders"] or 1
        repeated = f"{orders} random order{'s' * (orders != 1)} of columns with {parts}"
        chosen = "Scores are those after the last column."
    tests = (
        "The best is compared with each of the others by a paired t-test over all folds, corrected for the "
        f"training rows that folds share (Nadeau and Bengio, test/train {verdict.test_over_train:.3g}); "
        "p-values are adjusted for the number of comparisons (Holm). Significant means p < "
        f"{verdict.alpha:g}."
    )
    return [
        f"Scores are from {repeated}; scaling and selection see the training rows only.", tests, chosen
    ]  # fmt: skip


# ------------------------------------------------------------------------------------ the end


def _failures(report: Report, fits: Mapping[str, FinalFit]) -> dict[str, Any]:
    texts = [str(failure) for failure in report.failures]
    texts += [f"{name}, fitted to all rows: {fit.error}" for name, fit in fits.items() if fit.error]
    return {"texts": [text[:LONGEST_TEXT] for text in texts[:TOLD]], "more": max(0, len(texts) - TOLD)}


def _warnings(report: Report) -> dict[str, Any]:
    ordered = sorted(report.warnings.items(), key=lambda item: -item[1])
    shown = [(text[:LONGEST_TEXT], f"{count:,}") for text, count in ordered[:TOLD]]
    return {"texts": shown, "more": max(0, len(ordered) - TOLD)}


def _settings(report: Report, facts: Facts) -> list[tuple[str, str]]:
    """Return what made the comparison, but for the parameters of selectors and learners."""
    settings, data = report.settings, report.settings["data"]
    left_out = {"protocol", "data", "selectors", "learners", "versions", "classes"}
    rows = [("data", facts.origin or facts.data)]
    if facts.target:
        rows.append(("target", _text.short(facts.target)))
    digests = [key for key in ("X", "y", "names", "sample") if isinstance(data.get(key), str)]
    rows += [(f"digest of {key}", data[key]) for key in digests]
    rows.append(("protocol", report.protocol))
    rows += [(key.replace("_", " "), _told(value)) for key, value in settings.items() if key not in left_out]
    rows += [(key, str(value)) for key, value in settings["versions"].items()]
    took = f"{_text.seconds(facts.seconds)}{', resumed: earlier results were taken over' * facts.resumed}"
    rows += [("time", took), ("finished", facts.finished.isoformat(sep=" ", timespec="seconds"))]
    return rows


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "as it is" if value is None else str(value)
