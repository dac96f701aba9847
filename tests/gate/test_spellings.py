"""A thing has one spelling: whoever is one customer to a tool is one customer to history. Each row is one attempt."""

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from bylaw.errors import UsageError
from bylaw.gate.decision_point import MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.gate.lookups import BadLookup, literal
from tests.gate.shop import REFUND, SHOP
from tests.rows import each

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOST = {"id": "s", "facts": {"confirmed": True}}
ID = "0b5af3c2-77de-4a30-9d9f-5d1c0a6e2b11"


def said(one):
    """The name of a row."""
    return ascii(one)[:40] if not isinstance(one, int) or one < 10**30 else "a very long number"


@pytest.fixture
def decision_point_of(bundle):
    def find(declared):
        gate = Gate(bundle(SHOP if declared is None else {**SHOP, "keys": {"customer_id": declared}}))
        return MemoryDecisionPoint(lambda: gate, clock=lambda: NOON)

    return find


def refund(point, customer):
    """A verification and then a refund of a customer, as an agent would try them."""
    verified = point.decide(call_of(tool="verify", arguments={"customer_id": customer}, session=HOST))
    if verified.is_allowed:
        point.ended(verified.decision_id, True)
    answer = point.decide(call_of(tool="issue_refund", arguments={**REFUND, "customer_id": customer}, session=HOST))
    if answer.is_allowed:
        point.ended(answer.decision_id, True)
    return answer


# what one tool or another reads as the customer 17
AS_A_NUMBER = [
    "+17", "0017", "1_7", " 17", "17 ", "17\n", "\t17", "\u00a017", "١٧", "۱۷", "１７", "𝟏𝟕", "१७", "17.0", "17.",
    "1.7e1", "1.7E+1", "017", "00000000000017", "1__7", "17\u200b", "1\u20607", "\ufeff17", "17\x00", 17.0, "17.00",
    Decimal("17.0"),
]  # fmt: skip
AS_TEXT_TOO = ["0x11", "0b10001", "0o21", "%31%37", "17;", "17abc", "17,0", "1 7", "17/1", "&#49;7", "#17", "XVII"]
NOTHING = [True, False, [17], {"id": 17}, [["17"]], float("nan"), float("inf"), 10**5_000, "1" * 10_000, "\ud800"]


@pytest.mark.parametrize("spelled", [*AS_A_NUMBER, *AS_TEXT_TOO, *NOTHING], ids=said)
def test_a_whole_number_has_one_spelling(decision_point_of, spelled):
    point = decision_point_of({"type": "integer"})
    assert refund(point, 17).is_allowed
    answer = refund(point, spelled)
    assert answer.ruling == "deny" and "customer_id" in answer.reasons[0].text, answer.as_json()


@pytest.mark.parametrize("spelled", [*AS_A_NUMBER, *NOTHING], ids=said)
@pytest.mark.parametrize("first", [17, "17"])
def test_what_looks_like_a_number_has_one_spelling_without_a_type(decision_point_of, first, spelled):
    point = decision_point_of(None)
    assert refund(point, first).is_allowed
    answer = refund(point, spelled)
    assert answer.ruling == "deny" and "customer_id" in answer.reasons[0].text, answer.as_json()


@pytest.mark.parametrize("declared", [None, {"type": "integer"}, {"type": "text"}])
def test_a_number_and_its_text_are_one_customer(decision_point_of, declared):
    for first, second in ((17, "17"), ("17", 17)):
        point = decision_point_of(declared)
        assert refund(point, first).is_allowed
        assert refund(point, second).ruling == "deny"
        assert refund(point, 18).is_allowed and refund(point, "0" if first == 17 else 0).is_allowed


ROWS = [
    # declared, what is spelled as it has to be, and what else may be read as the same
    (
        {"type": "text", "pattern": "[a-z0-9.]+@[a-z0-9.]+"},
        "ann@x.org",
        [
            *("Ann@x.org", "ann@X.ORG", "ann@x.org ", "ann%40x.org", "\u0430nn@x.org", "ann@x.org\n", "\uff41nn@x.org"),
            *("ann\u00ad@x.org", "<ann@x.org>", "mailto:ann@x.org"),
        ],
    ),
    (
        {"type": "uuid"},
        ID,
        [ID.upper(), ID.replace("-", ""), f"{{{ID}}}", f"urn:uuid:{ID}", f" {ID}", ID[:-1], f"{ID}\n"],
    ),
    (
        {"type": "date"},
        "2026-11-02",
        [
            *("20261102", "2026-11-02T00:00", "2026-W45-1", "2026-11-2", "02.11.2026", "2026-11-02 ", "2026-02-30"),
            *("\uff12026-11-02", datetime(2026, 11, 2, tzinfo=UTC)),
        ],
    ),
    (
        {"type": "text", "pattern": "north|south"},
        "north",
        ["North", "northern", "xnorth", "north|south", "north\nsouth"],
    ),
    ({"type": "text"}, "C-7", [" C-7", "C-7 ", "C-\uff17", "C-7\u200b", "C\u00ad-7", "C-\u0667", ["C-7"], True, 7.0]),
    ({"type": "text", "pattern": "C[0-9]+"}, "C17", ["C\u0661\u0667", "c17", "C 17", "\u03f917", "C17\x00"]),
    (
        None,
        "C-7",
        [
            *(" C-7", "C-7 ", "\uff23-7", "C-7\u200b", "C-\u0667", "C-7\x7f", "C-7\r\n", "\u202eC-7", "C-7\ufe0f"),
            "C-7\u3164",
        ],
    ),
]


@pytest.mark.parametrize(
    ("declared", "good", "spelled"),
    [(declared, good, one) for declared, good, others in ROWS for one in others],
    ids=said,
)
def test_any_other_spelling_is_denied(decision_point_of, declared, good, spelled):
    point = decision_point_of(declared)
    assert refund(point, good).is_allowed
    answer = refund(point, spelled)
    assert answer.ruling == "deny" and "customer_id" in answer.reasons[0].text, answer.as_json()


@pytest.mark.parametrize(
    ("declared", "good"),
    [
        ({"type": "text"}, "0017"),
        ({"type": "text"}, "1e5"),
        ({"type": "text"}, "Zoë Ångström"),
        ({"type": "uuid"}, uuid.UUID(ID)),
        ({"type": "date"}, date(2026, 11, 2)),
        ({"type": "integer"}, -3),
        (None, "C-0017"),
        (None, 1.5),
        (None, "日本-7"),
        (None, uuid.UUID(ID)),
    ],
    ids=said,
)
def test_what_is_spelled_as_it_has_to_be_is_counted(decision_point_of, declared, good):
    point = decision_point_of(declared)
    assert refund(point, good).is_allowed
    again = refund(point, good)
    assert again.ruling == "deny" and again.reasons[0].policy_id == "POL-REFUND-002", "the second of the day"


@each(
    ("example", "raw", "is_found"),
    [
        *((1, raw, True) for raw in (17, "17", 0, "0", -3, "-3")),
        *((1, raw, False) for raw in [*AS_A_NUMBER, *AS_TEXT_TOO, *NOTHING, 1.5, "1.5", "-0", None, ""]),
        *((Decimal("1.5"), raw, True) for raw in (17, "17", 1.5, "1.5", "1.50", "-0.5")),
        *(
            (Decimal("1.5"), raw, False)
            for raw in ("+1.5", "01.5", "1_0.5", ".5", "1.", "1e1", "١.٥", "1,5", True, [1.5])
        ),
    ],
    ids=said,
)
def test_a_lookup_by_a_number_reads_one_spelling_too(example, raw, is_found):
    try:
        literal(example, raw)
    except BadLookup:
        assert not is_found
    else:
        assert is_found


def test_a_call_by_action_is_held_to_it_too(decision_point_of):
    point = decision_point_of({"type": "integer"})
    asked = [{"customer_id": "0017"}, {"customer_id": "17", "other": "0017"}, {"customer_id": "17"}, {}]
    said = [point.decide(call_of(action="verify_identity", keys=keys)).ruling for keys in asked]
    assert said == ["deny", "allow", "allow", "allow"], "nothing hangs on the other key, and none is told of at all"


@pytest.mark.parametrize("name", [" bot", "bot ", "ｂot", "b\u00adot"])
def test_who_acts_has_one_spelling(decision_point_of, name):
    with pytest.raises(UsageError):
        decision_point_of(None).decide(call_of(tool="verify", arguments={"customer_id": "c1"}, actor=name))
