"""L4: what others may read."""

import os


def modes(up):
    return {f.name: f.stat().st_mode & 0o777 for f in up.data.iterdir()}


def test_l4_the_data_directory_is_its_owners(start):
    before = os.umask(0o022)
    try:
        up = start("--data-dir", "--no-scheduler", canary=0)
        up.create("secrets", "treasure", stringData={"x": "gold"})
        assert up.data.stat().st_mode & 0o777 == 0o700
        assert set(modes(up).values()) == {0o600}, modes(up)
        assert up.kubeconfig.stat().st_mode & 0o777 == 0o600
        up.stop()
        # Those an earlier version has left behind.
        for file in up.data.iterdir():
            file.chmod(0o644)
        up._start()
        up.create("secrets", "more", stringData={"x": "gold"})
        assert modes(up)["berth.db"] == modes(up)["berth.db-wal"] == 0o600, modes(up)
    finally:
        os.umask(before)
