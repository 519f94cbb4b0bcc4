"""Work of much CPU and few bytes, for the applications beside this module.

They import it from their own directory; the Python workers of workers.py get it by
--py-files.
"""
import hashlib

from pyspark.sql import functions as F


def toil(column, rounds=120):
    """A column: that many hashes of each value, by the executors' JVMs."""
    digest = f"aggregate(sequence(1, {rounds}), cast({column} as string), (acc, i) -> sha2(acc, 256))"
    return F.expr(f"pmod(xxhash64({digest}), 1000003)")


def digest(text):
    """20,000 hashes of a text, by a Python worker."""
    digest = text.encode()
    for _ in range(20_000):
        digest = hashlib.sha256(digest).digest()
    return int.from_bytes(digest[:4], "big")
