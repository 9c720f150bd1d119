"""Sparse matrices of every format come in with index arrays that kernels may trust, or not at all."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve._validation import clean_sparse
from streamsieve.datasets import local
from streamsieve.evaluation.engine.problem import Problem
from streamsieve.evaluation.engine.sources import cut
from streamsieve.exceptions import InputError, InputTypeError, SourceError
from streamsieve.protocols import ColumnBlock, RowBatch

A = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 5.0]])
FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def csr(data=(2.0, 1.0, 3.0), indices=(1, 2, 0), indptr=(0, 2, 3), kind=sp.csr_array, dtype=np.int32):
    """Make two rows (or columns) of three, past all that SciPy checks."""
    shape = (2, 3) if kind in (sp.csr_array, sp.csr_matrix) else (3, 2)
    X = kind(shape)
    X.data = np.array(data)
    X.indices, X.indptr = np.array(indices, dtype), np.array(indptr, dtype)
    return X


@pytest.mark.parametrize("wanted", ["csr", "csc"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool, np.longdouble])
def test_every_format_is_taken(wanted, form, kind, dtype):
    given = getattr(sp, f"{form}_{kind}")(A.astype(dtype))
    got = clean_sparse(given, wanted)
    assert got.format == wanted
    assert got.dtype == (np.float32 if dtype is np.float32 else np.float64)
    assert got.indices.dtype == got.indptr.dtype == np.int32
    assert len(got.indices) == len(got.data) == got.indptr[-1]
    assert np.array_equal(got.toarray(), A.astype(dtype).astype(np.float64))


def test_a_clean_matrix_is_passed_on_and_never_changed():
    X = sp.csr_array(A)
    assert clean_sparse(X, "csr") is X


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("stale", [False, True])
def test_order_and_duplicates_are_mended_in_a_copy_whatever_the_flags_say(kind, dtype, stale):
    X = csr((1.0, 2.0, 4.0, 8.0), (2, 0, 2, 1), (0, 3, 4), kind, dtype)
    if stale:
        X.has_sorted_indices = X.has_canonical_format = True
    before = X.indices.tolist(), X.data.tolist()
    for wanted in ("csr", "csc"):
        got = clean_sparse(X, wanted)
        want = np.array([[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
        assert np.array_equal(got.toarray(), want if X.format == "csr" else want.T)
        assert got.has_canonical_format
    assert (X.indices.tolist(), X.data.tolist()) == before


def test_room_beyond_the_last_pointer_is_cut_off():
    got = clean_sparse(csr((2.0, 1.0, 3.0, 9.0), (1, 2, 0, 77)), "csr")
    assert got.indices.tolist() == [1, 2, 0]
    assert got.data.tolist() == [2.0, 1.0, 3.0]


def test_foreign_byte_orders_and_strides_of_index_arrays_are_taken():
    X = csr()
    X.indices, X.indptr = X.indices.astype(">i4"), np.array([0, 7, 2, 7, 3, 7], np.int32)[::2]
    got = clean_sparse(X, "csr")
    assert got.toarray().tolist() == [[0, 2, 1], [3, 0, 0]]


ONE_BASED = r"X has column number 3 in row 0, but 3 columns \(0 to 2\); one-based indices\? subtract 1"
BROKEN = {
    "one past the end": ({"indices": (1, 3, 0)}, ONE_BASED),
    "far past the end": ({"indices": (1, 2, 10**6)}, "X has column number 1000000 in row 1, but 3 columns"),
    "negative": ({"indices": (-1, 2, 0)}, "X has column number -1 in row 0"),
    "beyond 32 bits": ({"indices": (1, 2, 2**32 + 3), "dtype": np.int64}, "number 4294967299 in row 1"),
    "beyond 40 bits": ({"indices": (1, 2, 2**40), "dtype": np.int64}, "column number 1099511627776 in row 1"),
    "pointers too few": ({"indptr": (0, 3)}, "has 2 pointers .* for 2 rows"),
    "pointers too many": ({"indptr": (0, 2, 3, 3)}, "has 4 pointers .* for 2 rows"),
    "no pointers": ({"indptr": ()}, "has 0 pointers"),
    "a late start": ({"indptr": (1, 2, 3)}, "begin with 1, not with 0"),
    "a fall": ({"indptr": (0, 7, 3)}, "fall from 7 to 3 at row 1"),
    "a negative end": ({"indptr": (0, 2, -1)}, "fall from 2 to -1 at row 1"),
    "an end beyond": ({"indptr": (0, 2, 10**6)}, "end at 1000000, but 3 indices"),
    "values too few": ({"data": (2.0, 1.0)}, "has 2 values .* for 3 indices"),
    "values too many": ({"data": (2.0, 1.0, 3.0, 4.0)}, "has 4 values .* for 3 indices"),
    "fractional indices": ({"indices": (1.0, 2.0, 0.0), "dtype": np.float64}, "should have whole numbers"),
}  # fmt: skip


@pytest.mark.parametrize(("broken", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix])
def test_broken_compressed_matrices_are_refused_before_any_conversion(broken, message, kind):
    if kind is sp.csc_array:  # rows and columns change places
        message = message.replace("column", "\0").replace("row", "column").replace("\0", "row")
    for wanted in ("csr", "csc"):
        with pytest.raises(InputError, match=message):
            clean_sparse(csr(**broken, kind=kind), wanted)


def broken_coo(**changes):
    X = sp.coo_array(A)
    for name, (at, value) in changes.items():
        getattr(X, name)[at] = value
    return X


def broken_bsr(name, at, value):
    X = sp.bsr_array(np.kron(np.eye(2), np.ones((2, 2))))
    getattr(X, name)[at] = value
    return X


def broken_lil(rows):
    X = sp.lil_array(A)
    X.rows[0] = rows
    return X


def broken_dok():
    X = sp.dok_array(A)
    X._dict[(0, 99)] = 1.0
    return X


def short_dia():
    X = sp.dia_array(A)
    X.offsets = X.offsets[:-1]
    return X


def with_part(kind, name, value):
    X = kind(A)
    setattr(X, name, value)
    return X


def test_lists_of_numpy_bools_are_numbers():
    X = sp.lil_array((4, 3), dtype=bool)
    X[1, 2] = True  # stored as numpy.bool
    np.testing.assert_array_equal(clean_sparse(X, "csr").toarray(), X.toarray())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (
            broken_coo(row=(1, 4)),
            r"X has row number 4 at entry 1, but 4 rows \(0 to 3\); one-based indices\?",
        ),
        (broken_coo(col=(0, -2)), "X has column number -2 at entry 0, but 3 columns"),
        (broken_bsr("indices", 1, 2), "X has block column number 2 in block row 1, but 2 block columns"),
        (broken_bsr("indptr", 1, 9), "fall from 9 to 2 at block row 1"),
        (broken_lil([0, 99]), r"X has column number 99 in row 0, but 3 columns \(0 to 2\)$"),
        (broken_lil([0]), "has 1 column numbers in row 0, but 2 values"),
        (broken_dok(), "X has a key that is no row and column"),
        (short_dia(), "diagonals"),
        (broken_lil(None), "should have lists in row 0, but has NoneType, list"),
        (broken_lil([0, "b"]), "should have numbers in row 0, but has .* at column 'b'"),
        (with_part(sp.coo_array, "coords", (np.zeros(6, int),)), "has 1 arrays of coordinates"),
        (with_part(sp.csr_array, "indices", [0, 1]), "should have an array in indices, but has a list"),
        (with_part(sp.csr_array, "indptr", None), "should have an array in indptr, but has a NoneType"),
        (with_part(sp.csr_array, "data", [1.0]), r"array of values \(data\), but has a list"),
        (with_part(sp.csc_array, "data", np.ma.masked_array(np.ones(6), True)), "but has a MaskedArray"),
        (with_part(sp.csr_array, "_shape", (4.0, 3)), r"has the shape \(4.0, 3\)"),
        (sp.coo_array(A[0]), r"Expected 2D array, got a sparse array of shape \(3,\)"),
    ],
)
def test_broken_matrices_of_other_formats_are_refused(X, message):
    with pytest.raises(InputError, match=message):
        clean_sparse(X, "csr")


def test_duplicates_of_small_integers_do_not_overflow():
    X = sp.coo_array((np.array([100, 100], np.int8), ([0, 0], [1, 1])), shape=(2, 3))
    assert clean_sparse(X, "csr").toarray()[0, 1] == 200


def test_sparse_values_that_are_no_numbers_are_refused_by_type():
    with pytest.raises(InputTypeError, match="Complex data not supported: X holds complex128"):
        clean_sparse(sp.csr_array(A * 1j), "csr")


def test_a_width_beyond_32_bits_is_refused():
    with pytest.raises(InputError, match="2,147,483,647 rows and columns at most"):
        clean_sparse(sp.coo_array((1, 2**31)), "csr")


# ------------------------------------------------------------------------------------ doors


def bad(n=40, p=10, form="csr"):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.4)).asformat(form)
    X.indices[7] = 10**6
    return X


Y = np.arange(40) % 2
GOOD = np.random.default_rng(1).normal(size=(40, 10)) * (np.arange(10) < 5)


class Broken:
    """A source of one's own, whose batches are broken."""

    y, names, n_rows, n_columns = Y, None, 40, 10

    def rows(self, batch_size=4096, start=None):
        yield RowBatch(bad(), Y)

    def columns(self, block_size=1024, start=None):
        yield ColumnBlock(bad(form="csc"), None, {"column": 10})


def named():
    return RowBatch(bad(), Y, None, [f"x{j}" for j in range(10)])


def open_screen():
    screen = ss.Screen("f")
    screen.learn_one({"x1": 1.0}, 0)
    return screen


DOORS = {
    "fit rows": lambda: ss.Screen("f").fit(bad(), Y),
    "fit rows of columns": lambda: ss.Screen("f").fit(bad(form="csc"), Y),
    "second batch": lambda: ss.Screen("f").fit(sp.csr_array(GOOD), Y).partial_fit(bad(), Y),
    "learn": lambda: ss.Screen("f").learn(RowBatch(bad(), Y)),
    "learn, named": lambda: ss.Screen("f").learn(named()),
    "learn, open": lambda: open_screen().learn(named()),
    "transform rows": lambda: ss.Screen("f").fit(GOOD, Y).transform(bad()),
    "inverse_transform": lambda: ss.Screen("f", output="zero").fit(GOOD, Y).inverse_transform(bad()),
    "inverse_transform of what is kept": lambda: ss.SAOLA().fit(GOOD, Y).inverse_transform(bad()),
    "fit columns": lambda: ss.SAOLA().fit(bad(), Y),
    "fit columns, csc": lambda: ss.SAOLA().fit(bad(form="csc"), Y),
    "offer": lambda: ss.FastOSFS().begin(Y).offer(bad()),
    "offer a block": lambda: ss.SAOLA().begin(Y).offer(ColumnBlock(bad(form="csc"))),
    "measure_block": lambda: ss.SAOLA().begin(Y).measure_block(bad()),
    "transform columns": lambda: ss.SAOLA().fit(GOOD, Y).transform(bad()),
    "learn_rows": lambda: ss.TwoWay(ss.SAOLA()).begin(Y).learn_rows(bad(), Y),
    "fit offline": lambda: ss.FCBF().fit(bad(), Y),
    "a source": lambda: ss.open(bad(), target=Y),
    "run, a source of one's own": lambda: ss.run(Broken(), ss.Screen("f")),
    "run, columns of one's own": lambda: ss.run(Broken(), ss.SAOLA()),
    "a column of a factory": lambda: ss.run(
        ss.features(lambda: iter([("a", bad(p=1, form="csc"))]), Y), ss.SAOLA()
    ),
    "evaluation": lambda: list(cut(Broken().rows(), 7)),
    "comparison": lambda: Problem.of(bad(), Y),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_refuses_an_index_out_of_range(door):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((InputError, SourceError), match="number 1000000"):
            door()


def test_a_data_set_in_a_file_is_looked_at(tmp_path):
    X = bad()
    pieces = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape, "y": Y}
    np.savez(tmp_path / "mine.npz", **pieces)
    with pytest.raises(SourceError, match="number 1000000"):
        local.read(tmp_path / "mine.npz", local.unlisted(tmp_path / "mine.npz"))
