"""A corpus of small messy files: dialects, encodings, formats, types and damage.

``python -m tests.cli.messy FOLDER`` writes them all.  In each, ``dose`` is informative about ``label``.
"""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

N = 120


class Case(NamedTuple):
    """A file, the options to read it, and, where it is refused, the error and the options that it advises.

    ``repair`` does to the file what an error advises where options do not help.
    """

    write: object
    options: tuple = ()
    error: str = ""
    advice: tuple = ()
    repair: object = None
    data: str = ""  # what is given to the command, where it is not the file
    says: str = ""  # what the output says, besides the result


def frame():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    rng.shuffle(y)
    columns = {f"noise_{j}": rng.normal(size=N).round(4) for j in range(3)}
    columns["dose"] = (2 * y + rng.normal(size=N)).round(4)
    return pd.DataFrame({**columns, "label": np.array(["well", "ill"])[y]})


def with_column(name, values):
    return frame().assign(**{name: values})


def text(data=None, **options):
    return (frame() if data is None else data).to_csv(index=False, **options)


def plain(content, encoding="utf-8"):
    return lambda path: path.write_bytes(content.encode(encoding) if isinstance(content, str) else content)


def missing(share=0.1, mark=""):
    data = frame()
    holes = np.random.default_rng(1).random(N) < share
    return data.assign(noise_0=data["noise_0"].astype(str).where(~holes, mark))


def zstd(path):
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(text().encode())


def sqlite(path):
    with closing(sqlite3.connect(path)) as connection, connection:
        frame().to_sql("patients", connection, index=False)
    connection.close()


def duck(path):
    table = pa.Table.from_pandas(frame())
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute("create table patients as select * from given")


def excel(path, sheets=("patients",), title="", data=None):
    """Write a workbook by hand: the library that reads it cannot write."""
    data = frame() if data is None else data
    content = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w") as book:
        names = "".join(f'<sheet name="{s}" sheetId="{i}" r:id="r{i}"/>' for i, s in enumerate(sheets, 1))
        links = "".join(
            f'<Relationship Id="r{i}" Type="{kinds}/worksheet" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(sheets) + 1)
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{content}" xmlns:r="{kinds}"><sheets>{names}</sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
        )
        start = f'<Relationship Id="r1" Type="{kinds}/officeDocument" Target="xl/workbook.xml"/>'
        book.writestr(
            "_rels/.rels", f'<Relationships xmlns="{package}/relationships">{start}</Relationships>'
        )
        types = (
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Default Extension="xml" ContentType="application/xml"/>'
        )
        book.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types">{types}</Types>')
        for i in range(1, len(sheets) + 1):
            table = pd.DataFrame({"note": ["see the other sheet"]}) if i < len(sheets) else data
            rows = [
                *[[title]] * bool(title),
                list(table.columns),
                *table.astype(object).where(table.notna(), "").to_numpy().tolist(),
            ]
            cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            book.writestr(
                f"xl/worksheets/sheet{i}.xml",
                f'<worksheet xmlns="{content}"><sheetData>{cells}</sheetData></worksheet>',
            )


def _cell(value):
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"


def folder(path, write=lambda data, file: file.write_text(text(data)), suffix=".csv", extra=()):
    path.mkdir()
    for number, part in enumerate(np.array_split(np.arange(N), 3)):
        write(frame().iloc[part], path / f"part{number}{suffix}")
    for name in extra:
        (path / name).write_text("not a table")


def partitions(path):
    """Write folders such as year=2023/region=eu, as Hive and Spark do; the region goes with the label."""
    for (year, label), part in frame().groupby([np.arange(N) % 3 + 2022, "label"]):
        place = path / f"year={year}" / ("region=eu" if label == "ill" else "region=us")
        place.mkdir(parents=True)
        part.to_parquet(place / "part-0.parquet", index=False)


def german(path):
    """Write what a German spreadsheet exports: a title, semicolons, decimal commas, points in thousands."""
    data = frame().assign(Kaufdatum=[f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(N)])
    data["Umsatz (€)"] = [f"{1 + i}.{(i * 37) % 1000:03d},50" for i in range(N)]
    path.write_bytes(("Kundenliste;;;;;;\n\n" + text(data, sep=";", decimal=",")).encode("cp1252"))


def without_marks(path, mark, column="income", sep=",", encoding="utf-8", skip=0):
    data = pd.read_csv(path, sep=sep, dtype=str, encoding=encoding, skiprows=skip)
    data[column] = data[column].str.replace(mark, "")
    before = "\n" * skip
    path.write_bytes((before + data.to_csv(index=False, sep=sep)).encode(encoding))


def appended(line):
    return text() + line + "\n"


def dated(path, format_="%Y-%m-%d"):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N) * 7 % 365, unit="D")
    path.write_text(text(with_column("seen", days.strftime(format_))))


def database(path):
    """Write two tables, one under a name with a blank, and a view that joins them."""
    data = frame().assign(id=np.arange(N))
    with closing(sqlite3.connect(path)) as connection, connection:
        data.drop(columns="label").to_sql("lab values", connection, index=False)
        data[["id", "label"]].to_sql("people", connection, index=False)
        joined = 'select l.*, p.label from "lab values" l join people p using (id)'
        connection.execute(f"create view analysis as {joined}")
    connection.close()


def typed(path):
    """Write decimals, categories, moments in a time zone, and values that are no features."""
    moments = pd.date_range("2024-01-01", periods=N, tz="Europe/Berlin")
    table = pa.table(
        {
            "dose": pa.array(frame()["dose"]).cast(pa.decimal128(12, 4)),
            "city": pa.array(CITIES).dictionary_encode(),
            "seen": pa.array(moments),
            "user": pa.array([{"age": i} for i in range(N)]),
            "label": pa.array(frame()["label"]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)


def one_mark(path, mark):
    """Put a mark in the place of the first number of the last line."""
    text, _, last = path.read_text().rstrip("\n").rpartition("\n")
    path.write_text(f"{text}\n{mark},{last.partition(',')[2]}\n")


def without_line(path, number):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[: number - 1] + lines[number:]))


def below_names(line):
    first, _, rest = text().partition("\n")
    return f"{first}\n{line}\n{rest}"


CITIES = np.array(["Rome", "Oslo", "Paris", "Lima"])[np.arange(N) % 4]
IDS = [f"P-{i:04d}" for i in range(N)]
HOLES = missing()
DROPPED = frame().assign(label=lambda d: d["label"].where(np.arange(N) % 10 != 0))
CHOICES = ["price, speed", "speed, taste", "price, speed, taste", "price", "price, taste"] * (N // 5)
GROUPED = [f"{1000 + 37 * i:,}" for i in range(N)]
LIMITS = ["<0.5" if i % 4 == 0 else f"{i / 10:.1f}" for i in range(N)]
CODED = with_column("answer", np.where(np.arange(N) % 9 == 0, 99, np.arange(N) % 5))

CASES = {
    # dialects
    "comma.csv": Case(plain(text())),
    "semicolon.csv": Case(plain(text(sep=";")), says="separator: semicolon"),
    "tab.csv": Case(plain(text(sep="\t")), says="separator: tab"),
    "bar.csv": Case(plain(text(sep="|")), says="separator: vertical bar"),
    "tab.tsv": Case(plain(text(sep="\t"))),
    "comma.tsv": Case(plain(text()), says="separator: comma"),
    "comma.txt": Case(plain(text())),
    "tab.dat": Case(plain(text(sep="\t"))),
    "bar.data": Case(plain(text(sep="|"))),
    "decimal_comma.csv": Case(plain(text(sep=";", decimal=",")), says="decimal comma"),
    "decimal_comma_tab.csv": Case(plain(text(sep="\t", decimal=",")), says="decimal comma"),
    "decimal_comma_quoted.csv": Case(
        plain(text(decimal=",")), error="holds numbers with commas", advice=("--decimal", ",")
    ),
    "colon.csv": Case(
        plain(text(sep=":")), options=("--sep", ":"),
    ),
    "space.txt": Case(plain(text(sep=" ")), error="no separator was found", advice=("--sep", " ")),
    "write_table.txt": Case(  # R names one column less than there are, because rows have names
        plain("".join(f"P{i} {line}" if i else line for i, line in enumerate(text(sep=" ").splitlines(True)))),
        options=("--sep", " "), says="1 column of row names left out ((no name))",
    ),
    "separator_at_line_ends.csv": Case(
        plain(text().replace("\n", ",\n").replace(",\n", "\n", 1)), error="a line has more or fewer cells",
        repair=lambda path: path.write_text(text()),
    ),
    "crlf.csv": Case(plain(text(lineterminator="\r\n"))),
    "no_last_line_end.csv": Case(plain(text().rstrip("\n"))),
    "quoted.csv": Case(plain(text(quoting=1))),
    "quoted_newlines.csv": Case(plain(text(with_column("note", ["a\nb", "c"] * (N // 2))))),
    "quoted_separators.csv": Case(plain(text(with_column("note", ["x,y", "z"] * (N // 2))))),
    "comma_in_names.csv": Case(plain(text(frame().rename(columns={"noise_0": "noise, first"})))),
    "spaces_in_names.csv": Case(plain(text(frame().rename(columns={"noise_0": "first noise"})))),
    "unicode_names.csv": Case(plain(text(frame().rename(columns={"noise_0": "größe 高"})))),
    "index.csv": Case(plain(frame().to_csv()), says="1 column of row numbers left out ((no name))"),
    "thousands.csv": Case(
        plain(text(with_column("income", GROUPED))), error="'income' holds numbers with",
        advice=("--exclude", "income"),
    ),
    "thousands_quoted.csv": Case(
        plain(text(with_column("income", GROUPED))), error="with thousands separators, such as '1,000': write",
        repair=lambda path: path.write_text(text(with_column("income", [g.replace(",", "") for g in GROUPED]))),
    ),
    "thousands_followed.csv": Case(  # what the error advises, by pandas
        plain(text(with_column("income", GROUPED))),
        error="(with pandas: read_csv with dtype=str, then frame[column].str.replace(',', ''))",
        repair=lambda path: without_marks(path, ","),
    ),
    "german_export.csv": Case(  # dates such as 23.09.2024 stay dates when points are removed from numbers
        german, options=("--encoding", "cp1252", "--skip-rows", "2"),
        error="'Umsatz (€)' holds numbers with thousands separators, such as '1.000,50'",
        repair=lambda path: without_marks(path, ".", "Umsatz (€)", sep=";", encoding="cp1252", skip=2),
        says="1 date left out (Kaufdatum)",
    ),
    "few_samples.csv": Case(  # their names are no categories
        plain(text(frame().iloc[:40].assign(sample=[f"S{i}" for i in range(40)]))),
        says="1 text that differs in every row left out (sample)",
    ),
    "decimal_comma_below_one.csv": Case(
        plain(text(with_column("share", [f"{i % 7},{100 + i}" for i in range(N)]), decimal=",")),
        error="say --decimal ',', or", advice=("--decimal", ","),
    ),
    "percent.csv": Case(
        plain(text(with_column("growth", [f"{i / 7:.1f}%" for i in range(N)]))),
        error="'growth' holds numbers with the sign %, such as '0.0%'", advice=("--exclude", "growth"),
    ),
    "currency.csv": Case(
        plain(text(with_column("price", [f"$ {i}.50" for i in range(N)]))),
        error="'price' holds numbers with the sign $", advice=("--exclude", "price"),
    ),
    "few_percentages.csv": Case(
        plain(text(with_column("discount", ["5%", "10%", "20%"] * (N // 3)))), says="discount as 3"
    ),
    "thousands_semicolon.csv": Case(
        plain(text(with_column("income", [f"{1000000 + 3700 * i:,}" for i in range(N)]), sep=";")),
        error="thousands separators, such as '1,", advice=("--exclude", "income"),
    ),
    "thousands_german.csv": Case(
        plain(text(with_column("income", [f"{1 + i}.000,5" for i in range(N)]), sep=";", decimal=",")),
        error="thousands separators, such as '1.000,5'", advice=("--exclude", "income"),
    ),
    "several_bad_columns.csv": Case(
        plain(text(frame().assign(income=GROUPED, growth=[f"{i / 7:.1f}%" for i in range(N)], lab=LIMITS))),
        error="3 columns cannot be offered: 'income' holds numbers with thousands separators",
        advice=("--exclude", "income,growth,lab"),
    ),
    "bad_columns_and_text.csv": Case(
        plain(text(frame().assign(income=GROUPED, city=CITIES))), options=("--categories=refuse",),
        error="column 'city' holds text, not numbers: encode it with --categories auto",
        advice=("--exclude", "income,city"),
    ),
    "below_detection.csv": Case(
        plain(text(with_column("lab", LIMITS))), options=("--missing", "omit"), error="--na '<0.5'",
        advice=("--na", "<0.5"),
    ),
    # lines that are no rows, rows that are columns
    "units.csv": Case(
        plain(below_names("mmol/l,mg/dl,g/l,mg,")),
        error="line 2 holds texts ('mmol/l', 'mg/dl', 'g/l' and 1 more) where the lines below hold numbers",
        repair=lambda path: without_line(path, 2),
    ),
    "units_and_marks.csv": Case(  # as laboratories write them: "n.b." was not determined
        lambda path: (plain(below_names("mmol/l,mg/dl,g/l,mg,"))(path), one_mark(path, "n.b.")),
        error="line 2 holds texts ('mmol/l', 'mg/dl', 'g/l' and 1 more) where the lines below hold numbers",
        repair=lambda path: (without_line(path, 2), path.write_text(path.read_text().replace("n.b.", "0"))),
    ),
    "transposed.csv": Case(
        lambda path: frame().T.to_csv(path), error="a line begins with 'label': if features are in rows",
        repair=lambda path: pd.read_csv(path, index_col=0).T.to_csv(path),
    ),
    "transposed_nameless.csv": Case(
        lambda path: frame().T.to_csv(path, header=False), error="header=None, index_col=0).T.to_csv('transposed.csv'",
        repair=lambda path: pd.read_csv(path, header=None, index_col=0).T.to_csv(path, index=False),
    ),
    "nameless.csv": Case(
        plain(text().partition("\n")[2]), error="its first line holds numbers: if it names no columns",
        repair=lambda path: path.write_text(text().partition("\n")[0] + "\n" + path.read_text()),
    ),
    "aligned.txt": Case(
        plain(frame().to_string(index=False) + "\n"), error="columns that blanks align are separated with",
        repair=lambda path: pd.read_csv(path, sep=r"\s+").to_csv(path.with_suffix(".csv"), index=False),
    ),
    # lines before the names of the columns
    "title.csv": Case(
        plain("Trial of 2024\n\n" + text()), error="line 3 may be the one that names the columns",
        advice=("--skip-rows", "2"),
    ),
    "title_with_commas.csv": Case(
        plain("Trial of 2024,,,,\n" + text()), error="line 2 names 'label': --skip-rows 1",
        advice=("--skip-rows", "1"),
    ),
    "title_semicolon.csv": Case(
        plain("Trial of 2024\n" + text(sep=";", decimal=",")), options=("--skip-rows", "1"), says="decimal comma"
    ),
    "title.csv.gz": Case(
        plain(gzip.compress(("Trial of 2024\n" + text()).encode())), error="--skip-rows 1 begins there",
        advice=("--skip-rows", "1"),
    ),
    "title.txt": Case(
        plain("Trial of 2024\n" + text(sep="|")), error="--skip-rows 1 begins there", advice=("--skip-rows", "1")
    ),
    "title.xlsx": Case(
        lambda path: excel(path, title="Trial of 2024"), error="line 2 names 'label': --skip-rows 1",
        advice=("--skip-rows", "1"),
    ),
    # answers of surveys
    "choices.csv": Case(
        plain(text(with_column("reasons", CHOICES))),
        says="reasons lists choices (price, speed, taste), and a category is a whole list: a column per choice "
        "is made by pandas, DATA[COLUMN].str.get_dummies(', ')",
    ),
    "question.csv": Case(
        plain(text(with_column("How much do you agree? " * 4 + "(one answer)", CITIES))),
        says="How much do you agree? How muc...ree? (one answer) as 4",
    ),
    # encodings
    "bom.csv": Case(plain(text(), "utf-8-sig")),
    "utf16.csv": Case(plain(text(), "utf-16"), says="encoding: utf-16"),
    "latin1.csv": Case(
        plain(text(with_column("city", ["Köln", "Rom"] * (N // 2))), "latin-1"),
        error="is not UTF-8 text", advice=("--encoding", "cp1252"),
    ),
    "latin1_decimal_comma.csv": Case(  # a single cell between commas, as a title is
        plain(text(frame().rename(columns={"noise_0": "größe"}), sep=";", decimal=","), "latin-1"),
        error="is not UTF-8 text", advice=("--encoding", "cp1252"), says="decimal comma",
    ),
    "latin1_title.csv": Case(
        plain("Patienten der Klinik Köln\n" + text(), "latin-1"),
        error="line 2 may be the one that names the columns", advice=("--skip-rows", "1"),
    ),
    "latin1_names.csv": Case(
        plain(text(frame().rename(columns={"noise_0": "größe"})), "latin-1"),
        error="is not UTF-8 text", advice=("--encoding", "cp1252"),
    ),
    "cp1252.csv": Case(
        plain(text(with_column("price", ["5 €", "6 €"] * (N // 2))), "cp1252"),
        error="--encoding cp1252 (Western Europe, like latin-1", advice=("--encoding", "cp1252"),
    ),
    # compression
    "gzip.csv.gz": Case(plain(gzip.compress(text().encode()))),
    "bzip2.csv.bz2": Case(plain(bz2.compress(text().encode()))),
    "xz.csv.xz": Case(plain(lzma.compress(text().encode()))),
    "zstd.csv.zst": Case(zstd),
    "semicolon.csv.gz": Case(plain(gzip.compress(text(sep=";", decimal=",").encode())), says="decimal comma"),
    "gzip_renamed.csv": Case(plain(gzip.compress(text().encode()))),
    "two_members.csv.gz": Case(
        plain(gzip.compress(text().encode()[:1000]) + gzip.compress(text().encode()[1000:]))
    ),
    "nameless.gz": Case(
        plain(gzip.compress(text().encode())), error="rename it, for example to nameless.csv.gz",
        repair=lambda path: path.rename(path.with_name("nameless.csv.gz")),
    ),
    "truncated.csv.gz": Case(
        plain(gzip.compress(text().encode())[:-20]), error="cannot be read",
        repair=lambda path: path.write_bytes(gzip.compress(text().encode())),
    ),
    # other formats
    "lines.jsonl": Case(lambda path: frame().to_json(path, orient="records", lines=True)),
    "lines.ndjson": Case(lambda path: frame().to_json(path, orient="records", lines=True)),
    "lines.jsonl.gz": Case(lambda path: frame().to_json(path, orient="records", lines=True)),
    "lines.json": Case(lambda path: frame().to_json(path, orient="records", lines=True)),
    "array.json": Case(lambda path: frame().to_json(path, orient="records")),
    "sheet.xlsx": Case(excel),
    "sheets.xlsx": Case(
        lambda path: excel(path, ("notes", "patients")), error="the first of 2 sheets: --sheet patients",
        advice=("--sheet", "patients"),
    ),
    "table.parquet": Case(lambda path: frame().to_parquet(path, index=False)),
    "index.parquet": Case(lambda path: frame().set_index(np.arange(N) + 5).to_parquet(path)),
    "table.feather": Case(lambda path: frame().to_feather(path)),
    "categorical.parquet": Case(
        lambda path: with_column("city", pd.Categorical(CITIES)).to_parquet(path), says="city as 4"
    ),
    "float32.parquet": Case(lambda path: frame().astype({"dose": np.float32}).to_parquet(path)),
    "bool.parquet": Case(lambda path: with_column("smokes", np.arange(N) % 3 == 0).to_parquet(path)),
    "lists.parquet": Case(
        lambda path: pq.write_table(
            pa.Table.from_pandas(frame()).append_column("scan", pa.array([[1, 2]] * N)), path
        ),
        says="1 list left out (scan)",
    ),
    "patients.sqlite": Case(
        sqlite, error="with the tables 'patients'", advice=("--sql", "select * from patients")
    ),
    "patients.db": Case(sqlite, options=("--sql", "select * from patients where noise_0 > -1")),
    "view.sqlite": Case(
        database, error="""say which rows to read, --sql 'select * from "lab values"'""",
        advice=("--sql", "select * from analysis"),
    ),
    "types.parquet": Case(typed, says="1 other type left out (user), 1 date left out (seen)"),
    "nested.json": Case(
        lambda path: with_column("user", [{"id": i % 3} for i in range(N)]).to_json(path, orient="records"),
        says="objects as columns: 'user.id'",
    ),
    "nested.jsonl": Case(
        lambda path: with_column("user", [{"id": i % 3, "at": {"home": i % 2}} for i in range(N)]).to_json(
            path, orient="records", lines=True
        ),
        says="objects as columns: 'user.id', 'user.at.home'",
    ),
    "lists.jsonl": Case(
        lambda path: with_column("tags", [["a"] * (i % 3) for i in range(N)]).to_json(
            path, orient="records", lines=True
        ),
        says="1 list left out (tags)",
    ),
    "page.xls": Case(
        plain("<html><table><tr><td>dose</td></tr></table></html>"), error="it is a web page or XML",
        repair=lambda path: excel(path.with_suffix(".xlsx")),
    ),
    "patients.duckdb": Case(
        duck, error="with the tables 'patients'", advice=("--sql", "select * from patients")
    ),
    "query.sqlite": Case(
        sqlite, options=("--sql", "select * from patient"), error="no such table: patient: correct --sql",
        advice=("--sql", "select * from patients"),
    ),
    "stata.dta": Case(
        lambda path: frame().to_stata(path, write_index=False), error="convert it with pandas",
        repair=lambda path: pd.read_stata(path).to_parquet(path.with_suffix(".parquet")),
    ),
    "archive.zip": Case(
        lambda path: zipfile.ZipFile(path, "w").writestr("inside.csv", text()), error="unzip it",
        repair=lambda path: zipfile.ZipFile(path).extract("inside.csv", path.parent),
    ),
    "suffixless": Case(
        plain(text()), error="rename it to suffixless.csv",
        repair=lambda path: path.rename(path.with_name("suffixless.csv")),
    ),
    "parquet.csv": Case(
        lambda path: frame().to_parquet(path), error="rename it to end in .parquet",
        repair=lambda path: path.rename(path.with_suffix(".parquet")),
    ),
    # several files
    "parts": Case(folder),
    "parts_mixed": Case(lambda path: folder(path, extra=("README.md",)), says="1 other files ignored"),
    "parts_parquet": Case(
        lambda path: folder(path, lambda data, file: data.to_parquet(file, index=False), ".parquet")
    ),
    "parts_that_grew": Case(
        lambda path: folder(path, lambda data, file: file.write_text(
            text(data.assign(extra=1.0) if file.stem == "part2" else data)
        )),
        error="has a column 'extra', which", advice=("--exclude", "extra"),
    ),
    "parts_of_features": Case(
        lambda path: folder(path, lambda data, file: file.write_text(
            text(data.assign(extra=1.0) if file.stem == "part0" else data)
        )),
        options=("--features", "dose,noise_0"), says="2 offered",
    ),
    "pattern": Case(folder, data="pattern/part*.csv"),
    "partitions": Case(
        partitions, data="partitions/**/*.parquet", says="columns from names of folders: 'year', 'region'"
    ),
    "partitioned": Case(
        partitions, data="partitioned", says="columns from names of folders: 'year', 'region'"
    ),
    "typo.csv": Case(plain(text()), data="tpyo.csv", error="did you mean 'typo.csv'", repair=lambda path: path),
    # types
    "categories.csv": Case(plain(text(with_column("city", CITIES))), says="city as 4"),
    "binary_text.csv": Case(plain(text(with_column("sex", ["m", "f"] * (N // 2)))), says="sex as 1"),
    "missing_text.csv": Case(
        plain(text(with_column("city", np.where(np.arange(N) % 5 == 0, None, CITIES)))), says="city as 5"
    ),
    "constant_text.csv": Case(plain(text(with_column("site", "A"))), says="1 constant text left out (site)"),
    "names.csv": Case(plain(text(with_column("patient", IDS))), says="text of more than 50 values left out (patient)"),
    "refused_text.csv": Case(
        plain(text(with_column("city", CITIES))), options=("--categories", "refuse"),
        error="--categories auto", advice=("--categories", "auto"),
    ),
    "dates.csv": Case(dated, says="1 date left out (seen); --dates makes numbers"),
    "dates_used.csv": Case(dated, options=("--dates",), says="5 offered"),
    "dates_german.csv": Case(
        lambda path: dated(path, "%d.%m.%Y"), options=("--dates",), says="dates of seen as day.month.year"
    ),
    "dates_british.csv": Case(
        lambda path: dated(path, "%d/%m/%Y"), options=("--dates",), says="dates of seen as day/month/year"
    ),
    "dates_american.csv": Case(
        lambda path: dated(path, "%m/%d/%Y %H:%M"), options=("--dates",), says="dates of seen as month/day/year"
    ),
    "dates_in_text.csv": Case(
        lambda path: dated(path, "%d.%m.%Y"), says="1 date left out (seen); --dates makes numbers"
    ),
    "dates_ambiguous.csv": Case(
        plain(text(with_column("seen", [f"{1 + i % 12:02}/{1 + i % 7:02}/2024" for i in range(N)]))),
        options=("--dates",), says="dates of seen as day/month/year (month first: --month-first)",
    ),
    "dates_unknown.csv": Case(
        plain(text(with_column("seen", ["unknown", *(f"{1 + i % 28}.{1 + i % 12}.2024" for i in range(1, N))]))),
        options=("--dates", "--missing", "omit"), error="--na unknown", advice=("--na", "unknown"),
    ),
    "dates_both_ways.csv": Case(
        plain(text(with_column("seen", ["25/12/2024", "12/25/2024"] * (N // 2)))), options=("--dates",),
        error="holds dates with the day first, such as '25/12/2024', and others with the month first",
        advice=("--exclude", "seen"),
    ),
    "row_id.csv": Case(plain(text(with_column("row_id", np.arange(N) + 1))), says="row_id looks like an identifier"),
    "leak.csv": Case(
        plain(text(with_column("treated", (frame()["label"] == "ill") * 1.0))), options=("--exclude", "treated")
    ),
    "bool_target.csv": Case(plain(text(frame().assign(label=lambda d: d["label"] == "ill")))),
    "number_target.csv": Case(plain(text(frame().assign(label=lambda d: (d["label"] == "ill") * 1)))),
    # missing values
    "missing.csv": Case(plain(text(HOLES)), error="--missing omit", advice=("--missing", "omit")),
    "missing_imputed.csv": Case(plain(text(HOLES)), error="--missing impute", advice=("--missing", "impute")),
    "missing_excluded.csv": Case(plain(text(HOLES)), error="--exclude noise_0", advice=("--exclude", "noise_0")),
    "na.csv": Case(plain(text(missing(mark="NA"))), options=("--missing", "omit")),
    "question_mark.csv": Case(
        plain(text(missing(mark="?"))), options=("--missing", "omit"), error="if they mean missing values",
        advice=("--na", "?"),
    ),
    "two_marks.csv": Case(
        plain(text(missing(mark="?").assign(answer=CODED["answer"]))),
        options=("--na", "?,99", "--missing", "omit"), says="note: missing values in answer, noise_0",
    ),
    "nine.csv": Case(  # 9 is no answer, and a number of visits
        plain(text(frame().assign(
            answer=np.where(np.arange(N) % 9 == 0, 9, np.arange(N) % 3), visits=np.arange(N) % 12
        ))),
        says="9 in answer is far from the other values: if it means that a value is missing, say --na 9 (text "
        "and workbooks; elsewhere, make it null); --na is for all columns, and 9 may be a value in visits",
    ),
    "ninety_nine_point_nine.csv": Case(
        plain(text(with_column("bmi", np.where(np.arange(N) % 9 == 0, 99.9, 20 + np.arange(N) % 7 / 2)))),
        says="99.9 in bmi is far from the other values",
    ),
    "minus_nine.csv": Case(plain(text(missing(mark="-999"))), options=("--na", "-999", "--missing", "omit")),
    "ninety_nine.csv": Case(
        plain(text(CODED)), says="99 in answer is far from the other values: if it means that a value is missing"
    ),
    "ninety_eight_beside_it.csv": Case(  # as surveys tell "do not know" from "no answer"
        plain(text(CODED.assign(answer=CODED["answer"].where(np.arange(N) % 9 != 4, 98)))),
        says="98 in answer is far from the other values",
    ),
    "ninety_nine_and_holes.csv": Case(
        plain(text(CODED.assign(answer=CODED["answer"].where(np.arange(N) % 7 > 0)))), options=("--missing", "omit"),
        says="99 in answer is far from the other values",
    ),
    "ninety_nine_point.csv": Case(
        plain(text(CODED.astype({"answer": float}))), options=("--na", "99"), error="'answer' has missing values",
        advice=("--missing", "omit"),
    ),
    "ninety_nine.xlsx": Case(
        lambda path: excel(path, data=CODED), options=("--na", "99", "--missing", "omit"), says="5 offered"
    ),
    "missing_text_and_numbers.csv": Case(
        plain(text(HOLES.assign(city=np.where(np.arange(N) % 5 == 0, None, CITIES)))),
        options=("--missing", "omit"), says="city as 5",
    ),
    "classes_alike.csv": Case(
        plain(text(frame().assign(label=lambda d: d["label"].where(np.arange(N) % 4 > 0, d["label"].str.upper())))),
        says="the classes 'ILL', 'ill' differ by case or blanks only",
    ),
    "late_text.csv": Case(
        plain(text(pd.concat([frame()] * 400, ignore_index=True)) + "unknown,1,2,3,ill\n"),
        error="--na unknown", options=("--missing", "omit"), advice=("--na", "unknown"),
    ),
    "missing_target.csv": Case(
        plain(text(DROPPED)), error="12 of 120 rows, at row 1, 11, 21, ...", advice=("--drop-missing-target",)
    ),
    "empty_column.csv": Case(
        plain(text(with_column("nothing", ""))), error="--exclude nothing", advice=("--exclude", "nothing")
    ),
    # damage
    "empty.csv": Case(plain(""), error="is empty", repair=lambda path: path.write_text(text())),
    "header_only.csv": Case(
        plain(text().partition("\n")[0] + "\n"), error="holds no rows", repair=lambda path: path.write_text(text())
    ),
    "ragged.csv": Case(
        plain(appended("1,2,3")), error="more or fewer cells than the first", repair=lambda path: path.write_text(text())
    ),
    "duplicate_names.csv": Case(
        plain(text(frame().rename(columns={"noise_1": "noise_0"}))), error="two columns 'noise_0'",
        repair=lambda path: path.write_text(text()),
    ),
    "truncated.parquet": Case(
        lambda path: path.write_bytes(_parquet()[:-30]), error="cannot be read",
        repair=lambda path: path.write_bytes(_parquet()),
    ),
    "garbage.xlsx": Case(
        plain(b"\x00\x01" * 100), error="cannot be read as a workbook", repair=lambda path: excel(path)
    ),
    "broken.json": Case(
        plain('[{"dose": 1'), error="cannot be read as JSON",
        repair=lambda path: path.write_text(json.dumps(frame().to_dict("records"))),
    ),
    "misspelt.csv": Case(
        plain(text()), options=("--where", "nose_0>0"), error="did you mean 'noise_0'",
        advice=("--where", "noise_0>-9"),
    ),
}  # fmt: skip


def _parquet():
    sink = io.BytesIO()
    frame().to_parquet(sink, index=False)
    return sink.getvalue()


def write(folder_, name):
    """Write one file of the corpus, and return what is given to a command."""
    path = Path(folder_) / name
    CASES[name].write(path)
    return path


if __name__ == "__main__":
    for each in CASES:
        print(write(sys.argv[1], each))
