"""Runs over files: the same stream goes on, any other is refused and says what to do."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import dump_svmlight_file

import streamsieve as ss
from streamsieve.exceptions import SourceError
from tests.running.toys import BATCH, N, P, Stop, assert_same_state, screen, stream_of, table

NAMES = [f"c{j}" for j in range(P)]


def write(path, low, high, names=NAMES, seed=0):
    X, y = table(seed=seed)
    columns = {name: X[low:high, j] for j, name in enumerate(names)}
    if path.suffix == ".svm":
        dump_svmlight_file(X[low:high], y[low:high], str(path), zero_based=False)
    elif path.suffix == ".csv":
        pa.csv.write_csv(pa.table({**columns, "label": y[low:high]}), path)
    else:
        pq.write_table(pa.table({**columns, "label": y[low:high]}), path, row_group_size=300)


def opened(path):
    return ss.open(path) if path.suffix == ".svm" else ss.open(path, target="label")


def stopped_after(source, rows, checkpoint):
    """Run a part of a stream, as if the process had died then."""
    done = 0

    def progress(n):
        nonlocal done
        done += n
        if done >= rows:
            raise Stop

    with pytest.raises(Stop):
        ss.run(source, screen(), checkpoint=checkpoint, batch_size=BATCH, progress=progress)


@pytest.fixture(params=["t.parquet", "t.csv", "t.svm"])
def file(request, tmp_path):
    path = tmp_path / request.param
    write(path, 0, N)
    return path


@pytest.fixture
def checkpoint(tmp_path):
    return tmp_path / "run.sieve"


def test_a_stopped_run_over_a_file_goes_on_in_another_source(file, checkpoint):
    stopped_after(opened(file), 700, checkpoint)
    assert stream_of(checkpoint)["rows"] == 700
    again = ss.run(opened(file), screen(), checkpoint=checkpoint, resume=True, batch_size=BATCH)
    assert_same_state(again, ss.run(opened(file), screen(), batch_size=BATCH))


def test_several_files_go_on_in_the_middle_of_one(tmp_path, checkpoint):
    for k, (low, high) in enumerate([(0, 333), (333, 1_111), (1_111, N)]):
        write(tmp_path / f"part{k}.parquet", low, high)
    pattern = str(tmp_path / "part*.parquet")
    stopped_after(ss.open(pattern, target="label"), 700, checkpoint)
    again = ss.run(
        ss.open(pattern, target="label"), screen(), checkpoint=checkpoint, resume=True, batch_size=BATCH
    )
    assert_same_state(again, ss.run(ss.open(pattern, target="label"), screen(), batch_size=BATCH))


def refused(source, checkpoint):
    before = checkpoint.read_bytes()
    with pytest.raises(SourceError, match=f"cannot resume from {checkpoint}: ") as caught:
        ss.run(source, screen(), checkpoint=checkpoint, resume=True, batch_size=BATCH)
    assert checkpoint.read_bytes() == before
    return str(caught.value)


def others(file):
    """Yield sources that are not the stream of a file: other values, columns, target or kind."""
    X, y = table()
    for seed, n in ((1, N), (0, 500)):  # changed, and shrunk
        write(file, 0, n, seed=seed)
        yield opened(file)
    if file.suffix == ".parquet":
        for names in (
            ["c0", "c1", "c2", "c3", "z"],
            ["c1", "c0", "c2", "c3", "c4"],
            ["c0", "c1", "c2", "c3"],
        ):
            write(file, 0, N, names=names)
            yield opened(file)
        columns = {**{name: X[:, j] for j, name in enumerate(NAMES)}, "label": y, "other": 1 - y}
        pq.write_table(pa.table(columns), file)
        yield ss.open(file, target="other")
    yield ss.open(X, target=y, names=NAMES)


def test_another_stream_is_refused(file, checkpoint):
    stopped_after(opened(file), 700, checkpoint)
    for source in others(file):
        refused(source, checkpoint)


def test_a_text_file_that_has_grown_goes_on(tmp_path, checkpoint):
    file, whole = tmp_path / "t.svm", tmp_path / "whole.svm"
    write(file, 0, 1_000)
    write(whole, 0, N)

    def source(path):
        return ss.open(path, n_features=P, zero_based=False)

    ss.run(source(file), screen(), checkpoint=checkpoint, batch_size=BATCH)
    file.write_bytes(whole.read_bytes())
    again = ss.run(source(file), screen(), checkpoint=checkpoint, resume=True, batch_size=BATCH)
    assert_same_state(again, ss.run(source(whole), screen(), batch_size=BATCH))


def test_generated_streams_go_on_too(checkpoint):
    def source(seed=0):
        return ss.DriftingStream(n_rows=2_000, n_features=6, n_relevant=2, seed=seed)

    stopped_after(source(), 700, checkpoint)
    refused(source(seed=1), checkpoint)
    again = ss.run(source(), screen(), checkpoint=checkpoint, resume=True, batch_size=BATCH)
    assert_same_state(again, ss.run(source(), screen(), batch_size=BATCH))
    assert np.all(np.isfinite(again.scores_))
