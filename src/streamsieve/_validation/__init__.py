"""Input validation: user data become clean arrays here, or an error that says what to do.

The only folder that calls scikit-learn's validation.  A validated matrix is a float32 or float64
ndarray, or CSR (rows) / CSC (columns) with sorted unique int32 indices, all of them in range.

Speed: rows need no separate pass to check for finite values (the kernels detect NaN and inf in sums they need
anyway), and ordinary arrays take a fast path of exact type tests that costs a microsecond.  Sparse indices
are checked once, at about 0.2 ns per nonzero.

======= =====================================================================================
sparse  index arrays of every sparse format, before SciPy converts them
arrays  dense arrays, dataframes, and scikit-learn's rules about widths and names
rows    batches of rows, and weights
blocks  blocks of columns
targets labels and numbers
======= =====================================================================================
"""

from streamsieve._validation.arrays import check_frame as check_frame
from streamsieve._validation.arrays import check_kept as check_kept
from streamsieve._validation.arrays import clean as clean
from streamsieve._validation.arrays import matrix as matrix
from streamsieve._validation.arrays import refuse_sparse as refuse_sparse
from streamsieve._validation.blocks import check_block as check_block
from streamsieve._validation.blocks import shaped as shaped
from streamsieve._validation.rows import check_batch as check_batch
from streamsieve._validation.rows import check_named_rows as check_named_rows
from streamsieve._validation.rows import check_output as check_output
from streamsieve._validation.rows import check_rows as check_rows
from streamsieve._validation.rows import check_summary_rows as check_summary_rows
from streamsieve._validation.rows import check_traits as check_traits
from streamsieve._validation.sparse import clean_sparse as clean_sparse
from streamsieve._validation.targets import TASKS as TASKS
from streamsieve._validation.targets import check_classes as check_classes
from streamsieve._validation.targets import check_length as check_length
from streamsieve._validation.targets import check_target as check_target
from streamsieve._validation.targets import classes_text as classes_text
from streamsieve._validation.targets import describe_target as describe_target
from streamsieve._validation.targets import is_numeric as is_numeric
from streamsieve._validation.targets import mixed_labels as mixed_labels
from streamsieve._validation.targets import question_labels as question_labels
from streamsieve._validation.targets import range_text as range_text
from streamsieve._validation.targets import task_of as task_of
from streamsieve._validation.targets import whole_labels as whole_labels
