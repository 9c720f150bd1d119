"""Out of core means out of core: measured in processes of their own."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

# ru_maxrss will not do: a child inherits the peak of the process that started it.
pytestmark = [pytest.mark.full, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

ROWS, COLUMNS = 8_000, 2_000
WHOLE = ROWS * COLUMNS * 8 / 2**20  # 122 MB


def peaks(*steps):
    """Return by how many MB each step raises the peak of resident memory over what imports need."""
    program = """
        import sys
        import numpy, scipy.sparse, pyarrow.parquet, pyarrow.csv, sklearn.datasets
        import streamsieve._validation, streamsieve.sources as sources

        def memory(which):
            with open("/proc/self/status") as file:
                return next(int(line.split()[1]) for line in file if line.startswith(which)) / 1024

        before = memory("VmRSS")
        for step in sys.argv[1:]:
            with open("/proc/self/clear_refs", "w") as file:
                file.write("5")  # resets the peak
            exec(step)
            print(memory("VmHWM") - before)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), *steps]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def test_columns_of_wide_files_are_read_block_by_block(tmp_path):
    X = np.random.default_rng(0).normal(size=(COLUMNS, ROWS)).astype(np.float32)
    data = pa.table({f"c{j}": X[j] for j in range(COLUMNS)})
    pq.write_table(data, tmp_path / "wide.parquet", row_group_size=4000, use_dictionary=False)
    for name, compression in (("wide.arrow", None), ("wide.feather", "lz4")):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        with pa.ipc.new_file(tmp_path / name, data.schema, options=options) as writer:
            writer.write_table(data)
    names = ("wide.arrow", "wide.feather", "wide.parquet")
    steps = [
        f"n = sum(b.X.shape[1] for b in sources.open({str(tmp_path / name)!r}).columns(50));"
        f"assert n == {COLUMNS}"
        for name in names
    ]
    used = peaks(*steps)
    # a block is 3 MB; the rest is what the descriptions of thousands of columns and the allocator take
    assert min(used) > 3
    assert max(used) < 0.6 * WHOLE, dict(zip(names, used, strict=True))


def test_svmlight_text_is_read_batch_by_batch(tmp_path):
    path = tmp_path / "long.svm"
    line = "1 " + " ".join(f"{j}:{j}.5" for j in range(1, 101)) + "\n"
    path.write_text(line * 5_000)
    steps = [
        f"n = sum(b.X.nnz for b in sources.open({str(path)!r}).{stream}); assert n == 500_000"
        for stream in ("rows(100)", "columns(7)")
    ]
    rows, columns = peaks(*steps)
    # parsed, the whole is 6 MB, and several times that on the way
    assert rows < 6
    assert 1 < columns < 60


PRODUCERS = {
    "dataset": "pyarrow.dataset.dataset(files)",
    "reader": "pyarrow.RecordBatchReader.from_batches(schema, batches(files))",
    "polars": "polars.scan_parquet(files)",
    "duckdb": "duckdb.read_parquet(files)",
    "query": "streamsieve.query('duckdb:///', f'SELECT * FROM read_parquet({files})')",
    "chunks": "(polars.from_arrow(batch).to_pandas() for batch in batches(files))",
}
STREAM = """
    import glob, sys
    import duckdb, polars, pyarrow.dataset, pyarrow.parquet, streamsieve

    folder, producer, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
    files = sorted(glob.glob(folder + "/*.parquet"))[:4] * times
    schema = pyarrow.parquet.read_schema(files[0])

    def batches(files):
        for path in files:
            yield from pyarrow.parquet.ParquetFile(path).iter_batches(4096)

    screen = streamsieve.Screen("f", k=2)
    for batch in streamsieve.open(eval(producer), target="y").rows(4096):
        screen.learn(batch)
    screen.scores_
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    print(screen.n_samples_seen_, peak)
"""


@pytest.fixture(scope="module")
def long_files(tmp_path_factory):
    """Four files of 50,000 rows, 8 MB each, in row groups of 0.6 MB."""
    folder, rng = tmp_path_factory.mktemp("long"), np.random.default_rng(0)
    for k in range(4):
        y = rng.integers(0, 2, 50_000)
        columns = {f"c{j}": rng.normal(size=50_000) for j in range(20)}
        table = pa.table({**columns, "y": y})
        pq.write_table(table, folder / f"{k}.parquet", row_group_size=4096, use_dictionary=False)
    return folder


@pytest.mark.parametrize("name", PRODUCERS)
def test_the_peak_of_a_stream_does_not_depend_on_the_number_of_rows(name, long_files):
    peaks = []
    for times in (4, 16):  # 128 MB and 512 MB of rows
        command = [
            sys.executable,
            "-c",
            textwrap.dedent(STREAM),
            str(long_files),
            PRODUCERS[name],
            str(times),
        ]
        # glibc gives each thread an arena of its own, as many as happen to compete for one
        done = subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, "MALLOC_ARENA_MAX": "1"}
        )
        rows, peak = done.stdout.split()[-2:]
        assert int(rows) == 200_000 * times
        peaks.append(float(peak))
    print(f"{name}: {peaks[0]:.0f} MB and {peaks[1]:.0f} MB")
    # read-ahead and allocators move the peak by up to a tenth; held whole, the rows would add 384 MB
    assert peaks[1] < 1.2 * peaks[0], peaks
