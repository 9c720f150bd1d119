"""A table that can only be read by rows, written again so that it can be read by columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamsieve.sources.tables.scratch import full_disk_named

if TYPE_CHECKING:
    from streamsieve.sources.tables.layout import Layout


def converted(batches: Iterable[list[Any]], layout: Layout, folder: Path) -> Path:
    """Write pieces of record batches to an uncompressed Arrow file, the features as float64.

    All pieces of one list become one record batch: its length is what a column is read in.
    """
    import pyarrow as pa  # noqa: PLC0415

    schema = pa.schema([(name, pa.float64()) for name in layout.features])
    if layout.target is not None:
        schema = schema.append(pa.field(layout.target, layout.target_type))
    path = folder / "converted.arrow"
    with (
        full_disk_named(folder),
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, schema) as writer,
    ):
        for pieces in batches:
            table = pa.Table.from_batches([batch.cast(schema, safe=False) for batch in pieces])
            writer.write_table(table.combine_chunks())
    return path
