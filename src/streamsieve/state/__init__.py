"""States: declared parts, and the files they go to.

========== ====================================================================================
part       :class:`Part` declares its fields; writing, reading and refusing follow
fields     the kinds of fields: arrays, numbers, texts, labels
parameters kinds of parameters that are not fields: a number or a word, a name or an object
tree       a state as a tree of arrays
registry   which classes a file may name, and parameters as JSON
file       atomic files with a checksum, and the same as bytes
========== ====================================================================================
"""

from streamsieve.state.fields import Array as Array
from streamsieve.state.fields import Bool as Bool
from streamsieve.state.fields import Choice as Choice
from streamsieve.state.fields import Encoded as Encoded
from streamsieve.state.fields import Field as Field
from streamsieve.state.fields import Float as Float
from streamsieve.state.fields import Int as Int
from streamsieve.state.fields import IntOr as IntOr
from streamsieve.state.fields import Json as Json
from streamsieve.state.fields import Texts as Texts
from streamsieve.state.fields import Values as Values
from streamsieve.state.fields import mass as mass
from streamsieve.state.file import FORMAT as FORMAT
from streamsieve.state.file import STALE as STALE
from streamsieve.state.file import as_state_error as as_state_error
from streamsieve.state.file import from_bytes as from_bytes
from streamsieve.state.file import read as read
from streamsieve.state.file import read_header as read_header
from streamsieve.state.file import replacing as replacing
from streamsieve.state.file import sweep as sweep
from streamsieve.state.file import to_bytes as to_bytes
from streamsieve.state.file import write as write
from streamsieve.state.parameters import FloatOr as FloatOr
from streamsieve.state.parameters import Instance as Instance
from streamsieve.state.parameters import NameOrObject as NameOrObject
from streamsieve.state.part import ListOf as ListOf
from streamsieve.state.part import Nested as Nested
from streamsieve.state.part import Part as Part
from streamsieve.state.part import saved_name as saved_name
from streamsieve.state.part import untouched_on_error as untouched_on_error
from streamsieve.state.registry import decode as decode
from streamsieve.state.registry import encode as encode
from streamsieve.state.registry import register as register
