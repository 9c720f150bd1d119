"""The error index: every message of an error or a warning, its cause and the way out, read off the source."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

from _site.messages import messages
from streamsieve import exceptions

SRC = Path(__file__).resolve().parents[2] / "src" / "streamsieve"
#: Folders whose errors a user of the library or of the command line meets, in the order of the page.
AREAS = {
    "_validation": "Input: matrices, targets, weights, names",
    "_frames.py": "Input: matrices, targets, weights, names",
    "_values.py": "Input: matrices, targets, weights, names",
    "column_types.py": "Input: matrices, targets, weights, names",
    "feature_names.py": "Input: matrices, targets, weights, names",
    "_parameters.py": "Parameters",
    "selecting.py": "One call: ss.select",
    "base": "Calls: the order of calls, feature names, merging",
    "ledger.py": "Calls: the order of calls, feature names, merging",
    "_one_thread.py": "Calls: the order of calls, feature names, merging",
    "_threads.py": "Calls: the order of calls, feature names, merging",
    "_extras.py": "Calls: the order of calls, feature names, merging",
    "__init__.py": "Calls: the order of calls, feature names, merging",
    "columns": "Streaming columns",
    "rows": "Streaming rows",
    "offline": "Offline selectors",
    "learners": "Learners",
    "criteria": "Criteria and summaries",
    "summaries": "Criteria and summaries",
    "independence": "Tests and measures",
    "dependence": "Tests and measures",
    "sources": "Files, tables and Kafka",
    "_files.py": "Files, tables and Kafka",
    "_paths.py": "Files, tables and Kafka",
    "running": "Runs and checkpoints",
    "engines": "Engines: processes, Dask, Spark",
    "adapters": "Adapters of river and Spark",
    "state": "State files",
    "registry.py": "State files",
    "evaluation": "Comparing",
    "datasets": "Data sets",
    "cli": "Command line",
}
#: On a narrow screen the columns of a row stand below each other.
STACKED = ":::{container} stacked"
#: Letters of what to do; less is a value, such as the text of another error.
SHORTEST = 12
#: Ways out by class: where a message gives none of its own, and what to read.
WAYS_OUT = {
    "InputError": "change the data as the message says: [files and formats](/guides/files_and_formats.md)",
    "InputTypeError": "encode text, or leave it out: [categories](/guides/categorical_and_text.md)",
    "BadValueError": "replace infinities, or scale the column: [missing values](/guides/missing_values.md)",
    "SchemaError": "pass the same columns and rows as in the first call, or fit a new object",
    "TargetError": "set `task=`, or use another method: [targets and tasks](/guides/targets_and_tasks.md)",
    "ParameterError": "choose a value in the range that the message gives: [cards](/methods/index.md)",
    "CapabilityError": "use a method with this capability: [table of methods](/methods.md)",
    "NotBegunError": "call `begin(y)` first: [streaming columns](/start/streaming_columns.md)",
    "MergeError": "merge only states with the same parameters and features: [merging](/guides/merging.md)",
    "StateError": "use `NAME.previous`, or fit again: [state files](/reference/state_files.md)",
    "SourceError": "check path, format and target: [files and formats](/guides/files_and_formats.md)",
    "ConcurrentUseError": "give each thread an object of its own, and merge: [merging](/guides/merging.md)",
    "ProtocolError": "see `error.failures`; `error.report` has the rest: [comparing](/guides/comparing.md)",
    "DateWarning": "set `month_first=True` if so: [files and formats](/guides/files_and_formats.md)",
    "DependentRowsWarning": "pass `serial` or `groups`: [dependent rows](/guides/dependent_rows.md)",
    "TargetWarning": "set `task=`: [targets and tasks](/guides/targets_and_tasks.md)",
    "ManyLevelsWarning": "pool levels, or leave the column out: [types of columns](/column_types.md)",
    "ManyColumnsWarning": "set a smaller alpha, or use `TopK(k=...)`: [choosing](/choose.md)",
    "SuspectColumnsWarning": "leave the column out if it is not known at prediction: [FAQ](/faq.md)",
    "WeightsWarning": 'set `weight_kind="importance"`: [p-values](/guides/p_values.md)',
    "AttributeError": "fit first, or read an attribute that the message names",
    "IndexError": "count from 0, below the number that the message names",
    "ValueError": "give what the message says is accepted",
    "TypeError": "implement what the message names in your part: [extend](/extend/README.md)",
    "RuntimeError": "implement what the message names in your part: [extend](/extend/README.md)",
    "KeyError": "use a name that the message proposes: [the ledger](/guides/the_ledger.md)",
    "ConvergenceWarning": "change the parameter that the message names: [cards](/methods/index.md)",
    "UserWarning": "change the parameter that the message names: [cards](/methods/index.md)",
    "DataConversionWarning": "pass y with one dimension, as `y.ravel()`",
    "NotAColumnError": "return one number per row: [features on demand](/guides/features_on_demand.md)",
    "BadMessageError": "fix the producer, or skip the message: [Kafka](/guides/checkpoints_and_kafka.md)",
}


def pages() -> dict[str, str]:
    """Return the page of all messages, by where they come from."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for path, made in messages(SRC).items():
        area = AREAS.get(path.relative_to(SRC).parts[0])
        if area:
            found[area] |= made
    lines = [
        "# Errors",
        "",
        "Search this page for a few words of a message; `...` stands for a value. All classes are in",
        "`streamsieve.exceptions`; `except StreamSieveError` catches every error. Some messages, such",
        'as "Expected 2D array" and "The feature names should match", are those of scikit-learn.',
        "",
        "## By class",
        "",
        STACKED,
        "| class | cause | way out |",
        "|---|---|---|",
        *(f"| `{name}` | {_cause(name)} | {WAYS_OUT[name]} |" for name in documented()),
        ":::",
        "",
    ]
    for area in dict.fromkeys(AREAS.values()):
        lines += [f"## {area}", "", STACKED, "| what was wrong | way out | raised as |", "|---|---|---|"]
        entries: dict[tuple[str, str], list[str]] = defaultdict(list)
        for text, kind in sorted(found[area]):
            entries[_split(text, kind)].append(f"`{kind}`")
        lines += [f"| {wrong} | {way} | {', '.join(kinds)} |" for (wrong, way), kinds in entries.items()]
        lines += [":::", ""]
    return {"reference/errors.md": "\n".join(lines)}


def documented() -> list[str]:
    """Return the errors and warnings that a user can meet."""
    classes = (name for name in vars(exceptions) if name.endswith(("Error", "Warning")))
    return [name for name in classes if name != "StreamSieveError"]


def _cause(name: str) -> str:
    return (inspect.getdoc(getattr(exceptions, name)) or "").partition("\n")[0].replace("``", "`")


def _split(text: str, kind: str) -> tuple[str, str]:
    """Return what a message says was wrong, and what it says to do, or what is to be done about its class."""
    wrong, colon, way_out = text.rpartition("; " if "; resume with" in text else ": ")
    says_something = any(word.isalpha() for word in wrong.split())
    if colon and says_something and len(way_out) > SHORTEST and way_out[0] not in ".(":
        return _escaped(wrong), _escaped(way_out)
    return _escaped(text), WAYS_OUT[kind]


def _escaped(text: str) -> str:
    for mark in "\\`*_{}[]<>|$":
        text = text.replace(mark, f"\\{mark}")
    return re.sub(r"\.\.\.( \.\.\.)+", "...", " ".join(text.split()))
