"""Sources: where batches of rows and blocks of columns come from.

============================== =================================================================
arrays, arrow, svmlight, kafka data in memory, tables in files, svmlight text, Kafka topics
arrow_stream, query            streams of Arrow record batches, SQL queries
statements, databases          the text of a query; connections that only read, and Ctrl-C during a query
partitioned_query              queries that an engine cuts into ranges of a key
dask_frame, spark_frame        Dask frames and arrays, Spark frames
chunks, vectors                how a worker reads its chunk of a distributed frame, of columns or of vectors
generated                      columns computed on demand
drift, birth_death             simulated streams: drifting rows, features that appear and vanish
opening                        ``open`` and ``features``, which choose a source
table_source                   what tables in files and streams of record batches share
checks, identity, parts, shown shared by sources: arguments, resuming, pieces for engines, text output
text_extent                    the lines of a text file at the moment it was opened
weights                        checks of row weights, for all sources
tables/                        readers of tables
messages/, computed/           parts of the Kafka source and of computed columns
============================== =================================================================
"""

from typing import TYPE_CHECKING

from streamsieve.sources.arrays import ArraySource
from streamsieve.sources.arrow import ArrowSource
from streamsieve.sources.arrow_stream import ArrowStreamSource
from streamsieve.sources.birth_death import FeatureLives, birth_death_process
from streamsieve.sources.dask_frame import DaskSource
from streamsieve.sources.drift import DriftingStream
from streamsieve.sources.generated import Features
from streamsieve.sources.kafka import KafkaSource
from streamsieve.sources.opening import features
from streamsieve.sources.opening import open as open  # noqa: A004 - meant to read ss.open
from streamsieve.sources.query import Query, query
from streamsieve.sources.spark_frame import SparkSource
from streamsieve.sources.svmlight import SvmlightSource

if TYPE_CHECKING:
    from streamsieve.protocols import ColumnSource, RowSource

    # mypy holds every source to what it promises
    _BY_ROWS: tuple[type[RowSource], ...] = (
        ArraySource,
        ArrowSource,
        ArrowStreamSource,
        DriftingStream,
        KafkaSource,
        SvmlightSource,
    )
    _BY_COLUMNS: tuple[type[ColumnSource], ...] = (
        ArraySource,
        ArrowSource,
        ArrowStreamSource,
        Features,
        SvmlightSource,
    )

__all__ = [
    "ArraySource",
    "ArrowSource",
    "ArrowStreamSource",
    "DaskSource",
    "DriftingStream",
    "FeatureLives",
    "Features",
    "KafkaSource",
    "Query",
    "SparkSource",
    "SvmlightSource",
    "birth_death_process",
    "features",
    "open",
    "query",
]
