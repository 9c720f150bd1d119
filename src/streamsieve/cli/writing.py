"""Files of a selection: kept features, the table reduced to them, the ledger, the selector."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any, cast

from streamsieve._files import MAKER
from streamsieve._text import a_line_of, guarded, write_csv
from streamsieve.cli.options import Output, Reading
from streamsieve.cli.parameters import names_of
from streamsieve.exceptions import CapabilityError
from streamsieve.state import replacing

#: Suffixes of each option.
SUFFIXES = {
    "--out": (".csv", ".txt", ".json", ".parquet"),
    "--ledger": (".csv",),
    "--write-data": (".parquet", ".csv", ".arrow"),
}
#: Rows that are written together.
ROWS = 65_536


def paths_of(output: Output) -> dict[str, Path | None]:
    """Return the files that were asked for, by option."""
    return {
        "--out": output.out,
        "--write-data": output.write_data,
        "--ledger": output.ledger,
        "--save": output.save,
    }


def write(output: Output, selector: Any, kept: list[dict[str, Any]], source: Any, reading: Reading) -> None:
    """Write what was asked for; that files may be replaced was checked before the work."""
    if output.out is not None:
        _write_features(output.out, kept, raw=output.raw)
    if output.ledger is not None:
        selector.ledger_.to_csv(output.ledger, raw=output.raw, overwrite=True)
    if output.save is not None:
        selector.save(output.save, overwrite=True)
    if output.write_data is not None:
        names = [row["feature"] for row in kept]
        _write_data(output.write_data, names, source, reading, raw=output.raw)


def _write_features(path: Path, kept: list[dict[str, Any]], *, raw: bool) -> None:
    if path.suffix == ".parquet":
        import pyarrow as pa  # noqa: PLC0415

        columns = {name: [row[name] for row in kept] for name in (kept[0] if kept else {"feature": ""})}
        _store(
            path, pa.table(columns).to_batches() or [pa.record_batch({"feature": pa.array([], pa.string())})]
        )
        return
    with replacing(path) as file:
        if path.suffix == ".txt":
            file.writelines(f"{a_line_of(row['feature'])}\n" for row in kept)
        elif path.suffix == ".json":
            plain = [{k: None if v != v else v for k, v in row.items()} for row in kept]  # noqa: PLR0124 - NaN
            json.dump({"maker": MAKER, "kept": plain}, file, indent=2, allow_nan=False)
        else:
            header = list(kept[0]) if kept else ["feature"]
            write_csv(file, chain([header], (row.values() for row in kept)), raw=raw)


def _write_data(path: Path, kept: list[str], source: Any, reading: Reading, *, raw: bool) -> None:
    """Write identifiers, kept features and the target of all rows, a batch at a time."""
    import pyarrow as pa  # noqa: PLC0415

    if source.names is None:
        raise CapabilityError("--write-data writes tables, and this data has no names of columns")
    places = {name: j for j, name in enumerate(source.names)}
    ids = {name: source.as_written(name) for name in names_of("--id", reading.id)}

    def batches() -> Any:
        seen = 0
        for batch in source.rows(ROWS):
            columns = {name: values.slice(seen, len(batch.X)) for name, values in ids.items()}
            columns |= {name: pa.array(batch.X[:, places[name]], from_pandas=True) for name in kept}
            if batch.y is not None:
                columns[reading.target or "target"] = batch.y
            seen += len(batch.X)
            yield pa.record_batch(columns)

    guards = path.suffix == ".csv" and not raw
    _store(path, map(_guarded, batches()) if guards else batches())


def _guarded(batch: Any) -> Any:
    """Return a record batch whose names and texts no spreadsheet would evaluate."""
    import pyarrow as pa  # noqa: PLC0415

    texts = (pa.types.is_string, pa.types.is_large_string)
    columns = [
        pa.array(map(guarded, each.to_pylist()), each.type) if any(is_(each.type) for is_ in texts) else each
        for each in batch.columns
    ]
    return pa.record_batch(columns, names=[guarded(name) for name in batch.schema.names])


def _store(path: Path, batches: Any) -> None:
    """Write record batches as a file that is complete or not there."""
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import csv, parquet  # noqa: PLC0415

    makers = {".parquet": parquet.ParquetWriter, ".csv": csv.CSVWriter, ".arrow": pa.ipc.new_file}
    writer = None
    with replacing(path) as text:
        try:
            for batch in batches:
                if writer is None:
                    schema = batch.schema.with_metadata({MAKER: ""})
                    writer = makers[path.suffix](cast(Any, text).buffer, schema)
                writer.write_batch(batch.cast(schema) if batch.schema != schema else batch)
        finally:
            if writer is not None:
                writer.close()
