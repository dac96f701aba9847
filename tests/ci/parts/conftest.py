"""Small repositories of policies over two facts, as inventories that never touch a disk."""

from datetime import date
from pathlib import Path

import pytest

from ci.loading.commits.revision import Revision
from ci.loading.files import Content
from ci.parts.inventory import inventory

DAY = date(2026, 6, 15)
VOCABULARY = """\
facts:
  days: {type: integer, unit: days, minimum: 0}
  vip: {type: boolean}
actions:
  full: {outcome: refund}
  part: {outcome: refund}
  fast: {outcome: shipping}
  slow: {outcome: shipping}
  notify: {}
outcomes: {refund: {}, shipping: {}}
"""


def policy(id_, low, high, action, *, kind="required", more=""):
    return f"""\
policy_id: {id_}
conditions: [{{type: fact, parameter: days, operator: between, value: [{low}, {high}]}}]
actions: [{{type: {kind}, action: {action}}}]
metadata: {{source: handbook, owner: Desk, domain: shop}}
{more}"""


@pytest.fixture
def made(tmp_path):
    """An inventory of policies (name -> text), with the vocabulary, on a day."""

    def make(policies, at=DAY, **files):
        found = {"policies/vocabulary.yaml": VOCABULARY}
        found |= {f"policies/shop/{name}.yaml": text for name, text in policies.items()}
        found |= {path.replace("__", "/") + ".yaml": text for path, text in files.items()}
        contents = [Content(path, text.encode()) for path, text in sorted(found.items())]
        return inventory(Path(tmp_path), contents, Revision(), at)

    return make
