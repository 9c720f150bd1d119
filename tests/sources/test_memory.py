"""Out of core means out of core: measured in processes of their own."""

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
