"""M1: an object of the data directory that cannot be read is set aside and named; the others are
served."""

import sqlite3

import pytest

MAPS = "/api/v1/namespaces/default/configmaps"

DEEP = '{"a":' * 2048 + "1" + "}" * 2048
ROWS = {
    "nested too deep": ("/configmaps", "default/deep", DEEP, "nested deeper than 1000 levels"),
    "cut": ("/configmaps", "default/cut", '{"metadata":{"name":', "line 1"),
    "no object": ("/configmaps", "default/five", "5", "name"),
    "under another name": (
        "/configmaps",
        "default/a",
        '{"metadata":{"name":"b","namespace":"default"}}',
        "name",
    ),
    "of a kind that is gone": ("x.example/things", "default/t", "{}", "x.example/things"),
}


@pytest.mark.parametrize("row", ROWS)
def test_m1_one_bad_object(start, row):
    resource, key, text, why = ROWS[row]
    up = start("--data-dir")
    up.create("configmaps", "good", data={"x": "y"})
    assert up.stop() == 0
    with sqlite3.connect(up.data / "berth.db") as database:
        database.execute("INSERT INTO objects VALUES(?, ?, ?)", (resource, key, text))
    database.close()
    up._start()
    assert up.request("GET", f"{MAPS}/good")[1]["data"] == {"x": "y"}
    named = [line for line in up.log().splitlines() if "Setting aside" in line]
    assert len(named) == 1 and key in named[0] and why in named[0], named
    up.restart()
    assert up.log().count("Setting aside") == 1, "once is enough"
    assert up.stop() == 0
    with sqlite3.connect(up.data / "berth.db") as database:
        kept = database.execute("SELECT resource, key, text FROM set_aside").fetchall()
    database.close()
    assert kept == [(resource, key, text)]
    up._start()
