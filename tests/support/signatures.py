"""Keys for signed requests, and a verifier that shares nothing with the signer: the library for RFC 9421."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519

from .site import Arrival

AGENT = "https://bot.example/.well-known/http-message-signatures-directory"
COVERED = ('"@authority"', '"signature-agent";key="sig1"')


def pem(key: Any, encryption: Any = None) -> bytes:
    """The private *key* as OpenSSL writes it."""
    written: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption or NoEncryption())
    return written


class Owner(HTTPSignatureKeyResolver):
    """Who signs: a key in a file of *folder*, the ``settings`` of its crawls, and what a site knows of it."""

    def __init__(self, folder: Path) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.file = folder / "sign.pem"
        self.file.write_bytes(pem(self.key))
        self.settings = {"REP_SIGN_KEY": str(self.file), "REP_SIGN_AGENT": AGENT, "REP_STORE": "memory"}

    def resolve_public_key(self, key_id: str) -> Any:
        return self.key.public_key()


@dataclass
class _Message:
    url: str
    method: str
    headers: dict[str, str] = field(default_factory=dict)


def verified(owner: Owner, arrivals: Iterable[Arrival]) -> list[dict[str, Any]]:
    """The parameters of the signature of each of *arrivals*; raises for one that a site would not accept.

    The server knows by its socket where a request has arrived, whatever that says of its host.
    """
    verifier = HTTPMessageVerifier(signature_algorithm=ED25519, key_resolver=owner)
    found = []
    for arrival in arrivals:
        message = _Message(f"{arrival.origin}{arrival.path}", arrival.method, arrival.headers)
        (result,) = verifier.verify(message, expect_tag="web-bot-auth", require_components=COVERED)
        found.append(dict(result.parameters))
    return found
