"""``--code``: the selection of a command as a scikit-learn pipeline to copy."""

from __future__ import annotations

import inspect
from itertools import groupby
from pathlib import Path
from typing import Any

from streamsieve._paths import format_of, is_svmlight, resolve
from streamsieve.cli.options import Reading
from streamsieve.cli.parameters import marks_of
from streamsieve.exceptions import CapabilityError

#: Names of the functions of pandas that read a format.
_READERS = {
    "csv": "read_csv",
    "json": "read_json",
    "parquet": "read_parquet",
    "ipc": "read_feather",
    "excel": "read_excel",
}
#: Code that queries a database, by format.
_DATABASES = {
    "sqlite": "with closing(sqlite3.connect({file!r})) as database:\n"
    "    data = pd.read_sql_query({sql!r}, database)",
    "duckdb": "with duckdb.connect({file!r}, read_only=True) as database:\n"
    "    data = database.sql({sql!r}).df()",
}
_IMPORTS = {"sqlite": {"import sqlite3", "from contextlib import closing"}, "duckdb": {"import duckdb"}}


_ONE_HOT = (
    'OneHotEncoder(drop="if_binary", sparse_output=False,\n'
    '            feature_name_combiner=lambda column, value: f"{column}={value}")'
)


def check_code(data: list[str]) -> None:
    """Refuse, before any work, ``--code`` for data that pandas does not read by one call per file."""
    if any(is_svmlight(path) or path == "-" or "://" in path for path in data):
        raise CapabilityError("--code is about tables in files: save the data as one, or leave --code out")
    if any(format_of(path).kind not in (*_READERS, *_DATABASES) for path in resolve(data)):
        raise CapabilityError("--code is about tables in files: save the data as one, or leave --code out")


def lines(data: list[str], reading: Reading, selector: Any, source: Any, rows: dict[str, str]) -> list[str]:
    """Return a program that reads the same data and fits the same selector; ``rows`` are options of fit."""
    imports = {
        "import pandas as pd",
        "import streamsieve as ss",
        "from sklearn.pipeline import make_pipeline",
    }
    files, steps = resolve(data), list[str]()
    imports |= _IMPORTS.get(format_of(files[0]).kind, set())
    reads = _reads(files, reading, source)
    encoded, names = source.encoded, _raw_names(source)
    if encoded:
        imports |= {
            "from sklearn.compose import make_column_transformer",
            "from sklearn.preprocessing import OneHotEncoder",
        }
        steps += _encoding(names, encoded)
    if encoded or source.coded:
        missing = dict.fromkeys([*encoded, *source.coded], "missing")
        reads.append(f"data = data.astype({dict.fromkeys(missing, 'object')!r}).fillna({missing!r})")
    for name in source.dates:
        read = f"pd.to_datetime(data[{name!r}], utc=True{_date_form(source.date_orders.get(name))})"
        since = 'sub(pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)  # days since 1970'
        reads.append(f"data[{name!r}] = {read}.{since}")
    if reading.missing == "impute":
        imports.add("from sklearn.impute import SimpleImputer")
        steps.append('SimpleImputer().set_output(transform="pandas")')
    steps.append(f"ss.{_constructor(selector)}")
    step = type(selector).__name__.lower()
    more = "".join(f", {step}__{name}={value}" for name, value in rows.items())
    program = [
        "# the same selection in Python",
        *sorted(imports, key=lambda line: (line.startswith("from"), line)),
        "",
        *reads,
        *_filters(reading, source),
        f"X, y = data[{names!r}], data[{reading.target!r}]",
        "pipeline = make_pipeline(",
        *(f"    {step}," for step in steps),
        f").fit(X, y{more})",
        f"print(pipeline[-1].{'confirm()' if 'holdout' in rows else 'get_feature_names_out()'})",
    ]
    return "\n".join(program).splitlines()


def _date_form(order: Any) -> str:
    """Return how pandas reads dates in text."""
    if order is None:
        return ""
    if order.form:
        return f", format={order.form!r}"
    return f', format="mixed", dayfirst={not order.month_first}'


def _raw_names(source: Any) -> list[str]:
    """Return the columns of the files that the features are made of, in order."""
    origin = {feature: name for name, made in source.encoded.items() for feature in made}
    return list(dict.fromkeys(origin.get(feature, feature) for feature in source.names))


def _reads(files: list[Path], reading: Reading, source: Any) -> list[str]:
    kind, dialect = format_of(files[0]).kind, source.dialect
    if kind in _DATABASES:
        return _DATABASES[kind].format(file=str(files[0]), sql=reading.sql).splitlines()
    options: dict[str, Any] = {}
    if kind == "excel":
        options = {"sheet_name": reading.sheet, "skiprows": reading.skip_rows, "engine": "calamine"}
    elif kind == "json":
        options = {"lines": not files[0].read_bytes()[:64].lstrip().startswith(b"[")}
    elif kind == "csv":
        plain = {"sep": ",", "decimal": ".", "encoding": "utf-8"}
        options = {
            name: getattr(dialect, name) for name, usual in plain.items() if getattr(dialect, name) != usual
        } | {"skiprows": reading.skip_rows}
    given = {name: value for name, value in options.items() if value}
    if reading.na and kind in ("csv", "excel"):
        given["na_values"] = marks_of(reading.na)
    more = "".join(f", {name}={value!r}" for name, value in given.items())
    call = f"pd.{_READERS[kind]}({{!r}}{more})"
    if source.has_objects:
        call = f'pd.json_normalize({call}.to_dict("records"))'
    if source.constants:
        said = {str(file): source.constants.get(file, {}) for file in files}
        one = call.replace("{!r}", "file")
        return [
            f"files = {said!r}",
            f"data = pd.concat([{one}.assign(**said) for file, said in files.items()], ignore_index=True)",
        ]
    if len(files) == 1:
        return [f"data = {call.format(str(files[0]))}"]
    return [
        f"files = {[str(file) for file in files]!r}",
        f"data = pd.concat([{call.replace('{!r}', 'file')} for file in files], ignore_index=True)",
    ]


def _filters(reading: Reading, source: Any) -> list[str]:
    found = []
    if reading.drop_missing_target:
        found.append(f"data = data.dropna(subset=[{reading.target!r}])")
    for each in source.conditions:
        operator = "==" if each.operator == "=" else each.operator
        found.append(f"data = data[data[{each.column!r}] {operator} {_literal(each.value)}]")
    return found


def _literal(value: str) -> str:
    try:
        return repr(float(value))
    except ValueError:
        return repr(value)


def _encoding(names: list[str], encoded: dict[str, list[str]]) -> list[str]:
    """Return a transformer that puts indicators where their column was: the order of columns matters."""
    parts = []
    for is_text, some in groupby(names, key=lambda name: name in encoded):
        how = _ONE_HOT if is_text else '"passthrough"'
        parts.append(f"({how}, {list(some)!r})")
    return [
        "make_column_transformer(\n        "
        + ",\n        ".join(parts)
        + ',\n        verbose_feature_names_out=False,\n    ).set_output(transform="pandas")'
    ]


def _constructor(selector: Any) -> str:
    """Return the call that makes a selector; parameters that have their default are left out."""
    defaults = inspect.signature(type(selector)).parameters
    given = selector.get_params(deep=False)
    said = [f"{name}={value!r}" for name, value in sorted(given.items()) if value != defaults[name].default]
    return f"{type(selector).__name__}({', '.join(said)})"
