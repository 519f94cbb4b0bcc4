"""The module that workers.py gets by --py-files."""
import hashlib


def toil(text):
    digest = text.encode()
    for _ in range(20_000):
        digest = hashlib.sha256(digest).digest()
    return int.from_bytes(digest[:4], "big")
