"""Every error StreamSieve raises on purpose.

::

    StreamSieveError
    ├── InputError (ValueError)          the data cannot be used as given
    │   ├── InputTypeError (TypeError)     it is not numeric
    │   ├── BadValueError                  it contains infinity, or a value whose square overflows
    │   ├── SchemaError                    its columns, names or rows differ from those of earlier calls
    │   └── TargetError                    y cannot serve as the target of this method
    ├── ParameterError (ValueError)      a constructor parameter is out of its range
    ├── CapabilityError (TypeError)      this method cannot do that; the message names those that can
    ├── NotBegunError (ValueError)       a column was offered before begin(y)
    ├── MergeError (ValueError)          two states do not belong together
    ├── StateError (ValueError)          a .sieve file is damaged, foreign or too new
    ├── SourceError (ValueError)         a source cannot be opened or read, or lacks the needed axis
    ├── ConcurrentUseError (RuntimeError)  two threads used one object at the same time
    └── ProtocolError (RuntimeError)     parts of a comparison failed; it brings the report of the others

    ManyLevelsWarning (UserWarning)      the rarest levels of a nominal column were pooled
    DependentRowsWarning (UserWarning)   the rows do not look independent, and p-values would be too small
    TargetWarning (UserWarning)          whole numbers in y were taken for a quantity, or for classes
    ManyColumnsWarning (UserWarning)     more columns are kept than there are rows
    SuspectColumnsWarning (UserWarning)  a selected column is an identifier, or gives the target away
    WeightsWarning (UserWarning)         frequency weights sum to far less than the number of rows
    DateWarning (UserWarning)            dates in text were read day first, and the month may come first

A message says what was expected, what was given, and what to do.
"""

from collections.abc import Sequence
from typing import Any

from streamsieve._text import shown


class StreamSieveError(Exception):
    """Root of every error raised on purpose; control characters in its message are shown escaped."""

    def __str__(self) -> str:
        return "\n".join(map(shown, super().__str__().split("\n")))


class InputError(StreamSieveError, ValueError):
    """The input has a shape, type or content that cannot be used."""


class InputTypeError(InputError, TypeError):
    """The input is not numeric."""


class BadValueError(InputError):
    """A feature contains an infinite value, or one whose square overflows.

    ``feature`` is its column in the batch, so that the caller, who knows the names, can name it.
    """

    def __init__(self, message: str, feature: int, value: float) -> None:
        super().__init__(message)
        self.feature, self.value = feature, value


class SchemaError(InputError):
    """Columns, names or rows differ from those of earlier calls."""


class TargetError(InputError):
    """The target is missing, malformed, or of a type that the method does not support."""


class ParameterError(StreamSieveError, ValueError):
    """A constructor parameter is out of range."""


class CapabilityError(StreamSieveError, TypeError):
    """The method does not support this operation; the message names those that do."""


class NotBegunError(StreamSieveError, ValueError):
    """A column was offered before the target was given."""


class MergeError(StreamSieveError, ValueError):
    """Two states cannot be merged: their parameters, features or parts do not match."""


class StateError(StreamSieveError, ValueError):
    """A state file is damaged, is not a StreamSieve state, or was written by a newer version."""


class SourceError(StreamSieveError, ValueError):
    """A source cannot be opened or read, or does not yield rows (or columns) as needed."""


class ConcurrentUseError(StreamSieveError, RuntimeError):
    """Two threads used one object at the same time."""


class DependentRowsWarning(UserWarning):
    """The rows appear to be dependent, so that p-values would be too small."""


class TargetWarning(UserWarning):
    """Whole numbers in y were interpreted as a quantity or as classes; set ``task`` to choose."""


class ManyColumnsWarning(UserWarning):
    """More columns are kept than there are rows."""


class SuspectColumnsWarning(UserWarning):
    """A selected column looks like an identifier, or predicts the target alone almost without error."""


class WeightsWarning(UserWarning):
    """Frequency weights sum to far less than the number of rows; see ``weight_kind``."""


class DateWarning(UserWarning):
    """Dates in text such as 03/04/2024 are valid day first and month first; set ``month_first`` to choose."""


class ManyLevelsWarning(UserWarning):
    """A nominal column has more levels than a table can have; the rarest were pooled."""


class ProtocolError(StreamSieveError, RuntimeError):
    """Some parts of a comparison failed; ``failures`` lists them, and ``report`` has all other results.

    Attributes
    ----------
    failures : list of Failure
    report : the Report of whatever succeeded
    """

    def __init__(self, message: str, failures: Sequence[Any] = (), report: Any = None) -> None:
        super().__init__(message)
        self.failures, self.report = list(failures), report
