"""Choose a source for any data: files by suffix, objects by type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from streamsieve._parameters import did_you_mean
from streamsieve._paths import format_of, is_paths, resolve
from streamsieve.exceptions import ParameterError, SourceError
from streamsieve.sources.arrays import ArraySource
from streamsieve.sources.arrow import ArrowSource
from streamsieve.sources.arrow_stream import ArrowStreamSource
from streamsieve.sources.checks import no_axis
from streamsieve.sources.computed.transformed import Transformed
from streamsieve.sources.dask_frame import DaskSource, is_dask
from streamsieve.sources.generated import Features
from streamsieve.sources.kafka import KafkaSource
from streamsieve.sources.partitioned_query import PartitionedQuery
from streamsieve.sources.spark_frame import SparkSource, is_spark
from streamsieve.sources.svmlight import SvmlightSource
from streamsieve.sources.tables import frames
from streamsieve.sources.tables.producers import producer_of

#: How the address of a Kafka topic begins.
KAFKA = "kafka://"


def features(
    factory: Callable[[], Iterable[Any]] | Iterable[Any],
    y: Any = None,
    *,
    names: Sequence[str] | None = None,
    compute: Callable[[Any], Any] | None = None,
    workers: int = 0,
) -> Features:
    """Make a source of columns that are computed on demand, here or by worker processes.

    Parameters
    ----------
    factory : callable returning an iterator, or iterable
        Yields the features in order: columns, or functions without arguments that return one, alone or as
        pairs ``(name, ...)``.  Pass the generator function itself, not a generator, so that it can be
        restarted.
    y : array of one value per row, default=None
        The target.
    names : sequence of str, default=None
        Names in order of arrival, for columns without a name.
    compute : callable or None, default=None
        Function that computes a column from an item of ``factory``.
    workers : int, default=0
        Number of worker processes; 0 to compute in this process.

    Returns
    -------
    Features
        See there for details; pass it to :func:`streamsieve.run`.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> rng = np.random.default_rng(0)
    >>> raw = rng.normal(size=(500, 40))
    >>> y = raw[:, 3] * raw[:, 7] > 0
    >>> def products():
    ...     for i in range(40):
    ...         for j in range(i):
    ...             yield f"{i} x {j}", lambda: raw[:, i] * raw[:, j]
    >>> sieve = ss.FastOSFS(alpha=1e-6, stop=ss.Stop(max_features=1))
    >>> sieve = ss.run(ss.features(products, y), sieve)
    >>> sieve.get_feature_names_out(), sieve.n_features_in_
    (array(['7 x 3'], dtype=object), 25)

    Only 25 of the 780 products were computed.
    """
    return Features(factory, y, names, compute=compute, workers=workers)


def open(data: Any, target: Any = None, **options: Any) -> Any:  # noqa: A001 - ss.open reads as it should
    """Open files, arrays, dataframes, databases or topics as a source that streams rows or columns.

    Parameters
    ----------
    data : path, pattern, folder, list of these, address, array, dataframe, sparse matrix, stream, or source
        Files are recognized by suffix: .parquet .csv .tsv .txt .jsonl .arrow .feather .xlsx .ods .sqlite
        .duckdb .svm and others, see :class:`ArrowSource`; text may be compressed (.csv.gz).  A folder, or a
        pattern such as ``"clicks/*.parquet"``, means all its files, in natural order.  ``"-"`` is
        standard input.
        ``"kafka://host:port/topic"`` is a Kafka topic.  Streams of rows are lazy frames, relations, datasets,
        queries, Arrow readers and iterators of chunks, see :class:`~streamsieve.sources.ArrowStreamSource`.
        Dask frames and arrays and Spark frames stay distributed, see
        :class:`~streamsieve.sources.DaskSource` and :class:`~streamsieve.sources.SparkSource`.
        A source is returned unchanged.
    target : str or array, default=None
        The column or field that holds the target; for data in memory, also the target itself.  svmlight files
        contain their own.
    **options
        Passed on to the source: ``sep``, ``encoding``, ``exclude`` and others for tables in files,
        ``exclude`` and ``ordered`` for streams, ``n_features`` and
        ``zero_based`` for svmlight files, ``names`` for arrays, ``names``, ``stop`` and others for Kafka.

        ``weight``, for all but svmlight files: the column or field that holds the weights of rows, or for
        arrays the weights themselves.  What a weight means is up to the selector, see ``weight_kind`` of
        :class:`~streamsieve.Screen`.

        ``transform``, for any data that has columns: a function of the name and the values of a column that
        returns a column in its place, or a pair ``(name, column)``, or yields some of these.  They are
        computed on demand; with ``workers=2`` by two processes, as in :func:`streamsieve.features`.

    Returns
    -------
    ArrowSource, ArrowStreamSource, SvmlightSource, KafkaSource, DaskSource, SparkSource or ArraySource
        With ``transform``, a Features of its columns.

    Examples
    --------
    >>> import numpy as np, streamsieve as ss
    >>> source = ss.open(np.eye(3), target=[0, 1, 1])
    >>> [batch.y.tolist() for batch in source.rows(2)]
    [[0, 1], [1]]
    >>> def bent(name, x):
    ...     yield name, x
    ...     yield f"{name}^2", x**2
    >>> [block.names for block in ss.open(np.eye(3), names=list("abc"), transform=bent).columns(2)]
    [['a', 'a^2'], ['b', 'b^2'], ['c', 'c^2']]
    """
    transform, workers = options.pop("transform", None), options.pop("workers", None)
    source = _opened(data, target, options)
    if transform is None:
        if workers is not None:
            raise ParameterError("workers compute features: say which, transform=function")
        return source
    if not callable(getattr(source, "columns", None)):
        raise no_axis(source, "columns", "transform makes columns of columns; give data that has some")
    return Transformed(source, transform, 0 if workers is None else workers)


def _opened(data: Any, target: Any, options: dict[str, Any]) -> Any:
    if _is_topic(data):
        return _open_topic(data, target, options)
    if is_paths(data):
        return _open_files(data, target, options)
    for kind, is_kind in ((DaskSource, is_dask), (SparkSource, is_spark)):
        if is_kind(data):
            return _made(kind, data, options, target=target)
    if target is None or isinstance(target, str):
        producer = producer_of(data)
        if producer is not None:
            stream = ArrowStreamSource if producer.query is None else PartitionedQuery
            return _made(stream, producer, options, target=target)
    if _is_source(data):
        if target is not None or options:
            raise SourceError(
                f"a {type(data).__name__} is open already: give the target and options when making it"
            )
        return data
    if callable(data) or inspect.isgenerator(data):
        raise SourceError(
            f"got a {type(data).__name__}: for columns computed on the way, use features(factory, y)"
        )
    return _made(ArraySource, data, options, y=target)


def _is_topic(data: Any) -> bool:
    items = data if isinstance(data, (list, tuple)) else [data]
    return any(isinstance(item, str) and item.startswith(KAFKA) for item in items)


def _open_topic(data: Any, target: Any, options: dict[str, Any]) -> Any:
    if not isinstance(data, str):
        if len(data) > 1:
            raise SourceError("a Kafka topic is a stream of its own: open it alone")
        (data,) = data
    servers, _, topic = data.removeprefix(KAFKA).partition("/")
    if not servers or not topic or "/" in topic:
        raise SourceError(f"wanted an address such as 'kafka://host:9092/topic'; got {data!r}")
    if not isinstance(target, str):
        raise SourceError(f"say which field of the messages is the target, as text; got target={target!r}")
    return _made(KafkaSource, topic, options, servers=servers, target=target)


def _open_files(data: Any, target: Any, options: dict[str, Any]) -> Any:
    files = resolve(data)
    sparse = [format_of(file).kind == "svmlight" for file in files]
    if not any(sparse):
        if target is not None and not isinstance(target, str):
            raise SourceError(
                f"target must be the name of a column of the files; got {type(target).__name__}"
            )
        return _made(ArrowSource, files, options, target=target)
    if not all(sparse):
        raise SourceError(
            f"{files[sparse.index(True)]} is svmlight text, but {files[sparse.index(False)]} is a table: "
            "one stream, one kind of file"
        )
    if target is not None:
        raise SourceError(
            f"{files[0]} is svmlight text, where each line begins with its label: leave out target={target!r}"
        )
    return _made(SvmlightSource, files, options)


def _made(kind: type[Any], data: Any, options: dict[str, Any], **target: Any) -> Any:
    """Create a source; options that it does not have are refused by name."""
    known = [name for name in list(inspect.signature(kind).parameters)[1:] if name not in target]
    for name in options:
        if name not in known:
            raise ParameterError(
                f"{kind.__name__} has no option {name!r}{did_you_mean(name, known)}; "
                f"it has {', '.join(known)}"
            )
    return kind(data, **target, **options)


def _is_source(data: Any) -> bool:
    # a polars frame has a method rows, too
    axes = callable(getattr(data, "rows", None)) or callable(getattr(data, "columns", None))
    return axes and not isinstance(data, type) and frames.as_frame(data) is None
