"""Files that grow or change under a run: no half line is learnt, and resuming notices what it can."""

from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp

import streamsieve as ss
from streamsieve.exceptions import BadValueError, ParameterError, SourceError
from tests.running.toys import screen, stream_of


def lines(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    rows = [(rng.normal(), rng.normal(), k % 2) for k in range(n)]
    if kind == "csv":
        return ["a,b,y\n", *(f"{a:.6f},{b:.6f},{y}\n" for a, b, y in rows)]
    return [f"{y} 1:{a:.6f} 2:{b:.6f}\n" for a, b, y in rows]


@pytest.fixture(params=["csv", "svm"])
def file(request, tmp_path):
    return tmp_path / f"f.{request.param}"


def opened(file):
    more = {"target": "y"} if file.suffix == ".csv" else {"n_features": 2, "zero_based": False}
    return ss.open(file, **more)


def dense(batch):
    return batch.X.toarray() if sp.issparse(batch.X) else batch.X


def test_half_a_line_is_left_to_the_next_run(file, tmp_path):
    """The writer stands in the middle of a number when the run begins, and goes on before it ends."""
    content = "".join(lines(file.suffix[1:], 400))
    cut = content.index("\n", len(content) // 2) + 9  # in the middle of a number
    file.write_text(content[:cut])
    source = opened(file)
    batches = source.rows(50)
    first = next(batches)
    file.write_text(content)
    learnt = np.concatenate([dense(batch) for batch in (first, *batches)])
    whole = np.concatenate([dense(batch) for batch in opened(file).rows(50)])
    assert len(learnt) == content[:cut].count("\n") - (file.suffix == ".csv")
    np.testing.assert_array_equal(learnt, whole[: len(learnt)])


@pytest.mark.parametrize("grows", ["on the way", "and interrupted", "afterwards", "not"])
def test_a_run_over_a_growing_file_goes_on_with_the_line_that_was_half_there(file, tmp_path, grows):
    content = "".join(lines(file.suffix[1:], 400))
    cut = content.index("\n", len(content) // 2) + (9 if grows in ("on the way", "and interrupted") else 1)
    file.write_text(content[:cut])
    checkpoint = tmp_path / "run.sieve"

    def progress(_):
        if grows in ("on the way", "and interrupted"):
            file.write_text(content)
        if grows == "and interrupted":
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        ss.run(opened(file), screen(), checkpoint=checkpoint, batch_size=50, progress=progress)
    rows = 50 if grows == "and interrupted" else content[:cut].count("\n") - (file.suffix == ".csv")
    assert stream_of(checkpoint)["rows"] == rows
    if grows == "afterwards":
        file.write_text(content)
    again = ss.run(opened(file), screen(), checkpoint=checkpoint, resume=True, batch_size=50)
    assert again.n_samples_seen_ == (rows if grows == "not" else 400)
    if grows != "not":
        whole = ss.run(opened(file), screen(), batch_size=50)
        np.testing.assert_allclose(again.scores_, whole.scores_, rtol=1e-12)


def test_a_last_line_without_its_end_is_a_row_if_the_file_stays_so(file, tmp_path):
    content = "".join(lines(file.suffix[1:], 100))
    file.write_text(content[:-1])
    checkpoint = tmp_path / "run.sieve"
    assert ss.run(opened(file), screen(), checkpoint=checkpoint).n_samples_seen_ == 100
    file.write_text(content[:-1] + "5\n")  # the label was 15, not 1
    with pytest.raises(SourceError, match="was not complete when|was read before it was complete"):
        ss.run(opened(file), screen(), checkpoint=checkpoint, resume=True)


def test_a_file_that_shrinks_while_it_is_read_is_said(file, monkeypatch):
    monkeypatch.setattr("streamsieve.sources.tables.text.CSV_BLOCK", 2**12)
    file.write_text("".join(lines(file.suffix[1:], 60_000)))
    batches = opened(file).rows(10)
    next(batches)
    file.write_text("".join(lines(file.suffix[1:], 3)))
    with pytest.raises(SourceError, match="has become shorter while it was read"):
        list(batches)


# ------------------------------------------------------------------------------------ verification


def table(n=20_000):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)), np.where(rng.random(n) < 0.5, "no", "yes")
    return X, y


def changed_csv(tmp_path):
    file = tmp_path / "f.csv"
    text = "".join(lines("csv", 30_000))
    file.write_text(text)
    place = next(i for i in range(300_000, 400_000) if text[i] == ".") + 3  # between two pieces of the sample

    def change():
        file.write_text(f"{text[:place]}{(int(text[place]) + 1) % 10}{text[place + 1 :]}")

    return lambda: ss.open(file, target="y"), change


def changed_array(_):
    X, y = table()

    def change():
        X[1_234, 1] += 1

    return lambda: ss.open(X, target=y), change


def changed_sparse(_):
    X, y = table()
    X = sp.csr_array(X * (X > 1))

    def change():
        X.data[1_234] += 1

    return lambda: ss.open(X, target=y), change


@pytest.mark.parametrize("make", [changed_csv, changed_array, changed_sparse])
def test_a_changed_value_is_noticed_with_verify_full_and_the_sample_may_miss_it(tmp_path, make):
    source, change = make(tmp_path)
    for verify in ("sample", "full"):
        ss.run(source(), screen(), checkpoint=tmp_path / verify, verify=verify, batch_size=700)
    unchanged = ss.run(source(), screen(), checkpoint=tmp_path / "full", verify="full", resume=True)
    change()
    ss.run(source(), screen(), checkpoint=tmp_path / "sample", resume=True)  # the docs say so
    with pytest.raises(SourceError, match=r"cannot resume from .*full: a value of the .* rows .*has changed"):
        ss.run(source(), screen(), checkpoint=tmp_path / "full", verify="full", resume=True)
    assert unchanged.n_samples_seen_ == stream_of(tmp_path / "full")["rows"]


def test_a_verified_run_goes_on_and_its_digest_does_not_depend_on_batches(tmp_path):
    X, y = table(5_000)
    digests = []
    for size in (64, 1_000):
        full = {"checkpoint": tmp_path / f"{size}.sieve", "verify": "full"}
        ss.run(ss.open(X[:3_000], target=y[:3_000]), screen(), batch_size=size, **full)
        again = ss.run(ss.open(X, target=y), screen(), resume=True, batch_size=333, **full)
        assert again.n_samples_seen_ == 5_000
        digests.append(stream_of(full["checkpoint"])["digest"])
    assert digests[0] == digests[1]


def test_how_a_checkpoint_is_verified_does_not_change(tmp_path):
    X, y = table(500)
    for made, other in (("sample", "full"), ("full", "sample")):
        path = tmp_path / made
        ss.run(ss.open(X, target=y), screen(), checkpoint=path, verify=made)
        with pytest.raises(ParameterError, match=f"was made with verify='{made}': .*not with '{other}'"):
            ss.run(ss.open(X, target=y), screen(), checkpoint=path, verify=other, resume=True)
    with pytest.raises(ParameterError, match="verify must be"):
        ss.run(ss.open(X, target=y), screen(), verify="maybe")


# ------------------------------------------------------------------------------------ bad values


def test_a_bad_value_is_named_with_file_row_and_column(tmp_path):
    content = lines("csv", 300)
    content[123 + 1] = "0,inf,1\n"
    (tmp_path / "a.csv").write_text("".join(lines("csv", 150)))
    (tmp_path / "b.csv").write_text("".join(content))
    for files, row in (([tmp_path / "b.csv"], 124), ([tmp_path / "a.csv", tmp_path / "b.csv"], 124)):
        for checkpoint in (None, tmp_path / f"{len(files)}.sieve"):
            with pytest.raises(BadValueError, match=rf"^{files[-1]}, row {row}: .*feature 'b' holds inf"):
                ss.run(ss.open(files, target="y"), screen(), checkpoint=checkpoint, batch_size=100)
    with pytest.raises(BadValueError, match=rf"^{tmp_path / 'b.csv'}, row 124: .*feature 'b' holds inf"):
        ss.run(ss.open(tmp_path / "b.csv", target="y"), ss.SAOLA())
    X, y = table(300)
    X[77, 2] = np.inf
    with pytest.raises(BadValueError, match="^row 78: .*feature 'x2' holds inf"):
        ss.run(ss.open(X, target=y), screen())


def test_errors_of_csv_by_columns_name_the_file_of_the_user(tmp_path):
    content = lines("csv", 100)
    content[50] = "0.1,0.2,\n"
    file = tmp_path / "f.csv"
    file.write_text("".join(content))
    with pytest.raises(SourceError, match=rf"^{file}: the target column 'y' has missing values"):
        ss.run(ss.open(file, target="y"), ss.SAOLA())
    for line, at in (("0.1,much,1\n", 50), ("0.1\n", 50), ("0.1\n", 2)):
        content = lines("csv", 100)
        content[at] = line
        file.write_text("".join(content))
        with pytest.raises(SourceError, match=rf"^{file}"):
            ss.run(ss.open(file, target="y"), ss.SAOLA())


def test_errors_of_the_converted_copy_of_a_csv_name_the_file_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    file = tmp_path / "f.csv"
    file.write_text("".join(lines("csv", 100)))
    source = ss.open(file, target="y")
    assert len(list(source.columns(1))) == 2
    (copy,) = tmp_path.glob("*/*.arrow")
    copy.write_bytes(copy.read_bytes()[:500])
    with pytest.raises(SourceError) as caught:
        list(source.columns(1))
    assert str(caught.value).startswith(f"{file} cannot be read")
    assert str(copy.parent) not in str(caught.value)
