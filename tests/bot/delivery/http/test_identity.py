"""Who asks is whom a signature, or the proxy that may say so, names: never whom the request would like to be."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from bot.delivery.http.identity.bearer import AGAIN_SECONDS, Bearer, UnknownKey
from bot.settings import Tokens, read
from bylaw.errors import UsageError
from tests.rows import each

ISSUER, AUDIENCE = "https://login.example", "bylaw"
RSA, OTHER = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
CURVE, EDWARDS = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
PUBLIC = {
    "rsa": RSAAlgorithm.to_jwk(RSA.public_key(), as_dict=True),
    "ec": ECAlgorithm.to_jwk(CURVE.public_key(), as_dict=True),
    "ed": OKPAlgorithm.to_jwk(EDWARDS.public_key(), as_dict=True),
}
PEM = RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def keys(*names):
    return json.dumps({"keys": [{**PUBLIC[name], "kid": name, "use": "sig"} for name in names]})


def claims(**others):
    now = int(time.time())
    whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "iat": now, "exp": now + 300, **others}
    return {name: value for name, value in whole.items() if value is not None}


def token(key=RSA, algorithm="RS256", kid="rsa", headers=None, **others):
    return jwt.encode(claims(**others), key, algorithm, {"kid": kid, **(headers or {})})


def encoded(value):
    return base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).rstrip(b"=")


def handmade(head, body, secret=None):
    """A token that no library would write."""
    told = encoded(head) + b"." + encoded(body)
    mark = b"" if secret is None else encoded(hmac.new(secret, told, hashlib.sha256).digest())
    return (told + b"." + mark).decode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("keys")
    (found / "keys.json").write_text(keys("rsa", "ec", "ed"))
    return found


@pytest.fixture
def bearer(folder):
    found = Bearer(Tokens(ISSUER, AUDIENCE, str(folder / "keys.json")))
    found.open()
    return found


@pytest.mark.parametrize(
    "good",
    [
        lambda: token(),
        lambda: token(algorithm="PS256"),
        lambda: token(CURVE, "ES256", "ec"),
        lambda: token(EDWARDS, "EdDSA", "ed"),
        lambda: token(aud=["other", AUDIENCE]),
        lambda: token(exp=int(time.time()) - 30),  # clocks differ
        lambda: token(nbf=int(time.time()) + 30),
        lambda: jwt.encode(claims(), RSA, "RS256"),  # no key is named
    ],
)
def test_a_token_of_the_issuer_is_believed(bearer, good):
    assert bearer.user(good()) == "ana"


FORGED = {
    "nothing": lambda: "",
    "no token": lambda: "abc",
    "dots": lambda: "..",
    "three parts of nothing": lambda: "e30.e30.e30",
    "unsigned": lambda: handmade({"alg": "none", "kid": "rsa"}, claims()),
    "unsigned, in capitals": lambda: handmade({"alg": "NONE", "kid": "rsa"}, claims()),
    "the public key as a secret": lambda: handmade({"alg": "HS256", "kid": "rsa"}, claims(), PEM),
    "no algorithm": lambda: handmade({"kid": "rsa"}, claims()),
    "a list of algorithms": lambda: handmade({"alg": ["RS256"], "kid": "rsa"}, claims()),
    "another key": lambda: token(OTHER),
    "another key, brought along": lambda: token(
        OTHER, headers={"jwk": RSAAlgorithm.to_jwk(OTHER.public_key(), as_dict=True)}
    ),
    "an address of keys": lambda: token(OTHER, headers={"jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1"}),
    "a key of another kind": lambda: token(CURVE, "ES256", "rsa"),
    "a name that is a path": lambda: token(OTHER, kid="rsa"),
    "what must be understood": lambda: token(headers={"crit": ["b64"], "b64": False}),
    "too old": lambda: token(exp=int(time.time()) - 120),
    "for later": lambda: token(nbf=int(time.time()) + 600),
    "without an end": lambda: token(exp=None),
    "an end that is text": lambda: jwt.encode(claims() | {"exp": "tomorrow"}, RSA, "RS256", {"kid": "rsa"}),
    "of nobody": lambda: token(sub=None),
    "of an empty name": lambda: token(sub=""),
    "of a name with a line break": lambda: token(sub="ana\nben"),
    "of a name too long": lambda: token(sub="a" * 200),
    "another issuer": lambda: token(iss="https://evil.example"),
    "an issuer that begins alike": lambda: token(iss=ISSUER + ".evil.example"),
    "no issuer": lambda: token(iss=None),
    "another audience": lambda: token(aud="other"),
    "no audience": lambda: token(aud=None),
    "too long": lambda: token(more="x" * 10_000),
    "cut": lambda: token()[:-3],
    "changed": lambda: ".".join([*token().split(".")[:1], encoded(claims(sub="root")).decode(), token().split(".")[2]]),
    "not ASCII": lambda: "é.é.é",
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_token_of_anybody_else_is_not(bearer, forged):
    try:
        assert bearer.user(FORGED[forged]()) is None
    except UnknownKey:
        pytest.fail("a key was looked for")


def test_a_new_key_is_taken_up_and_an_old_one_let_go(tmp_path):
    path, at = tmp_path / "keys.json", [0.0]
    path.write_text(keys("rsa"))
    bearer = Bearer(Tokens(ISSUER, AUDIENCE, str(path)), lambda: at[0])
    bearer.open()
    path.write_text(keys("ec"))
    with pytest.raises(UnknownKey):
        bearer.user(token(CURVE, "ES256", "ec"))
    bearer.renew()  # just now they were read
    with pytest.raises(UnknownKey):
        bearer.user(token(CURVE, "ES256", "ec"))
    at[0] += AGAIN_SECONDS
    bearer.renew()
    assert bearer.user(token(CURVE, "ES256", "ec")) == "ana"
    with pytest.raises(UnknownKey):
        bearer.user(token())
    path.write_text("{")
    at[0] += AGAIN_SECONDS
    bearer.renew()
    assert bearer.user(token(CURVE, "ES256", "ec")) == "ana"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"keys": 5}', '{"keys": []}', '{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}', "x" * 300_000]
)
def test_keys_that_check_nothing_are_said_at_the_start(tmp_path, text):
    (tmp_path / "keys.json").write_text(text)
    with pytest.raises(UsageError, match="keys of the issuer"):
        Bearer(Tokens(ISSUER, AUDIENCE, str(tmp_path / "keys.json"))).open()


@each("where", ["http://example.org/keys", "ftp://x/keys", "data:,{}", "/nowhere/keys.json"])
def test_keys_come_from_a_file_or_over_a_line_that_nobody_changes(where):
    with pytest.raises(UsageError):
        Bearer(Tokens(ISSUER, AUDIENCE, where)).open()


@each(
    "given",
    [
        {"BYLAW_JWT_ISSUER": "i"},
        {"BYLAW_JWT_ISSUER": "i", "BYLAW_JWT_KEYS": "k"},
        {"BYLAW_PROXY_HEADER": "X-User"},
        {"BYLAW_PROXY_ADDRESSES": "10.0.0.1"},
        {"BYLAW_PROXY_HEADER": "X-User", "BYLAW_PROXY_ADDRESSES": "10.0.0.1/8"},
        {"BYLAW_PROXY_HEADER": "X-User", "BYLAW_PROXY_ADDRESSES": "everybody"},
        {"BYLAW_PROXY_HEADER": "X User", "BYLAW_PROXY_ADDRESSES": "10.0.0.1"},
    ],
)
def test_half_an_identity_is_none(given):
    with pytest.raises(UsageError):
        read(environ=given)


def asked(server, **headers):
    found = httpx.post(f"{server.address}/v2/query", json={"text": "revenue", "user": "root"}, headers=headers)
    return found.status_code, recorded(server) if found.status_code == 200 else None


def recorded(server):
    """Who the last question was of."""
    from bot.evidence.store.engine import connect
    from bot.evidence.store.tables import audit

    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        *_, last = audit.entries(connection)
    store.close()
    return last.body["actor"]["id"]


def test_a_question_is_of_whom_the_token_names(start, folder):
    known = {"BYLAW_JWT_ISSUER": ISSUER, "BYLAW_JWT_AUDIENCE": AUDIENCE, "BYLAW_JWT_KEYS": str(folder / "keys.json")}
    server = start(**known, BYLAW_TOKEN="s3cret", BYLAW_TOKEN_USER="desk")
    assert asked(server, Authorization=f"Bearer {token()}") == (200, "ana")
    assert asked(server, Authorization="Bearer s3cret") == (200, "desk")
    assert asked(server) == (401, None)
    assert asked(server, Authorization=f"Bearer {token(kid='unknown')}") == (401, None)
    assert asked(server, Authorization=f"Basic {token()}") == (401, None)
    assert asked(server, **{"X-User": "root", "X-Forwarded-Email": "root"}) == (401, None)


def test_a_question_is_of_whom_the_trusted_proxy_names(start):
    server = start(BYLAW_PROXY_HEADER="X-User", BYLAW_PROXY_ADDRESSES="127.0.0.1")
    assert asked(server, **{"X-User": "ana"}) == (200, "ana")
    assert asked(server) == (401, None)
    assert asked(server, **{"X-User": ""}) == (401, None)
    sent = [("X-User", "ana"), ("X-User", "root"), ("Content-Type", "application/json")]
    assert httpx.post(f"{server.address}/v2/query", content=b'{"text": "x"}', headers=sent).status_code == 401


def test_nobody_else_may_say_what_the_proxy_says(start):
    server = start(BYLAW_PROXY_HEADER="X-User", BYLAW_PROXY_ADDRESSES="10.0.0.5")
    assert asked(server, **{"X-User": "ana"}) == (401, None)
    assert asked(server, **{"X-User": "ana", "X-Forwarded-For": "10.0.0.5", "Forwarded": "for=10.0.0.5"}) == (401, None)
