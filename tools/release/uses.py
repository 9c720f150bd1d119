"""What must run in an empty environment that has the package and one extra."""

#: A program per extra; "" is the package alone.
USES = {
    "": """
        import numpy as np, streamsieve as ss
        rng = np.random.default_rng(0)
        y = np.arange(200) % 2
        X = rng.normal(size=(200, 20)); X[:, 3] += y
        for selector in (ss.Screen("f", k=1), ss.SAOLA(alpha=1e-4), ss.MRMR(k=1)):
            assert selector.fit(X, y).selected_.tolist() == [3], selector
    """,
    "cli": """
        import pathlib, subprocess, sys
        rows = "".join(f"{i % 2},{i % 2 + (i * 7919) % 13 / 10},{(i * 104729) % 17}\\n" for i in range(300))
        pathlib.Path("table.csv").write_text("outcome,dose,noise\\n" + rows)
        command = pathlib.Path(sys.executable).with_name("streamsieve")
        arguments = ["select", "table.csv", "--target", "outcome", "--method", "saola", "--out", "kept.txt"]
        subprocess.run([command, *arguments], check=True)
        assert pathlib.Path("kept.txt").read_text().split() == ["dose"]
    """,
    "parquet": """
        import pyarrow as pa, pyarrow.parquet as pq, streamsieve as ss
        y = [i % 2 for i in range(300)]
        dose, noise = [v + i % 7 / 10 for i, v in enumerate(y)], [i % 5 for i in range(300)]
        pq.write_table(pa.table({"dose": dose, "noise": noise, "y": y}), "table.parquet")
        screen = ss.run("table.parquet", ss.Screen("f", k=1), target="y")
        assert screen.get_feature_names_out().tolist() == ["dose"]
    """,
    "plot": """
        import matplotlib; matplotlib.use("agg")
        import numpy as np, streamsieve as ss
        y = np.arange(200) % 2
        screen = ss.Screen("f", k=2).fit(np.random.default_rng(0).normal(size=(200, 9)) + y[:, None], y)
        screen.plot().figure.savefig("scores.png")
    """,
    "excel": """
        import zipfile, streamsieve as ss
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        package = "http://schemas.openxmlformats.org/package/2006/relationships"
        def related(target, kind):
            link = f'<Relationship Id="r1" Type="{office}/{kind}" Target="{target}"/>'
            return f'<Relationships xmlns="{package}">{link}</Relationships>'
        def line(*cells):
            kinds = ["str" if isinstance(cell, str) else "n" for cell in cells]
            written = (f'<c t="{kind}"><v>{cell}</v></c>' for kind, cell in zip(kinds, cells))
            return f"<row>{''.join(written)}</row>"
        lines = line("dose", "noise", "ill") + "".join(
            line(i % 2 + i % 7 / 10, i % 5, i % 2) for i in range(300)
        )
        with zipfile.ZipFile("visits.xlsx", "w") as book:
            book.writestr("_rels/.rels", related("xl/workbook.xml", "officeDocument"))
            book.writestr("xl/_rels/workbook.xml.rels", related("worksheets/sheet1.xml", "worksheet"))
            book.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
                          '<sheet name="visits" sheetId="1" r:id="r1"/></sheets></workbook>')
            book.writestr("xl/worksheets/sheet1.xml",
                          f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>')
        screen = ss.run("visits.xlsx", ss.Screen("f", k=1), target="ill")
        assert screen.get_feature_names_out().tolist() == ["dose"]
    """,
    "duckdb": """
        import duckdb, streamsieve as ss
        rows = "select i % 2 + i % 7 / 10 as dose, i % 5 as noise, i % 2 as ill from range(300) t(i)"
        screen = ss.run(duckdb.sql(rows), ss.Screen("f", k=1), target="ill")
        assert screen.get_feature_names_out().tolist() == ["dose"]
    """,
    "sql": """
        import sqlite3, streamsieve as ss
        from contextlib import closing
        with closing(sqlite3.connect("table.sqlite")) as database, database:
            database.execute("create table visits (dose real, noise real, ill integer)")
            rows = [(i % 2 + i % 7 / 10, i % 5, i % 2) for i in range(300)]
            database.executemany("insert into visits values (?, ?, ?)", rows)
        query = ss.query("sqlite:///table.sqlite", "select * from visits")
        assert ss.run(query, ss.Screen("f", k=1), target="ill").get_feature_names_out().tolist() == ["dose"]
    """,
    "dask": """
        import numpy as np, streamsieve as ss
        y = np.arange(2000) % 2
        X = np.random.default_rng(0).normal(size=(2000, 9)); X[:, 3] += y
        assert ss.run(ss.open(X, target=y), ss.Screen("f", k=1), engine="dask").selected_.tolist() == [3]
    """,
    "spark": """
        import os, shutil, sys, streamsieve as ss
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession
        from streamsieve.adapters.spark import SparkSelector
        SparkSelector(ss.Screen("f", k=1), labelCol="ill")
        if shutil.which("java"):
            spark = SparkSession.builder.master("local[1]").getOrCreate()
            columns = "id % 2 + id % 7 / 10 as dose", "id % 5 as noise", "id % 2 as ill"
            frame = spark.range(300).selectExpr(*columns)
            screen = ss.run(frame, ss.Screen("f", k=1), target="ill")
            assert screen.get_feature_names_out().tolist() == ["dose"]
    """,
    "kafka": """
        import streamsieve as ss
        from streamsieve.exceptions import SourceError
        try:
            source = ss.open("kafka://127.0.0.1:1/clicks", target="bought", patience=1)
            ss.run(source, ss.Screen("f", k=1))
        except SourceError as error:
            assert "127.0.0.1:1" in str(error), error
        else:
            raise AssertionError("a broker that is not there was read")
    """,
    "river": """
        import streamsieve as ss
        from streamsieve.adapters.river import RiverSelector
        step = RiverSelector(ss.Screen("f", k=1))
        for i in range(100):
            step.learn_one({"noise": i % 5, "signal": i % 2}, bool(i % 2))
        assert step.transform_one({"noise": 3, "signal": 1}) == {"signal": 1}
    """,
}
