"""A statement for somebody ends when he goes; what is wrong otherwise stays what it is."""

from __future__ import annotations

import threading

import pytest

from bylaw.warehouses.attended import Attended, NobodyWaits
from bylaw.warehouses.port import WarehouseError


def test_what_runs_for_somebody_ends_when_he_goes(place, opened):
    gone = threading.Event()
    threading.Timer(0.2, gone.set).start()
    with pytest.raises(NobodyWaits):
        Attended(opened, gone).run(place.endless, 1)
    assert opened.run("SELECT 1", 1).rows == ((1,),)


def test_what_is_wrong_is_told_to_who_is_there(opened):
    with pytest.raises(WarehouseError):
        Attended(opened, threading.Event()).run("SELECT nothing FROM nowhere", 1)


def test_everything_else_is_the_warehouse_s_own(opened):
    kept = Attended(opened, threading.Event())
    assert kept.dialect == opened.dialect
    assert kept.explain("SELECT 1") == opened.explain("SELECT 1")
    assert kept.columns("main", "nothing") == opened.columns("main", "nothing")
    kept.close()
    assert opened.run("SELECT 1", 1).rows == ((1,),)
