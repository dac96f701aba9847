"""A shop whose agents refund: the repository that most tests of the gate ask."""

from typing import Any

SHOP: dict[str, Any] = {
    "vocabulary": {
        "facts": {
            "purchase_amount": {"type": "decimal", "unit": "USD", "minimum": 0, "maximum": 100000},
            "days_since_purchase": {"type": "integer", "unit": "days", "minimum": 0},
            "has_receipt": {"type": "boolean", "assertable": True},
            "confirmed": {"type": "boolean"},
            "refunds_today": {
                "type": "integer",
                "minimum": 0,
                "history": {"count": ["full_refund", "store_credit"], "within": "24 hours", "same": ["customer_id"]},
            },
            "refunded_30_days": {
                "type": "decimal",
                "unit": "USD",
                "minimum": 0,
                "history": {
                    "sum": "purchase_amount",
                    "of": ["full_refund"],
                    "within": "30 days",
                    "same": ["customer_id"],
                },
            },
            "identity_verified": {
                "type": "boolean",
                "history": {
                    "happened": "verify_identity",
                    "within": "1 hour",
                    "same": ["customer_id"],
                    "not_after": ["logout"],
                },
            },
        },
        "actions": {
            "full_refund": {"outcome": "refund"},
            "store_credit": {"outcome": "refund"},
            "reject": {"outcome": "refund"},
            "verify_identity": {},
            "logout": {},
            "disclose_pii": {},
            "close_account": {"person": True},
            "log_call": {},
        },
        "outcomes": {"refund": {}},
    },
    "policies": {
        "POL-REFUND-001": {
            "when": [
                {"parameter": "days_since_purchase", "operator": "<=", "value": 30},
                {"parameter": "confirmed", "value": True},
            ],
            "permitted": ["full_refund", "store_credit"],
        },
        "POL-REFUND-002": {
            "when": [{"parameter": "refunds_today", "operator": ">=", "value": 1}],
            "metadata": {"regulatory_linkage": ["fraud rules"]},
            "prohibited": ["full_refund", "store_credit"],
        },
        "POL-REFUND-003": {
            "when": [{"parameter": "identity_verified", "value": False}],
            "metadata": {"regulatory_linkage": ["fraud rules"]},
            "prohibited": ["full_refund"],
        },
        "POL-REFUND-004": {"required": ["verify_identity", "log_call"]},
        "POL-REFUND-005": {
            "required": "close_account",
            "when": [{"parameter": "has_receipt", "value": True}],
        },
        "POL-REFUND-006": {"permitted": ["logout"]},
        "POL-PRIVACY-001": {"prohibited": "disclose_pii"},
    },
    "tools": {
        "issue_refund": {
            "action": {"from": "argument", "name": "kind", "values": {"full": "full_refund", "credit": "store_credit"}},
            "facts": {
                "purchase_amount": {"from": "argument", "name": "amount", "unit": "USD"},
                "days_since_purchase": {"from": "argument", "name": "days"},
                "confirmed": {"from": "session"},
            },
            "keys": {"order_id": "order_id", "customer_id": "customer_id"},
        },
        "verify": {"action": "verify_identity", "keys": {"customer_id": "customer_id"}},
        "sign_out": {"action": "logout", "keys": {"customer_id": "customer_id"}},
        "tell": {"action": "disclose_pii"},
        "trial_refund": {
            "action": "full_refund",
            "mode": "shadow",
            "keys": {"customer_id": "customer_id"},
            "facts": {"confirmed": {"from": "session"}},
        },
    },
}
REFUND = {"kind": "full", "amount": 20, "days": 3, "order_id": "17", "customer_id": "c1"}
