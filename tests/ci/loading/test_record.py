"""What a compile writes is worked out when it is read, once, and looks like everything else."""

from ci.loading.derived.record import Added, Later


def counted():
    calls = []

    def work():
        calls.append(1)
        return {"root": "a"}

    return calls, Later(work)


def test_a_later_value_is_worked_out_once_when_it_is_read():
    calls, later = counted()
    added = Added().and_({"formal": later}).and_({"layer": 1})
    assert calls == []
    assert added["formal"] == added["formal"] == {"root": "a"}
    assert calls == [1]


def test_asking_which_keys_there_are_works_nothing_out():
    calls, later = counted()
    added = Added({"formal": later, "layer": 1})
    assert list(added) == ["formal", "layer"]
    assert "formal" in added and len(added) == 2
    assert calls == []


def test_spread_into_a_record_it_is_a_plain_mapping_in_the_order_of_the_stages():
    _, later = counted()
    assert list({**Added({"formal": later, "layer": 1})}.items()) == [("formal", {"root": "a"}), ("layer", 1)]


def test_what_a_stage_adds_leaves_the_record_before_it_alone():
    before = Added({"formal": 1})
    after = before.and_({"conflicts": []})
    assert (dict(before), dict(after)) == ({"formal": 1}, {"formal": 1, "conflicts": []})
