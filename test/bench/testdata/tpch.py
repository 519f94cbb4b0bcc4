"""Makes the tables of TPC-H as Parquet by DuckDB, and of its 22 queries the texts and DuckDB's answers: as they are
("same") and with other dates in their filters ("dates").

Usage: tpch.py DIRECTORY SCALE: writes a file for each table, queries.json and answers.json there.
"""
import datetime
import decimal
import json
import re
import sys
from importlib.resources import files

import duckdb

directory, scale = sys.argv[1], float(sys.argv[2])
base = duckdb.connect()
extension = files("duckdb_extension_tpch") / "extensions" / f"v{duckdb.__version__}" / "tpch.duckdb_extension"
base.execute(f"LOAD '{extension}'")
base.execute(f"CALL dbgen(sf={scale})")
for table, in base.execute("SHOW TABLES").fetchall():
    base.execute(f"COPY {table} TO '{directory}/{table}.parquet' (FORMAT parquet)")


def later(text, days=40):
    """A text with all its dates so much later."""
    moved = datetime.timedelta(days)
    return re.sub(r"\d{4}-\d\d-\d\d", lambda day: str(datetime.date.fromisoformat(day[0]) + moved), text)


def plain(value):
    """What JSON has no form for."""
    return float(value) if isinstance(value, decimal.Decimal) else str(value)


texts = {str(number): text.strip().rstrip(";") for number, text in
         base.execute("SELECT query_nr, query FROM tpch_queries()").fetchall()}
queries = {"same": texts, "dates": {number: later(text) for number, text in texts.items()}}
answers = {kind: {number: base.execute(text).fetchall() for number, text in of.items()} for kind, of in queries.items()}
for name, what in ("queries", queries), ("answers", answers):
    with open(f"{directory}/{name}.json", "w") as file:
        json.dump(what, file, default=plain)
