"""Every error StreamSieve raises on purpose.

::

    StreamSieveError
    ├── InputError (ValueError)          the data given cannot be used as it is
    │   ├── InputTypeError (TypeError)     it is not numbers
    │   ├── BadValueError                  it holds a value that no statistic survives
    │   ├── SchemaError                    its columns, names or rows do not fit what came before
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

A message says what was wanted, what came, and what to do about it.
"""

from collections.abc import Sequence
from typing import Any


class StreamSieveError(Exception):
    """Root of every error raised on purpose."""


class InputError(StreamSieveError, ValueError):
    """The data given cannot be used as it is."""


class InputTypeError(InputError, TypeError):
    """The data given is not numbers."""


class BadValueError(InputError):
    """A feature holds a value that no statistic survives: infinity, or one whose square overflows.

    ``feature`` is its column in the batch, so that the caller, who knows the names, can name it.
    """

    def __init__(self, message: str, feature: int, value: float) -> None:
        super().__init__(message)
        self.feature, self.value = feature, value


class SchemaError(InputError):
    """Columns, names or rows do not fit what came before."""


class TargetError(InputError):
    """The target cannot serve this method."""


class ParameterError(StreamSieveError, ValueError):
    """A constructor parameter is out of its range."""


class CapabilityError(StreamSieveError, TypeError):
    """This method cannot do what was asked; the message names those that can."""


class NotBegunError(StreamSieveError, ValueError):
    """A column was offered before the target was given."""


class MergeError(StreamSieveError, ValueError):
    """Two states do not belong together."""


class StateError(StreamSieveError, ValueError):
    """A state file is damaged, foreign, or written by a newer version."""


class SourceError(StreamSieveError, ValueError):
    """A source cannot be opened or read, or does not have the needed axis."""


class ConcurrentUseError(StreamSieveError, RuntimeError):
    """Two threads used one object at the same time."""


class DependentRowsWarning(UserWarning):
    """The rows do not look independent, so that p-values would be too small; or nothing says they are not."""


class TargetWarning(UserWarning):
    """Many different whole numbers in y were taken for a quantity, or for classes; ``task`` decides."""


class ManyLevelsWarning(UserWarning):
    """A nominal column has more levels than tables take, and the rarest were pooled."""


class ProtocolError(StreamSieveError, RuntimeError):
    """Some parts of a protocol failed; ``failures`` says which, and ``report`` holds all others.

    Attributes
    ----------
    failures : list of Failure
    report : the Report of whatever succeeded
    """

    def __init__(self, message: str, failures: Sequence[Any] = (), report: Any = None) -> None:
        super().__init__(message)
        self.failures, self.report = list(failures), report
