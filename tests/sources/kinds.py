"""The same small table as every kind of source, whole or in several files."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from streamsieve import sources

N, P = 23, 7
NAMES = [f"c{j}" for j in range(P)]
#: Where the second and third file of a stream begin.
CUTS = (0, 5, 16, N)


def numbers(seed=0):
    """Return a matrix with zeros, and labels; the first column has no gap, so that svmlight can hold it."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(N, P)) * (rng.random((N, P)) < 0.6), 3)
    X[0, 0], X[0, -1] = 1.5, -2.5
    return X, rng.integers(0, 2, N)


def table(X, y):
    return pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "label": y})


def write_parquet(data, path):
    pq.write_table(data, path, row_group_size=4)


def write_ipc(data, path, compression=None):
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(path, data.schema, options=options) as writer:
        writer.write_table(data, max_chunksize=4)


def write_feather(data, path):
    write_ipc(data, path, "lz4")


def write_stream(data, path):
    with pa.ipc.new_stream(path, data.schema) as writer:
        writer.write_table(data, max_chunksize=4)


def write_csv(data, path):
    pa.csv.write_csv(data, path)


def write_tsv(data, path):
    pa.csv.write_csv(data, path, pa.csv.WriteOptions(delimiter="\t"))


FILES = {
    "parquet": (write_parquet, ".parquet"),
    "ipc": (write_ipc, ".arrow"),
    "feather": (write_feather, ".feather"),
    "stream": (write_stream, ".ipc"),
    "csv": (write_csv, ".csv"),
    "tsv": (write_tsv, ".tsv"),
}


def in_files(kind, folder, cuts):
    X, y = numbers()
    write, suffix = FILES[kind]
    paths = []
    for k, (low, high) in enumerate(itertools.pairwise(cuts)):
        paths.append(folder / f"part{k}{suffix}")
        write(table(X[low:high], y[low:high]), paths[-1])
    return sources.ArrowSource(paths, target="label")


def in_svmlight(folder, cuts):
    X, y = numbers()
    paths = []
    for k, (low, high) in enumerate(itertools.pairwise(cuts)):
        paths.append(folder / f"part{k}.svm")
        dump_svmlight_file(sp.csr_array(X[low:high]), y[low:high], str(paths[-1]), zero_based=False)
    return sources.SvmlightSource(paths)


#: What produces record batches and can be read again, by several readers at once; a DuckDB relation cannot,
#: because a connection has one open result.
STREAMS = ("lazy frame", "dataset", "query", "list of chunks", "function", "list of dicts")


def stream(kind, data, folder):
    """Return an object that produces the rows of a table."""
    if kind == "lazy frame":
        return pl.from_arrow(data).lazy()
    if kind == "dataset":
        write_parquet(data, folder / "part.parquet")
        return ds.dataset(folder / "part.parquet")
    if kind == "query":
        write_parquet(data, folder / "part.parquet")
        return sources.query("duckdb:///", f"FROM '{folder / 'part.parquet'}'")
    if kind == "list of dicts":
        return data.to_pylist()
    pieces = [data.slice(low, 5) for low in range(0, len(data), 5)]
    chunks = [pieces[0].to_pandas(), pl.from_arrow(pieces[1]), *pieces[2:]]
    return chunks if kind == "list of chunks" else lambda: iter(chunks)


def make(kind, folder):
    """Return a source of this kind over ``numbers()``."""
    X, y = numbers()
    data = table(X, y)
    one = (0, N)
    if kind in FILES:
        return in_files(kind, folder, one)
    makers = {
        "array": lambda: sources.ArraySource(X, y, NAMES),
        "csr": lambda: sources.ArraySource(sp.csr_array(X), y, NAMES),
        "coo matrix": lambda: sources.ArraySource(sp.coo_matrix(X), y, NAMES),
        "pandas": lambda: sources.ArraySource(pd.DataFrame(X, columns=NAMES).assign(label=y), "label"),
        "polars": lambda: sources.ArraySource(pl.from_arrow(data), "label"),
        "arrow": lambda: sources.ArraySource(data, "label"),
        **{
            name: lambda n=name: sources.open(stream(n, data, folder), "label", ordered=True)
            for name in STREAMS
        },
        "svmlight": lambda: in_svmlight(folder, one),
        "svmlight, three files": lambda: in_svmlight(folder, CUTS),
        **{f"{name}, three files": lambda n=name: in_files(n, folder, CUTS) for name in FILES},
    }
    return makers[kind]()


KINDS = [
    "array", "csr", "coo matrix", "pandas", "polars", "arrow", *STREAMS, *FILES, "svmlight",
    *(f"{name}, three files" for name in (*FILES, "svmlight")),
]  # fmt: skip


def dense(X):
    return X.toarray() if sp.issparse(X) else X
