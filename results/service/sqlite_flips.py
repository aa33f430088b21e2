#!/usr/bin/env python3
"""Measures what a flipped bit does to SQLite (WAL, synchronous=FULL) after a crash.

Makes COMMITS commits in a database and copies it as a crash would leave it. Then flips every
STEP-th bit of the main file and the log, one at a time, and opens the copy. Either all commits are
unchanged, or SQLite reports an error, or some commits are silently lost or changed.
"""

import os
import sqlite3
import sys
import tempfile

COMMITS = 40
STEP = int(sys.argv[1]) if len(sys.argv) > 1 else 61
EXPECTED = [(seq, f'{{"seq":{seq},"granted":{{"base":[{seq},0],"sides":[2,3]}}}}') for seq in range(1, COMMITS + 1)]


def read(path):
    connection = sqlite3.connect(path)
    try:
        if connection.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
            return "refused"
        rows = connection.execute("SELECT seq, record FROM journal ORDER BY seq").fetchall()
    except sqlite3.DatabaseError:
        return "refused"
    finally:
        connection.close()
    return "unchanged" if rows == EXPECTED else "silently lost or changed"


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "db")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, record TEXT NOT NULL)")
    for row in EXPECTED:
        connection.execute("INSERT INTO journal VALUES (?, ?)", row)
    clean = {name: open(path + name, "rb").read() for name in ("", "-wal")}
    connection.close()
    found = {}
    for name in clean:
        for bit in range(0, len(clean[name]) * 8, STEP):
            copy = os.path.join(folder, "copy")
            for other in ("", "-wal", "-shm"):
                if os.path.exists(copy + other):
                    os.remove(copy + other)
            for other, data in clean.items():
                data = bytearray(data)
                if other == name:
                    data[bit // 8] ^= 1 << bit % 8
                with open(copy + other, "wb") as file:
                    file.write(data)
            outcome = read(copy)
            key = ("log" if name else "file", outcome)
            found[key] = found.get(key, 0) + 1
    print(f"SQLite {sqlite3.sqlite_version}, {COMMITS} commits, every {STEP}th bit")
    for (where, outcome), count in sorted(found.items()):
        print(f"{where:5} {outcome:26} {count}")
