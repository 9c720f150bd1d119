"""From a report to the text of a page."""

from __future__ import annotations

import importlib.util
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from streamsieve._files import refuse_foreign
from streamsieve._text import shown
from streamsieve.evaluation.candidates.stream_learners import BASELINES
from streamsieve.evaluation.reports.final_fit import FinalFit
from streamsieve.evaluation.reports.html import figures, markup, tables
from streamsieve.evaluation.reports.html.code import pipeline_code
from streamsieve.evaluation.reports.recommendation import Recommendation, Standing
from streamsieve.evaluation.reports.report import Report
from streamsieve.evaluation.reports.wording import count_text, metric_label
from streamsieve.exceptions import CapabilityError
from streamsieve.state import replacing

#: Failures and warnings that are written out.
SHOWN = 25
#: Length of a text of a failure or warning.
LONGEST_TEXT = 400
#: What people call settings, and the ways to score folds.
LABELS = {"auc": "scores", "random_state": "random seed", "scale": "features standardized"}
VALUES = {"mean_fold": "one per fold", "pooled": "one per run, over the predictions of all folds"}
SPLITS = {
    "groups": ", in which rows of one group are never both trained and tested on",
    "time": ", in which each fold is tested after training on all earlier rows",
}
PROTOCOLS = {
    "screening": "repeated cross-validation over numbers of features",
    "streaming": "columns that stream in, in random orders",
    "prequential": "rows that stream in: prequential (test-then-train) evaluation",
}


@dataclass(frozen=True)
class Facts:
    """Where the data came from, and how the comparison was started."""

    data: str  #: name of the data, as in a heading
    origin: str = ""  #: where it was read from
    target: str = ""
    command: str = ""
    seconds: float = 0.0
    finished: datetime = field(default_factory=lambda: datetime.now().astimezone())
    resumed: bool = False  #: whether some results were there before
    notes: tuple[str, ...] = ()  #: what else a reader should know, such as columns that were left out


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
    recommendation: Recommendation,
    fits: Mapping[str, FinalFit],
    facts: Facts,
    *,
    overwrite: bool = False,
) -> None:
    """Write a comparison as one HTML page, atomically; its pictures are added to those of the report.

    ``overwrite``: a file that streamsieve did not write may be replaced.
    """
    check_extra()
    refuse_foreign([path], overwrite=overwrite)
    stable = tables.stabilities(report, recommendation)
    draw = {
        "screening": figures.by_size, "streaming": figures.column_streams, "prequential": figures.row_streams
    }  # fmt: skip
    pictures = draw[report.protocol](report)
    times = figures.times(recommendation, whole=report.protocol == "prequential")
    drawn = (times, figures.stable(stable), figures.agreement(fits))
    bars = [each for each in drawn if each is not None]
    report.pictures.update({picture.name: picture.figure for picture in [*pictures, *bars]})
    text = _rendered(
        facts=facts,
        report=report,
        recommendation=recommendation,
        sentence=markup.unbroken(recommendation.sentence),
        summary=_summary(report, recommendation, facts),
        cards=_cards(recommendation),
        code=pipeline_code(report, recommendation.recommended),
        how=_how(recommendation, report),
        table=tables.standings(recommendation, fits, report),
        pictures=[_shown(picture) for picture in pictures],
        bars={picture.name: _shown(picture) for picture in bars},
        stable=tables.stability_rows(stable),
        features=tables.sections(fits, recommendation),
        empty=tables.kept_nothing(report),
        failures=_failures(report, fits),
        warnings=_warnings(report),
        settings=_settings(report, facts),
        parameters=json.dumps(
            {key: report.settings[key] for key in ("selectors", "learners")}, indent=2, ensure_ascii=False
        ),
        seconds=markup.seconds(facts.seconds),
    )
    with replacing(path) as file:
        file.write(text)


def _rendered(**content: Any) -> str:
    import jinja2  # noqa: PLC0415 - needs the cli extra

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("streamsieve.evaluation.reports.html"),
        autoescape=True,
        finalize=lambda value: "\n".join(map(shown, value.split("\n"))) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.jinja").render(**content)


def _shown(picture: figures.Picture) -> dict[str, Any]:
    width, height = (round(96 * inches) for inches in picture.figure.get_size_inches())
    return {
        "address": picture.address(), "caption": picture.caption, "alt": picture.alt, "width": width,
        "height": height,
    }  # fmt: skip


def _summary(report: Report, recommendation: Recommendation, facts: Facts) -> list[str]:
    data = report.settings["data"]
    rows = int(data.get("rows") or 0)
    parts = [f"{rows:,} rows", f"{recommendation.n_features:,} features"]
    classes = data.get("classes", report.settings.get("classes")) or []
    kind = f"{len(classes)} classes: {markup.listed(classes, 6)}" if classes else "a number"
    parts.append(f"target {markup.short(facts.target)} ({kind})" if facts.target else f"target: {kind}")
    parts.append(PROTOCOLS[report.protocol])
    return parts


def _cards(recommendation: Recommendation) -> list[tuple[str, str, str]]:
    """Return what stands beside the sentence, in large letters: heading, value, remark."""
    use, plain = recommendation.recommended, recommendation.all_features
    spread = "" if math.isnan(use.std) else f"± {use.std:.3f} over {use.n} folds"
    of = f"of {recommendation.n_features:,}" if recommendation.n_features else ""
    cards = [
        ("use", _what_to_use(use), f"with {use.learner}"),
        (metric_label(recommendation.metric), markup.score(use.mean), spread),
        ("features", "0" if use.learner in BASELINES else count_text(use.features), of),
    ]
    if plain is not None and plain is not use:
        cards.append(("all features", markup.score(plain.mean), f"with {plain.learner}"))
    return cards


def _what_to_use(use: Standing) -> str:
    if use.keeps_all:
        return "all features"
    return use.selector if use.features >= 1 or use.learner in BASELINES else "no features"


def _how(recommendation: Recommendation, report: Report) -> list[str]:
    settings = report.settings
    if not recommendation.tested and report.protocol != "prequential":
        return ["Differences are not tested: nothing was repeated, or the others failed in some parts."]
    if not recommendation.tested:
        ranked = "Combinations are ranked over the whole stream. It was followed once, so no difference is "
        return [f"{ranked}tested; another stretch of the stream may rank them otherwise."]
    if report.protocol == "screening":
        runs = settings["runs"]
        repeated = f"{runs} run{'s' * (runs != 1)} of {settings['folds']}-fold cross-validation"
        repeated += SPLITS.get(settings.get("split", ""), "")
        chosen = (
            "Each combination stands at the size where its mean score is highest. Sizes and the winner are "
            "chosen by the scores that are shown, so the best scores are a little too good, and p-values a "
            "little too small."
        )
    else:
        split = settings["split"]
        folds = isinstance(split, int)
        parts = f"{split}-fold cross-validation" if folds else f"{split:.0%} of rows held out"
        orders = settings["orders"] or 1
        repeated = f"{orders} random order{'s' * (orders != 1)} of columns with {parts}"
        chosen = "Scores are those after the last column."
    tests = (
        "The best is compared with each of the others by a paired t-test over all folds, corrected for the "
        "training rows that folds share (Nadeau and Bengio, test/train "
        f"{recommendation.test_over_train:.3g}); p-values are adjusted for the number of comparisons (Holm). "
        f"Significant means p < {recommendation.alpha:g}."
    )
    return [
        f"Scores are from {repeated}; scaling and selection see the training rows only.", tests, chosen
    ]  # fmt: skip


def _failures(report: Report, fits: Mapping[str, FinalFit]) -> dict[str, Any]:
    texts = [str(failure) for failure in report.failures]
    texts += [f"{name}, fitted to all rows: {fit.error}" for name, fit in fits.items() if fit.error]
    return {"texts": [text[:LONGEST_TEXT] for text in texts[:SHOWN]], "more": max(0, len(texts) - SHOWN)}


def _warnings(report: Report) -> dict[str, Any]:
    ordered = sorted(report.warnings.items(), key=lambda item: -item[1])
    shown = [(text[:LONGEST_TEXT], f"{count:,}") for text, count in ordered[:SHOWN]]
    return {"texts": shown, "more": max(0, len(ordered) - SHOWN)}


def _settings(report: Report, facts: Facts) -> list[tuple[str, str]]:
    """Return what made the comparison, but for the parameters of selectors and learners."""
    settings, data = report.settings, report.settings["data"]
    left_out = {"protocol", "data", "selectors", "learners", "versions", "classes"}
    rows = [("data", facts.origin or facts.data)]
    if facts.target:
        rows.append(("target", markup.short(facts.target)))
    digests = [key for key in ("X", "y", "names", "sample") if isinstance(data.get(key), str)]
    rows += [(f"digest of {key}", data[key]) for key in digests]
    rows.append(("protocol", report.protocol))
    if not settings.get("literal"):
        left_out.add("literal")
    rows += [
        (LABELS.get(key, key.replace("_", " ")), _text(VALUES.get(value, value) if key == "auc" else value))
        for key, value in settings.items()
        if key not in left_out
    ]
    rows += [(key, str(value)) for key, value in settings["versions"].items()]
    took = f"{markup.seconds(facts.seconds)}{', resumed: earlier results were taken over' * facts.resumed}"
    rows += [("time", took), ("finished", facts.finished.isoformat(sep=" ", timespec="seconds"))]
    return rows


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "as it is" if value is None else str(value)
