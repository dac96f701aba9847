"""Every service against a real server: what is sent, and what becomes of every way in which it can go wrong."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from bylaw.errors import UsageError
from bylaw.llm.models import SERVICES, Model
from bylaw.llm.port import Deadline, Exchange, ask
from bylaw.llm.wanted import Given
from tests.bylaw.llm.scripted import SAID, Answer, prompt
from tests.fakes.llm import CLAUDE, KEY, MODEL, NOVA, FakeLLM
from tests.rows import each, one_of

FAULTS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text(encoding="utf-8"))

AT: dict[str, Callable[[FakeLLM], Given]] = {
    "anthropic": lambda fake: Given(f"anthropic:{CLAUDE}", fake.anthropic, KEY),
    "azure": lambda fake: Given(f"azure:{MODEL}", fake.azure, KEY, api_version="2024-10-21"),
    "bedrock": lambda fake: Given(f"bedrock:{NOVA}", fake.bedrock, region="eu-west-1"),
    "ollama": lambda fake: Given(f"ollama:{MODEL}", fake.openai, KEY),
    "openai": lambda fake: Given(f"openai:{MODEL}", fake.openai, KEY),
    "vllm": lambda fake: Given(f"vllm:{MODEL}", fake.openai, KEY),
}


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeLLM]:
    with FakeLLM(SAID) as server:
        yield server
    assert server.defects == []


@pytest.fixture(scope="module", params=one_of(3, sorted(AT)))
def model(request: pytest.FixtureRequest, fake: FakeLLM) -> Iterator[Model]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIALOOPBACK")  # where AWS's own library looks
        patch.setenv("AWS_SECRET_ACCESS_KEY", "loopback")
        made = Model(AT[request.param](fake))
        yield made
        made.close()


def asked(model: Model, seconds: float = 30) -> Exchange[Answer]:
    return ask(model, prompt(), Answer, Deadline.after(seconds, time.monotonic))


def test_every_service_is_tested():
    assert set(AT) == set(SERVICES)


def test_an_answer_comes_back_as_it_was_said(model, fake):
    fake.calls.clear()
    exchange = asked(model)
    assert exchange.value == Answer(text="yes", sure=True)
    assert exchange.completion is not None and exchange.completion.text == SAID
    (call,) = fake.calls
    assert f"{exchange.completion.model.partition(':')[2]}" == call.model
    assert call.temperature == 0
    assert call.prompt == "Is it so?"
    assert call.system.startswith("Be brief.\n\nAnswer with one JSON object")
    assert '"additionalProperties": false' in call.system


@pytest.mark.parametrize("row", FAULTS, ids=lambda row: row["fault"])
def test_a_server_that_goes_wrong_gives_no_answer_and_is_asked_once(row, model, fake):
    fake.mend()
    fake.fail(row["fault"])
    before = len(fake.requests)
    exchange = asked(model, 0.5 if row["reason"] == "late" else 30)
    assert exchange.value is None
    assert exchange.error is not None
    expected = row.get("services", {}).get(model.name.partition(":")[0], row["reason"])
    assert exchange.error.reason == expected, exchange.error.detail
    assert len(fake.requests) == before + 1, "nobody tries again behind our back"
    assert asked(model).value is not None, "what went wrong once does no harm to the next"


def test_a_server_that_is_not_there_cannot_be_reached():
    exchange = asked(Model(Given(f"openai:{MODEL}", "http://127.0.0.1:1/v1", KEY)))
    assert exchange.error is not None and exchange.error.reason == "unreachable"


@pytest.mark.parametrize("service", ["anthropic", "azure", "openai"])
def test_a_wrong_key_is_refused_and_said_nowhere(service, fake, caplog):
    given = AT[service](fake)
    secret = "sk-wrong-9876543210"
    caplog.set_level(logging.DEBUG, "bylaw")
    made = Model(Given(given.model, given.url, secret, given.region, given.api_version))
    exchange = asked(made)
    made.close()
    assert exchange.error is not None
    assert (exchange.error.reason, exchange.error.detail) == ("refused", "401")
    for shown in (repr(exchange), str(exchange.paper()), caplog.text, repr(given), str(exchange.error)):
        assert secret not in shown
        assert KEY not in shown


def test_an_unknown_model_is_refused(fake):
    made = Model(Given("openai:gpt-0", fake.openai, KEY))
    exchange = asked(made)
    made.close()
    assert exchange.error is not None and (exchange.error.reason, exchange.error.detail) == ("refused", "404")


@each(
    ("given", "said"),
    [
        (Given("gpt-5"), "`gpt-5` is no language model"),
        (Given("openai:"), "`openai:` is no language model"),
        (Given("clippy:1"), "`clippy:1` is no language model"),
        (Given(""), "`` is no language model"),
        (Given("azure:gpt-5"), "`azure:gpt-5` needs `BYLAW_LLM_URL`"),
        (Given("azure:gpt-5", "http://127.0.0.1"), "`azure:gpt-5` needs `BYLAW_LLM_API_VERSION`"),
        (Given("bedrock:nova"), "`bedrock:nova` needs `BYLAW_LLM_REGION`"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(given, said):
    with pytest.raises(UsageError, match=said):
        Model(given)


@pytest.fixture
def no_credentials(monkeypatch, tmp_path):
    """AWS's own library finds nothing, wherever it looks."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in (("AWS_EC2_METADATA_DISABLED", "true"), ("HOME", str(tmp_path))):
        monkeypatch.setenv(name, value)
    pytest.importorskip("boto3")


def test_bedrock_without_credentials_gives_no_answer(no_credentials, fake):
    made = Model(AT["bedrock"](fake))
    exchange = asked(made)
    made.close()
    assert exchange.error is not None
    assert (exchange.error.reason, exchange.error.detail) == ("unreachable", "NoCredentialsError")


@each(
    ("name", "value"),
    [("AWS_PROFILE", "nosuch"), ("AWS_ACCESS_KEY_ID", "half of a pair"), ("AWS_CONFIG_FILE", __file__)],
)
def test_what_aws_cannot_be_opened_with_is_wrong_usage_or_no_answer(name, value, no_credentials, fake, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv(name, value)
        try:
            made = Model(AT["bedrock"](fake))
        except UsageError as error:
            assert "cannot be asked as it is configured" in error.message
            assert value not in error.message
        else:
            assert asked(made).value is None
            made.close()


@pytest.mark.parametrize("service", sorted(set(SERVICES) - {"bedrock"}))
@pytest.mark.parametrize(
    "url", ["http://", "not a url", "ftp://x", "http://127.0.0.1:99999", "http://[::1", "http://\u2603/"]
)
def test_an_address_that_is_none_gives_no_answer(service, url):
    try:
        made = Model(Given(f"{service}:x", url, KEY, api_version="2024-10-21"))
    except UsageError as error:
        assert "cannot be asked as it is configured" in error.message
    else:
        assert asked(made).value is None
        made.close()


@pytest.mark.slow
def test_no_library_looks_for_a_key_of_its_own(fake):
    """A key in the environment is for somebody else: only what is given is sent."""
    code = (
        "import sys, time; from bylaw.llm.models import Model; from bylaw.llm.port import Deadline, ask;"
        "from bylaw.llm.wanted import Given;"
        "from tests.bylaw.llm.scripted import Answer, prompt;"
        "exchange = ask(Model(Given(sys.argv[1], sys.argv[2])), prompt(), Answer, Deadline.after(30, time.monotonic));"
        "print(exchange.error.reason, exchange.error.detail)"
    )
    env = {**os.environ, "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:1"}
    words = [sys.executable, "-c", code, f"openai:{MODEL}", fake.openai]
    root = Path(__file__).parents[3]
    shown = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["refused", "401"]


def test_the_port_is_there_without_the_libraries():
    code = "import sys, bylaw.llm.registry; print([m for m in ('pydantic_ai', 'openai', 'boto3') if m in sys.modules])"
    root = Path(__file__).parents[3]
    shown = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
