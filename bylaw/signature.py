"""Ed25519 signatures over the etag of a bundle: who may say what a bot serves.

Keys are PEM as `openssl genpkey -algorithm ed25519` writes them; where a line is handier, its middle part alone. A
public key inside this program is its 32 bytes.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bylaw.errors import BundleError, UsageError

Keys = tuple[bytes, ...]

SCHEME = "ed25519:"
_SAID = b"bylaw bundle\n"  # a signature over anything else is never one over a bundle
_PEM = re.compile(r"-----BEGIN [A-Z ]+-----(.*?)-----END [A-Z ]+-----", re.DOTALL)
_MAKE_ONE = "make one with `openssl genpkey -algorithm ed25519"
_SHORTEST_KEY = 60  # characters; the private key of Ed25519 has 64 in base64


def sign(etag: str, key: str) -> str:
    """The signature over *etag* with the private *key*: the same two give the same text. Raises UsageError."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_der_private_key

    found = [_der(part) for part in _parts(key)]
    try:
        private = load_der_private_key(found[0], None) if len(found) == 1 else None
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        # The text itself is never repeated: it may be most of a key.
        raise UsageError("the signing key is no unencrypted Ed25519 key in PEM", f"{_MAKE_ONE}`")
    return SCHEME + base64.b64encode(private.sign(_SAID + etag.encode())).decode()


def key_text(given: str) -> str:
    """The PEM that *given* is, or that lies in the file of that name. Raises UsageError for a file that is not there.

    A key says so in its first line, or is one long word of base64; whatever else is given is a path.
    """
    if _PEM.search(given) or (len(given.strip()) > _SHORTEST_KEY and _der(given)):
        return given
    try:
        return Path(given).read_text(encoding="ascii")
    except (OSError, ValueError):  # the text is not repeated: it may be a key with a slip in it
        raise UsageError(
            "the signing key is neither a file that can be read nor a key in PEM",
            f"{_MAKE_ONE} -out key.pem`, then name the file: `--sign-key key.pem`",
        ) from None


def public_keys(text: str) -> Keys:
    """The public keys in *text*, one or several: while a key is replaced both are trusted. Raises UsageError."""
    parts = _parts(text)
    if not parts:
        return ()  # most processes verify nothing and need not load what does
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    keys = []
    for part in parts:
        try:
            public = load_der_public_key(_der(part))
        except ValueError:
            public = None
        if not isinstance(public, Ed25519PublicKey):
            raise UsageError(
                "a key to verify bundles with is no public Ed25519 key in PEM",
                "`openssl pkey -pubout` writes the public key of a private one",
            )
        keys.append(public.public_bytes_raw())
    return tuple(keys)


def is_signed(etag: str, signature: str, keys: Keys) -> bool:
    """Is *signature* over *etag* by one of *keys*?"""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        raw = base64.b64decode(signature.removeprefix(SCHEME), validate=True)
    except (binascii.Error, ValueError):
        return False
    for key in keys:
        try:
            Ed25519PublicKey.from_public_bytes(key).verify(raw, _SAID + etag.encode())
        except InvalidSignature:
            continue
        return signature.startswith(SCHEME)
    return False


def require_signature(metadata: Mapping[str, Any], name: str, keys: Keys) -> None:
    """Raise BundleError unless the metadata of the bundle *name* carry a signature by one of *keys*."""
    signature = metadata.get("signature")
    if signature is None:
        raise BundleError(f"`{name}` is not signed", "compile it with `--sign-key`, where the key is kept")
    if not isinstance(signature, str) or not is_signed(str(metadata.get("etag")), signature, keys):
        raise BundleError(f"`{name}` is signed by nobody whose key is trusted here", "see BYLAW_BUNDLE_KEY")


def _parts(text: str) -> list[str]:
    return _PEM.findall(text) or re.split(r"[\s,]+", text.strip()) if text.strip() else []


def _der(part: str) -> bytes:
    try:
        return base64.b64decode("".join(part.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""
