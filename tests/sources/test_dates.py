"""Dates in text: which texts are dates, in which order, and the numbers they become."""

import datetime as dt
import warnings

import numpy as np
import pyarrow as pa
import pytest

import streamsieve as ss
from streamsieve.exceptions import DateWarning, SourceError
from streamsieve.sources.tables.dates import WrittenDates, order_of


def at(*moment):
    return dt.datetime(*moment, tzinfo=dt.UTC)


DAYS = [at(1969, 12, 31), at(2000, 2, 29), at(2024, 7, 4, 18, 30)]


def days(moments):
    return [(moment - at(1970, 1, 1)) / dt.timedelta(days=1) for moment in moments]


@pytest.mark.parametrize(
    "form",
    [
        "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m-%d-%Y %H:%M", "%Y-%m-%dT%H:%M",
        "%Y/%m/%d %H:%M", "%Y-%m-%dT%H:%M:%S.%fZ", " %d.%m.%Y %H:%M ",
    ],
)  # fmt: skip
def test_dates_are_read_as_strptime_reads_them(form):
    texts = [moment.strftime(form) for moment in DAYS]
    order = order_of(texts)
    assert not order.ambiguous
    assert order.form == form.strip()
    np.testing.assert_allclose(order.days_of([*texts, None]), [*days(DAYS), np.nan], rtol=1e-15)


def test_single_digits_and_days_without_a_time():
    order = order_of(["1.2.2024", "29.2.2024"])
    assert (order.form, order.words) == ("%d.%m.%Y", "day.month.year")
    assert order.days_of(["1.2.2024"]).tolist() == days([at(2024, 2, 1)])


@pytest.mark.parametrize("month_first", [False, True])
def test_dates_that_can_be_read_both_ways(month_first):
    order = order_of(["03/04/2024", "12/12/2024"], month_first=month_first)
    assert order.ambiguous
    assert order.words == ("month/day/year" if month_first else "day/month/year")
    day = at(2024, 3, 4) if month_first else at(2024, 4, 3)
    assert order.days_of(["03/04/2024"]).tolist() == days([day])


def test_what_the_dates_prove_outweighs_what_was_said():
    assert not order_of(["13/04/2024", "01/02/2024"], month_first=True).month_first
    assert order_of(["04/13/2024", "01/02/2024"], month_first=False).month_first
    assert not order_of(["2024-02-01"], month_first=True).ambiguous


@pytest.mark.parametrize(
    "text",
    ["30.02.2024", "31/11/2024", "1.1.24", "00.01.2024", "2024-13-01", "1.2/2024", "1.2.2024 24:00",
     "1.2.2024x", "10.0.0.1", "1234", "", "tomorrow"],
)  # fmt: skip
def test_what_is_no_date(text):
    assert order_of([text]) is None
    assert order_of(["01.02.2024", text]) is None or text == ""


def test_orders_that_contradict_each_other_are_no_order():
    written = WrittenDates()
    for text in ("25/12/2024", "12/25/2024"):  # piece by piece
        written.look(pa.array([text]))
    assert written.order(month_first=False) is None
    assert written.meant
    assert "'25/12/2024'" in written.problem()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "visits.csv"
    rows = [f"{1 + i % 12:02}/{1 + i % 7:02}/2024,{31 - i % 28}.01.2024,{i % 5},{i % 2}" for i in range(40)]
    path.write_text("\n".join(["either,seen,x,y", *rows]))
    return path


def test_a_source_makes_days_of_text_and_says_how(table):
    with pytest.warns(DateWarning, match="dates of 'either' were read as day/month/year, and the month may"):
        source = ss.open(table, target="y", dates="number")
    assert source.names == ["either", "seen", "x"]
    assert source.remarks == [
        "dates of either as day/month/year (month first: month_first=True)", "dates of seen as day.month.year"
    ]  # fmt: skip
    X = next(source.rows(40)).X
    assert X[0, :2].tolist() == days([at(2024, 1, 1), at(2024, 1, 31)])
    assert X[7, :2].tolist() == days([at(2024, 1, 8), at(2024, 1, 24)])
    np.testing.assert_array_equal(np.hstack([block.X for block in source.columns(1)]), X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said
        american = ss.open(table, target="y", dates="number", month_first=True)
    assert next(american.rows(40)).X[7, 0] == days([at(2024, 8, 1)])[0]


def test_another_order_is_another_stream(table):
    american = ss.open(table, target="y", dates="number", month_first=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DateWarning)
        identity = ss.open(table, target="y", dates="number").identity()
    with pytest.raises(SourceError, match="the way of reading"):
        american.check_identity(identity)


def test_dates_in_text_are_left_out_or_refused_as_other_dates_are(table):
    assert ss.open(table, target="y", dates="drop", categories="auto").left_out == {
        "dates": ["either", "seen"]
    }
    for categories in ("auto", "refuse"):
        with pytest.raises(SourceError, match=r"dates, not numbers: convert .* dates='number'"):
            ss.open(table, target="y", categories=categories)
    named = ss.open(table, target="y", nominal=["either", "seen"])
    assert named.coded == ["either", "seen"]
    assert ss.open(table, target="y", skip_text=True).left_out == {"text": ["either", "seen"]}


def test_text_that_is_no_date_stays_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("city,x,y\n" + "\n".join(f"{'Rome' if i % 3 else 'Oslo'},{i},{i % 2}" for i in range(9)))
    for categories, left_out in (("drop", {"text": ["city"]}), ("auto", {})):
        source = ss.open(path, target="y", categories=categories, dates="number")
        assert source.left_out == left_out
        assert source.dates == []


def test_rows_are_sorted_by_dates_in_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,x,y\n31.01.2024,1,0\n01.02.2024,2,1\n02.02.2023,3,1\n")
    times = ss.open(path, target="y", exclude="when").times("when")
    assert (np.diff(times) > 0).tolist() == [True, False]


def test_a_warning_quotes_a_name_that_would_act_on_the_terminal(tmp_path):
    name = "\x1b]0;title\x07\u202eday"
    path = tmp_path / "days.csv"
    lines = [f"{1 + i % 9:02d}/0{1 + i % 8}/2024,{i % 2}" for i in range(20)]
    path.write_text("\n".join([f"{name},y", *lines]) + "\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="were read as day/month/year") as said:
        ss.open(path, target="y", dates="number")
    text = str(said[0].message)
    assert repr(name) in text
    assert text.isprintable()
