"""Who signed a bundle: keys as openssl writes them, and nothing else that looks like one."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from bylaw.bundle import dump, parse, read
from bylaw.errors import BundleError, UsageError
from bylaw.signature import SCHEME, is_signed, public_keys, sign
from tests.fakes.bundle import write_bundle
from tests.rows import each

Command = Callable[..., Any]
ETAG = "sha256:" + "0" * 64


@dataclass(frozen=True)
class Pair:
    """A private key and its public one, as PEM. The same seed gives the same pair."""

    private: str
    public: str


def pair(seed: int, passphrase: bytes | None = None) -> Pair:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
    hidden = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, hidden)
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Pair(private.decode(), public.decode())


OURS, THEIRS = pair(1), pair(2)


def bare(pem: str) -> str:
    return "".join(line for line in pem.splitlines() if not line.startswith("-"))


def test_what_a_key_signed_its_public_key_confirms() -> None:
    signature = sign(ETAG, OURS.private)
    assert signature.startswith(SCHEME)
    assert is_signed(ETAG, signature, public_keys(OURS.public))
    assert not is_signed(ETAG, signature, public_keys(THEIRS.public))
    assert not is_signed(ETAG.replace("0", "1"), signature, public_keys(OURS.public))


def test_the_same_key_signs_the_same_way_every_time() -> None:
    assert sign(ETAG, OURS.private) == sign(ETAG, OURS.private)


@each("between", ["\n", " ", ",", ", "])
def test_keys_may_be_one_line_and_several(between: str) -> None:
    both = public_keys(bare(OURS.public) + between + bare(THEIRS.public))
    assert both == public_keys(OURS.public + THEIRS.public) != ()
    for one in (OURS, THEIRS):
        assert is_signed(ETAG, sign(ETAG, bare(one.private)), both)


def test_no_text_is_no_key() -> None:
    assert public_keys("") == public_keys(" \n ") == ()
    assert not is_signed(ETAG, sign(ETAG, OURS.private), ())


RSA = rsa.generate_private_key(65537, 2048)
NOT_PRIVATE = [
    "",
    "secret",
    OURS.public,
    pair(1, b"passphrase").private,
    RSA.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    OURS.private + THEIRS.private,
    "-----BEGIN PRIVATE KEY-----\n????\n-----END PRIVATE KEY-----",
]


@pytest.mark.parametrize("text", NOT_PRIVATE)
def test_what_is_no_signing_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        sign(ETAG, text)
    assert caught.value.message == "the signing key is no unencrypted Ed25519 key in PEM"


NOT_PUBLIC = [
    "key",
    OURS.private,
    RSA.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode(),
    bare(OURS.public)[:-4],
    OURS.public + "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
]


@each("text", NOT_PUBLIC)
def test_what_is_no_public_key_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no public Ed25519 key"):
        public_keys(text)


@given(st.text(max_size=80) | st.binary(max_size=80).map(bytes.hex))
def test_no_text_passes_for_a_signature(text: str) -> None:
    assert not is_signed(ETAG, text, public_keys(OURS.public))
    assert not is_signed(ETAG, SCHEME + text, public_keys(OURS.public))


def test_a_signature_without_its_scheme_is_none() -> None:
    assert not is_signed(ETAG, sign(ETAG, OURS.private).removeprefix(SCHEME), public_keys(OURS.public))


# ---- in a bundle ------------------------------------------------------------------------------------------------


@pytest.fixture
def signed(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.json"
    write_bundle(path)
    path.write_text(dump(read(path), OURS.private), encoding="utf-8")
    return path


def test_a_signed_bundle_is_the_bundle_with_one_line_more(signed: Path) -> None:
    bundle = read(signed, public_keys(OURS.public))
    unsigned = parse(
        dump(
            bundle.model_copy(update={"bundle_metadata": bundle.bundle_metadata.model_copy(update={"signature": None})})
        )
    )
    assert bundle.bundle_metadata.etag == unsigned.bundle_metadata.etag
    assert dump(bundle) == dump(unsigned, OURS.private) == signed.read_text(encoding="utf-8")


def test_without_a_key_anybody_reads_it(signed: Path) -> None:
    assert read(signed).bundle_metadata.signature is not None


def spoilt(path: Path, **metadata: object) -> str:
    document = json.loads(path.read_text(encoding="utf-8"))
    document["bundle_metadata"].update(metadata)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("metadata", "says"),
    [
        ({"signature": None}, "is not signed"),
        ({"signature": ""}, "is signed by nobody"),
        ({"signature": 5}, "is signed by nobody"),
        ({"signature": sign(ETAG, OURS.private)}, "is signed by nobody"),
        ({"source_commit": "another"}, "does not match its etag"),
        ({"committed_at": "2030-01-01T00:00:00Z"}, "does not match its etag"),
    ],
)
def test_given_a_key_what_it_did_not_sign_is_refused(metadata: dict[str, object], says: str, signed: Path) -> None:
    with pytest.raises(BundleError, match=says):
        parse(spoilt(signed, **metadata), keys=public_keys(OURS.public))


def test_somebody_elses_signature_is_refused(signed: Path) -> None:
    with pytest.raises(BundleError, match="nobody whose key is trusted here"):
        read(signed, public_keys(THEIRS.public))


# ---- by the command -----------------------------------------------------------------------------------------------


@pytest.fixture
def company_bundle(company: Any, tmp_path: Path, call: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BYLAW_SIGNING_KEY", OURS.private)
    done = call("compile", "--root", company.root, "-o", tmp_path / "out", "--at", "2026-06-01")
    assert done.code == 1
    assert "(signed)" in done.err
    monkeypatch.delenv("BYLAW_SIGNING_KEY")
    return tmp_path / "out" / "compiled_policy_bundle.json"


def test_compile_signs_with_the_key_of_the_environment(company_bundle: Path, company: Any) -> None:
    bundle = read(company_bundle, public_keys(OURS.public))
    assert bundle.bundle_metadata.etag == read(company.bundle).bundle_metadata.etag


def test_a_verb_of_the_bot_refuses_what_its_key_did_not_sign(
    company_bundle: Path, company: Any, call: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYLAW_BUNDLE_KEY", OURS.public)
    asked = ("decide", "--facts", '{"hours_late": 1}', "--bundle")
    assert call(*asked, company_bundle).code == 0
    refused = call(*asked, company.bundle)
    assert (refused.code, refused.out) == (2, "")
    assert "is not signed" in refused.err
    monkeypatch.setenv("BYLAW_BUNDLE_KEY", THEIRS.public)
    assert "signed by nobody" in call(*asked, company_bundle).err


@pytest.mark.parametrize("form", ["file", "PEM", "one line"])
def test_the_key_is_a_file_or_is_given_itself(form: str, company: Any, tmp_path: Path, call: Command) -> None:
    (tmp_path / "key.pem").write_text(OURS.private, encoding="ascii")
    given = {"file": str(tmp_path / "key.pem"), "PEM": OURS.private, "one line": bare(OURS.private)}[form]
    done = call("compile", "--root", company.root, "-o", tmp_path / "out", "--sign-key", given, "--at", "2026-06-01")
    assert "(signed)" in done.err
    signed = read(tmp_path / "out" / "compiled_policy_bundle.json", public_keys(OURS.public))
    assert signed.bundle_metadata.signature is not None


@pytest.mark.parametrize("given", ["no such file.pem", "/tmp", "x" * 5000, "a/" * 40])
def test_a_key_that_is_nowhere_is_said_and_never_repeated(
    given: str, company: Any, tmp_path: Path, call: Command
) -> None:
    done = call("compile", "--root", company.root, "-o", tmp_path / "out", "--sign-key", given)
    assert (done.code, (tmp_path / "out").exists()) == (2, False)
    assert "openssl genpkey" in done.err and given not in done.err.replace("key.pem", "")


def test_a_wrong_key_writes_nothing(company: Any, tmp_path: Path, call: Command) -> None:
    done = call("compile", "--root", company.root, "-o", tmp_path / "out", "--sign-key", OURS.public)
    assert done.code == 2
    assert not (tmp_path / "out").exists()
    assert bare(OURS.public) not in done.err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl writes the keys here")
def test_the_keys_that_openssl_writes_are_read(tmp_path: Path) -> None:
    def openssl(*words: str) -> str:
        return subprocess.run(["openssl", *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    private = openssl("genpkey", "-algorithm", "ed25519", "-out", "key.pem") or (tmp_path / "key.pem").read_text()
    public = openssl("pkey", "-in", "key.pem", "-pubout")
    assert is_signed(ETAG, sign(ETAG, private), public_keys(public))
