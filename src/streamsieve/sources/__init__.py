"""Sources: where batches of rows and blocks of columns come from.

============================== =================================================================
arrays, arrow, svmlight, kafka data in memory, tables in files, svmlight text, Kafka topics
generated                      columns computed on demand
drift, birth_death             simulated streams: drifting rows, features that appear and vanish
opening                        ``open`` and ``features``, which choose a source
checks, identity, shown        what sources share: arguments, resuming, their text
tables/                        readers of tables
messages/, computed/           parts of the Kafka source and of computed columns
============================== =================================================================
"""

from typing import TYPE_CHECKING

from streamsieve.sources.arrays import ArraySource
from streamsieve.sources.arrow import ArrowSource
from streamsieve.sources.birth_death import FeatureLives, birth_death_process
from streamsieve.sources.drift import DriftingStream
from streamsieve.sources.generated import Features
from streamsieve.sources.kafka import KafkaSource
from streamsieve.sources.opening import features
from streamsieve.sources.opening import open as open  # noqa: A004 - meant to read ss.open
from streamsieve.sources.svmlight import SvmlightSource

if TYPE_CHECKING:
    from streamsieve.protocols import ColumnSource, RowSource

    # mypy holds every source to what it promises
    _BY_ROWS: tuple[type[RowSource], ...] = (
        ArraySource,
        ArrowSource,
        DriftingStream,
        KafkaSource,
        SvmlightSource,
    )
    _BY_COLUMNS: tuple[type[ColumnSource], ...] = (ArraySource, ArrowSource, Features, SvmlightSource)

__all__ = [
    "ArraySource",
    "ArrowSource",
    "DriftingStream",
    "FeatureLives",
    "Features",
    "KafkaSource",
    "SvmlightSource",
    "birth_death_process",
    "features",
    "open",
]
