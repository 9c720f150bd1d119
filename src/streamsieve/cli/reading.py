"""The data of a command: opened as asked, and described in a few lines so that nothing is left out unsaid."""

from __future__ import annotations

import ast
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from streamsieve import registry, sources
from streamsieve._parameters import did_you_mean
from streamsieve._paths import is_svmlight
from streamsieve._text import shortened, shown
from streamsieve.cli.options import Reading, check_reading
from streamsieve.cli.parameters import listed_names, marks_of, names_of
from streamsieve.exceptions import (
    BadValueError,
    CapabilityError,
    DateWarning,
    ParameterError,
    SourceError,
    TargetError,
)

KAFKA = "kafka://"
#: Reasons to leave out several columns, for one.
_ONE = {
    "dates": "date",
    "lists": "list",
    "other types": "other type",
    "row numbers": "column of row numbers",
    "row names": "column of row names",
}


def check(reading: Reading) -> None:
    """Refuse options that make no sense, before any work."""
    check_reading(reading)
    declared_types(reading)


def opened(data: list[str], reading: Reading, *, exclude: Sequence[str] = ()) -> Any:
    """Open the files of a command; columns of ``exclude`` serve something else than features."""
    check(reading)
    plain = all(is_svmlight(path) or path.startswith(KAFKA) for path in data)
    if reading.target is None and not all(map(is_svmlight, data)):
        raise SourceError("say which column is the target: --target NAME")
    options = _given(reading, exclude)
    if plain:
        options.pop("nominal", None)  # there is no text
    else:
        options = {
            "categories": reading.categories,
            "dates": "number" if reading.dates else "drop",
            "month_first": reading.month_first,
            **options,
        }
        if reading.categories == "refuse" and not reading.dates:
            options["dates"] = "refuse"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DateWarning)  # the remarks on the source say it
        return sources.open(data[0] if len(data) == 1 else data, target=reading.target, **options)


def _given(reading: Reading, exclude: Sequence[str]) -> dict[str, Any]:
    """Return what was asked for, as options of a source."""
    left_out = [*names_of("--exclude", reading.exclude), *names_of("--id", reading.id), *exclude]
    options = {
        "weight": reading.weight,
        "features": names_of("--features", reading.features), "exclude": left_out,
        "nominal": names_of("--nominal", reading.nominal),
        "skip_text": reading.skip_text, "where": reading.where,
        "drop_missing_target": reading.drop_missing_target, "sep": _character(reading.sep),
        "decimal": reading.decimal, "encoding": reading.encoding, "na": marks_of(reading.na),
        "sheet": reading.sheet, "skip_rows": reading.skip_rows,
        "sql": reading.sql, "missing": None if reading.missing == "omit" else reading.missing,
    }  # fmt: skip
    return {name: value for name, value in options.items() if value}


def no_weights(reading: Reading, command: str) -> None:
    """Refuse weights where they would be left aside in silence."""
    if reading.weight is not None:
        raise ParameterError(f"{command} weighs all rows alike: leave out --weight")


def _character(sep: str | None) -> str | None:
    r"""Return a separator; tab is hard to type."""
    return {"\\t": "\t", "tab": "\t"}.get(sep or "", sep)


def declared_types(reading: Reading) -> dict[str, str]:
    """Return the types of columns that were declared, by name."""
    found: dict[str, str] = {}
    for kind in ("nominal", "ordinal", "numeric"):
        for name in names_of(f"--{kind}", getattr(reading, kind)):
            if name in found:
                raise ParameterError(f"--{kind} {name}: this column is --{found[name]} already")
            found[name] = kind
    return found


def types_declared_of(source: Any, reading: Reading) -> dict[str, str]:
    """Return the types of columns that were declared; refuse columns that are no features."""
    types = declared_types(reading)
    names = source.names or [f"x{j}" for j in range(source.n_columns or 0)]
    for name, kind in types.items():
        left_out = getattr(source, "left_out", {})
        why = next((why for why, some in left_out.items() if name in some), None)
        if name in getattr(source, "encoded", {}) or (why is not None and "text" in why):
            raise ParameterError(f"--{kind} {name}: this column holds text: declare it, --nominal {name}")
        if why is not None:
            raise ParameterError(f"--{kind} {name}: this column was left out ({why}), so it has no type")
        if name not in names:
            raise ParameterError(f"--{kind} {name}: there is no such feature{did_you_mean(name, names)}")
    return types


def take_types(selector: Any, reading: Reading, source: Any) -> None:
    """Declare the types of columns to a selector, or say that it knows none."""
    types = types_declared_of(source, reading)
    if not types:
        return
    known = selector.get_params(deep=False)
    if known.get("missing") == "omit":
        raise CapabilityError(
            f"--{next(iter(types.values()))} and --missing omit exclude each other: tests of categories need "
            "complete columns, so take --missing impute, or let text become indicators, without --nominal"
        )
    if "types" not in known:
        able = sorted(name for name, cls in registry.selectors().items() if "types" in cls().get_params())
        raise CapabilityError(
            f"{type(selector).method_name()} knows no types of columns, and "
            f"--{next(iter(types.values()))} declares one: {', '.join(able)} do"
        )
    if isinstance(known["types"], str):
        raise ParameterError(f"types={known['types']!r} is for all columns, and some are declared: give one")
    selector.set_params(types={**(known["types"] or {}), **types})


@contextmanager
def named_ways_out(selector: Any = None, where: str = "") -> Iterator[None]:
    """Context: a complaint about a missing value names the options that help, for one method or for all.

    ``where`` is where the value is, unless the complaint says it.
    """
    try:
        yield
    except BadValueError as error:
        found = re.match(
            "(.*)Input X contains NaN: (feature (.*) has missing values(?: \\([\\d,]+ of these .* have\\))?)",
            str(error),
        )
        if not found:  # an infinity, or too large a number
            raise _too_large(error, where) from error
        where, what, feature = found[1] or where, found[2], ast.literal_eval(found[3])
        omit = ""
        if selector is not None and "missing" in selector.get_params(deep=False):
            omit = "--missing omit (each test uses the rows that are complete), "
        advice = f"{omit}--missing impute (the mean of the column), or --exclude {listed_names([feature])}"
        raise BadValueError(f"{where}{what}: {advice}", error.feature, error.value) from error


@contextmanager
def named_target(name: str | None) -> Iterator[None]:
    """Context: a complaint about y names the column that it is."""
    try:
        yield
    except TargetError as error:
        if name is None or not str(error).startswith("y "):
            raise
        raise TargetError(f"the target column {name!r}{str(error)[1:]}") from error


def _too_large(error: BadValueError, where: str) -> BadValueError:
    """Return an error about an infinity that names the options that help."""
    found = re.match("(.*)Input X contains infinity: (feature (.*) holds (-?inf))", str(error))
    if not found:
        return error
    where, what, feature, value = found[1] or where, found[2], ast.literal_eval(found[3]), found[4]
    kept = f"{feature}{'>' if value == '-inf' else '<'}{value}"
    advice = (
        f"--where {shlex.quote(kept)} leaves such rows out, --exclude {listed_names([feature])} the column"
    )
    return BadValueError(f"{where}{what}: {advice}", error.feature, error.value)


def described(source: Any, reading: Reading, others: Sequence[str] = ()) -> list[str]:
    """Return lines on how the data was read, and what became of its columns."""
    remarks = getattr(source, "remarks", [])
    lines = [f"read as: {', '.join(remarks)}"] if remarks else []
    left_out: dict[str, list[str]] | None = getattr(source, "left_out", None)
    if reading.weight is not None:
        lines.append(f"weights of rows: {shown(reading.weight)}")
    if left_out is None:
        return lines
    ids, encoded = set(names_of("--id", reading.id)), source.encoded
    indicators = sum(map(len, encoded.values()))
    offered = len(source.names) - indicators + len(encoded)
    parts = [f"{offered:,} offered"]
    if encoded:
        made = _names(f"{shortened(name, 50)} as {len(each)}" for name, each in encoded.items())
        parts[0] += f" (categories of text: {made})"
    coded = getattr(source, "coded", [])
    if coded:
        parts[0] += f" (codes of text: {_names(coded)})"
    for why, names in left_out.items():
        groups = {why: [n for n in names if n not in ids and n not in others]}
        if why == "excluded":
            groups |= {
                "id": [n for n in names if n in ids],
                "column of groups or times": [n for n in names if n in others],
            }
        parts += [
            f"{len(some):,} {_ONE.get(what, what) if len(some) == 1 else what} left out ({_names(some)})"
            for what, some in groups.items()
            if some
        ]
    total = offered + sum(map(len, left_out.values()))
    lines.append(f"{total:,} column{'s' * (total != 1)}: {', '.join(parts)}")
    if "dates" in left_out:
        lines[-1] += "; --dates makes numbers of dates"
    elif reading.dates and not source.dates:
        lines.append(
            "note: no column holds dates that can be read (as 2024-12-31, 31.12.2024, 31/12/2024 or "
            "12/31/2024), so --dates changed nothing"
        )
    for name, (sep, choices) in getattr(source, "choices", {}).items():
        lines.append(
            f"note: {shortened(name)} lists choices ({_names(choices, 3)}), and a category is a whole list: "
            f"a column per choice is made by pandas, DATA[COLUMN].str.get_dummies({sep!r})"
        )
    return lines


def _names(names: Any, few: int = 5) -> str:
    names = list(names)
    return ", ".join(map(shortened, names[:few])) + (
        f" and {len(names) - few} more" if len(names) > few else ""
    )


def features_of(column: str, source: Any) -> list[str]:
    """Return the features to explain for a column: itself, or those that encode its text; refuse others."""
    names = getattr(source, "names", None)
    if names is None or column in names:
        return [column]
    made = getattr(source, "encoded", {}).get(column)
    if made:
        return list(made)
    why = next((why for why, some in getattr(source, "left_out", {}).items() if column in some), None)
    if why is not None:
        raise ParameterError(
            f"--explain {column}: this column was left out ({why}), so there is no decision on it"
        )
    listed = names_of("--explain", [column])
    if len(listed) > 1:
        return [feature for each in listed for feature in features_of(each, source)]
    raise ParameterError(f"there is no feature {column!r}{did_you_mean(column, names)}")
