#!/usr/bin/env python3
"""Measures durable records per second in SQLite (WAL, synchronous=FULL) in the temporary directory, by
commit size, as `groups_are_made_durable` (apps/serve/tests/it/load.rs) does for the journal."""

import os
import sqlite3
import sys
import tempfile
import time

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 5
RECORD = '{"seq":1,"at_ms":0,"event":{"configured":{"machines":[{"name":"default","machine":"mesh:8x8","strategy":"tff"}]}}}'

print(f"SQLite {sqlite3.sqlite_version}")
with tempfile.TemporaryDirectory() as folder:
    connection = sqlite3.connect(os.path.join(folder, "db"), isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE journal (seq INTEGER PRIMARY KEY, record TEXT NOT NULL)")
    following = 1
    for group in (1, 32, 128):
        began, count = time.monotonic(), 0
        while time.monotonic() - began < SECONDS:
            connection.execute("BEGIN")
            rows = [(following + index, RECORD) for index in range(group)]
            connection.executemany("INSERT INTO journal VALUES (?, ?)", rows)
            connection.execute("COMMIT")
            following += group
            count += group
        print(f"groups of {group}: {count / (time.monotonic() - began):.0f} durable records per second")
