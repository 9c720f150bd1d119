"""Unusual containers that libraries allow: the right result at every door, or an error of ours."""

import os
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn.base

import streamsieve as ss
from streamsieve.engines.declared import Declared
from streamsieve.exceptions import (
    InputError,
    InputTypeError,
    ParameterError,
    SchemaError,
    StateError,
    StreamSieveError,
)
from streamsieve.protocols import ColumnBlock, RowBatch

Y = np.arange(40) % 2
X = np.random.default_rng(0).normal(size=(40, 3)) + Y[:, np.newaxis]
NUMBERS = X[:, 0].copy()
HUGE = X.astype(object)
HUGE[3, 1] = 10**400
CODES = pa.DictionaryArray.from_arrays(pa.array([0, 9] * 20), pa.array([1.0, 2.0]), safe=False)
UNION = pa.UnionArray.from_sparse(pa.array([0] * 40, pa.int8()), [pa.array([1] * 40)])


def far(n=1):
    """A sparse column, of one dimension or two, with an entry far outside."""
    X = sp.coo_array((np.ones(5), (np.arange(5),) * n), shape=(40, 5)[:n])
    X.coords = (np.array([0, 1, 2, 3, 10**7]), *X.coords[1:])
    return X


def names():
    return [f"x{j}" for j in range(X.shape[1])]


class Memory:
    """An object that describes its memory and has no shape, as some libraries of images."""

    def __init__(self, **changes):
        self.X = X.copy()
        self.__array_interface__ = self.X.__array_interface__ | changes


class Capsule:
    """An object that says it has an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema=None):
        return None


def _named_by(name):
    return pd.DataFrame(X, columns=pd.Index([name, "b", "c"], dtype=object))


def _zeroed(dtype):
    frame = pl.DataFrame({"a": NUMBERS + 9 * Y, "b": pl.Series(["a", "b"] * 20, dtype=dtype)})
    return ss.Screen(k=1, output="zero").fit(frame, Y).transform(frame)


REFUSED = {
    "one-dimensional sparse column": lambda: _features(far()),
    "sparse column": lambda: _features(far(2)),
    "huge number in a column": lambda: _features(HUGE[:, 1]),
    "invalid Arrow column": lambda: _features(CODES),
    "Arrow union column": lambda: _features(UNION),
    "huge number in a source": lambda: ss.ArraySource(HUGE, Y),
    "huge number in a pandas source": lambda: _rows(pd.DataFrame(HUGE, columns=names())),
    "objects in a polars source": lambda: _rows(
        pl.DataFrame({"a": pl.Series([object()] * 40, dtype=pl.Object), "b": NUMBERS})
    ),
    "invalid Arrow source": lambda: ss.ArraySource(pa.table({"a": CODES}), Y),
    "invalid Arrow target of a source": lambda: ss.ArraySource(X, CODES),
    "target of 128 bits of a source": lambda: ss.ArraySource(X, pl.Series([10**30, 1] * 20, dtype=pl.Int128)),
    "masked target of a source": lambda: ss.ArraySource(X, np.ma.masked_array(Y, Y == 1)),
    "target of 128 bits": lambda: ss.Screen("f").fit(X, pl.Series([10**30, 1] * 20, dtype=pl.Int128)),
    "Arrow union": lambda: ss.Screen("f").fit(pa.table({"a": UNION, "b": NUMBERS}), Y),
    "invalid Arrow identifiers of rows": lambda: ss.SAOLA().begin(Y, rows=CODES),
    "ragged identifiers of rows": lambda: ss.SAOLA().begin(Y, rows=[[1], [1, 2]] * 20),
    "union for a two-way selector": lambda: ss.TwoWay().begin(Y).offer(pa.table({"a": UNION})),
    "select from a number": lambda: ss.select(np.array(1.0), Y),
    "select from a list of numbers": lambda: ss.select([1.0] * 40, Y),
    "list as a block": lambda: ss.SAOLA().begin(Y).offer(ColumnBlock(X.tolist())),
    "column as a block": lambda: ss.SAOLA().begin(Y).offer(ColumnBlock(NUMBERS)),
    "unknown type of memory": lambda: ss.open(Memory(typestr="zz"), target=Y),
    "empty capsule of Arrow": lambda: ss.open(Capsule(), target=Y),
    "names that are lists": lambda: ss.Screen("f").fit(_named_by([1]), Y),
    "names that are lists in a source": lambda: ss.open(_named_by([1]), target=Y),
    "sparse classes": lambda: ss.Screen("f").partial_fit(X, Y, classes=sp.csr_array([[0, 1]])),
    "sparse names": lambda: ss.SAOLA().begin(Y).offer(X, names=sp.csr_array([[0, 1, 2]])),
    "groups of 128 bits": lambda: ss.SAOLA().fit(X, Y, groups=pl.Series([10**30, 1] * 20, dtype=pl.Int128)),
    "Arrow union as target": lambda: ss.Screen("f").fit(X, UNION),
    "sparse names of a batch": lambda: ss.Screen("f").learn(RowBatch(X, Y, None, sp.csr_array([[0, 1, 2]]))),
    "number of 400 digits": lambda: ss.OSFS(max_conditioning=10**400).fit(X, Y),
    "date as a parameter": lambda: ss.SPFS().fit(X, Y).set_params(task=np.datetime64("2020")).to_bytes(),
    "invalid Arrow classes": lambda: ss.Screen("f").partial_fit(X, Y, classes=pa.chunked_array([CODES])),
    "invalid Arrow holdout": lambda: ss.SAOLA().fit(X, Y, holdout=pa.chunked_array([CODES])),
    "longdouble as a level": lambda: ss.DOFS(alpha=np.longdouble(0.5)).fit(X, Y),
    "fraction as a level": lambda: ss.SAOLA(alpha=Fraction(1, 3)).fit(X, Y),
    "weights of 128 bits": lambda: ss.Screen("f").fit(
        X, Y, sample_weight=pl.Series([10**30, 1] * 20, dtype=pl.Int128)
    ),
    "enum set to 0": lambda: _zeroed(pl.Enum(["a", "b"])),
    "batch without columns": lambda: ss.PartialOFS().learn(RowBatch(X[:, :0], Y, None, [])),
}


def _features(column):
    return ss.run(ss.features([("a", column)], Y), ss.SAOLA())


def _rows(X):
    return next(ss.ArraySource(X, Y).rows())


@pytest.mark.parametrize("door", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_refused_by_an_error_of_ours(door):
    with pytest.raises(StreamSieveError):
        door()


def test_groups_may_be_known_by_whole_numbers_of_any_size():
    groups = np.arange(40) // 4
    large = [int(group) + 2**70 for group in groups]
    found = [ss.SAOLA().begin(Y, groups=g).offer(X) for g in (groups, np.array(large, object))]
    assert list(found[0]) == list(found[1])


def test_a_parameter_may_be_a_number_of_few_bits():
    ss.PartialOFS(radius=np.float16(0.5)).fit(X, Y)


@pytest.mark.parametrize("value", ["x" * 100_000, 10**5_000], ids=["text", "number"])
def test_an_error_about_a_parameter_is_short(value):
    for selector in (ss.SAOLA(alpha=value), ss.SAOLA(task=value), ss.Screen("f", k=value)):
        with pytest.raises(ParameterError) as caught:
            selector.fit(X, Y)
        assert len(str(caught.value)) < 1_000


def test_columns_of_categories_can_be_set_to_zero():
    text = ["b", "a"] * 10 + ["a", "b"] * 10
    for column in (pl.Series(text, dtype=pl.Categorical), pl.Series(text)):
        frame = pl.DataFrame({"a": NUMBERS + 9 * Y, "b": column})
        for data in (frame, frame.to_arrow(), frame.to_pandas()):
            found = ss.Screen(k=1, output="zero").fit(data, Y).transform(data)
            assert type(found) is type(data)
            assert {str(value) for value in found["b"]} == {"0"}


def test_memory_without_a_shape_is_a_matrix():
    for selector in (ss.Screen("f"), ss.TraceRatio(k=1)):
        assert selector.fit(Memory(), Y).n_features_in_ == 3
    assert ss.Screen("f").fit(Memory(), Y).transform(Memory()).shape == (40, 3)


@pytest.mark.parametrize(
    "selector",
    [ss.MISSION(), ss.BARDA(), ss.FIRES(), ss.OFS(), ss.SOFS(), ss.RunningAverages(), ss.Screen("gini"),
     ss.Screen("gini", exact=True), ss.Screen("mutual_info"), ss.Screen()],
    ids=repr,
)  # fmt: skip
def test_what_was_declared_has_attributes_before_the_first_row(selector):
    numbers = {"a": NUMBERS, "b": NUMBERS}
    for frame in (numbers, numbers | {"c": ["u", "v"] * 20}):
        if "c" in frame and not selector.traits.text:
            continue
        declared = sklearn.base.clone(selector).declare(RowBatch(pd.DataFrame(frame), Y))
        for name in ("scores_", "coef_", "p_values_", "selected_", "ranked_", "classes_"):
            np.shape(getattr(declared, name, None))
        assert len(declared.scores_) == len(frame)
        assert len(declared.get_support()) == len(frame)


def test_an_error_shows_data_without_control_characters():
    with pytest.raises(InputError, match=r"\\x1b\[31m") as caught:
        ss.SPEC().fit(np.array("a\x1b[31m"))
    assert "\x1b" not in str(caught.value)


def test_a_masked_column_of_a_factory_has_missing_values():
    masked = np.ma.masked_array(NUMBERS, NUMBERS > 1)
    block = next(ss.features([("a", masked)], Y).columns())
    np.testing.assert_array_equal(np.isnan(block.X[:, 0]), NUMBERS > 1)


def test_a_sparse_column_of_one_dimension_is_a_column():
    block = next(ss.features([("a", sp.coo_array(NUMBERS))], Y).columns())
    np.testing.assert_array_equal(block.X[:, 0], NUMBERS)


@pytest.mark.parametrize("dtype", ["double[pyarrow]", "Float64"])
def test_missing_values_of_nullable_columns_are_nan_in_a_source(dtype):
    column = pd.Series([None if v > 1 else v for v in NUMBERS], dtype=dtype)
    batch = _rows(pd.DataFrame({"a": column, "b": NUMBERS}))
    np.testing.assert_array_equal(batch.X[:, 0], np.where(NUMBERS > 1, np.nan, NUMBERS))


def test_a_source_reads_frames_whose_columns_have_no_names():
    np.testing.assert_array_equal(_rows(pd.DataFrame(X, columns=[None, "a", "b"])).X, X)


def test_two_way_is_a_method_for_select():
    assert ss.select(X, Y, ss.TwoWay()).n_features_in_ == 3


def test_columns_of_other_byte_order_and_sparse_bool_columns_are_numbers():
    swapped = pd.DataFrame(X.astype(">f8"), columns=names())
    screen = ss.Screen("f").fit(pd.DataFrame(X, columns=names()), Y).partial_fit(swapped, Y)
    np.testing.assert_allclose(screen.scores_, ss.Screen("f").fit(X, Y).partial_fit(X, Y).scores_)
    dense = pd.DataFrame(X > 0, columns=names())
    sparse = dense.astype(pd.SparseDtype(bool, fill_value=False))
    decided = [ss.SAOLA().begin(Y).offer(frame) for frame in (sparse, dense.astype(float))]
    assert [d.event for d in decided[0]] == [d.event for d in decided[1]]


@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn before 1.9 reads those of a batch
def test_transform_takes_a_record_batch():
    batch = pa.record_batch(dict(zip(names(), X.T.copy(), strict=True)))
    screen = ss.Screen("f", k=1).fit(X, Y)
    np.testing.assert_array_equal(screen.transform(batch), screen.transform(X))


def test_engines_check_a_sparse_batch_before_they_make_it_dense():
    declared = Declared.__new__(Declared)
    object.__setattr__(declared, "head", RowBatch(X, Y))
    with pytest.raises(InputError, match="number 10000000"):
        declared.alike(RowBatch(far(2), Y))


def test_a_bad_value_in_a_batch_of_coordinates_is_placed():
    class Own:
        y, names, n_rows, n_columns = Y, None, 40, 3

        def columns(self, block_size=1024, start=None):
            bad = X.copy()
            bad[7, 1] = np.nan
            yield ColumnBlock(sp.coo_array(bad), None, {"column": 3})

    with pytest.raises(InputError, match="row 8"):
        ss.run(Own(), ss.SAOLA())


def test_river_minibatches_are_dataframes_of_numbers():
    pytest.importorskip("river")
    from streamsieve.adapters.river import RiverSelector  # an extra

    with pytest.raises(InputTypeError, match="pandas dataframe, got a ndarray"):
        RiverSelector().learn_many(X, Y)
    with pytest.raises(InputTypeError, match="column 'a' does not hold numbers"):
        RiverSelector().learn_many(pd.DataFrame({"a": ["x"] * 40}), pd.Series(Y))


@pytest.mark.parametrize("row", [None, 3, ["a"], {10**5000: 1.0}], ids=["None", "number", "list", "long key"])
def test_rows_are_dicts_of_names(row):
    screen = ss.Screen("f", k=1)
    for label in (0, 1, 0):
        screen.learn_one({"a": 1.0 + label, 7: 2.0}, label)
    for call in (lambda: screen.learn_one(row, 0), lambda: screen.transform_one(row)):
        with pytest.raises(InputTypeError, match=r"takes a row as|cannot be made text"):
            call()
    assert screen.n_samples_seen_ == 3


def test_a_name_that_no_library_can_hold_is_escaped_in_the_ranking():
    screen = ss.Screen("f").learn(RowBatch(X, Y, None, ["\ud800", "b", "c"]))
    assert "\\ud800" in screen.ranking("pandas")["feature"].tolist()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files")
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_no_file_is_not_replaced(tmp_path, overwrite):
    """As root, a rename would replace a device; opening a FIFO waits for a writer."""
    fifo, folder = tmp_path / "fifo.csv", tmp_path / "folder"
    os.mkfifo(fifo)
    folder.mkdir()
    screen = ss.Screen("f").fit(X, Y)
    for path in (fifo, folder):
        for save in (screen.save, screen.ledger_.to_csv):
            with pytest.raises(StateError, match=r"is a (device, FIFO or socket|folder), not a file"):
                save(path, overwrite=overwrite)
    with pytest.raises(StateError, match="is a device, FIFO or socket, not a file"):  # no advice to delete it
        ss.run(ss.open(X, target=Y), ss.Screen("f"), checkpoint=fifo)
    assert fifo.is_fifo()


def test_inverse_transform_refuses_another_width():
    for selector in (ss.SAOLA(), ss.FCBF()):
        with pytest.raises(SchemaError, match="columns, but transform puts out"):
            selector.fit(X, Y).inverse_transform(np.ones((40, 9)))


def test_names_of_a_declared_batch_may_be_an_array():
    screen = ss.Screen("f").declare(RowBatch(X, Y, None, np.array(names())))
    assert screen.n_features_in_ == 3
