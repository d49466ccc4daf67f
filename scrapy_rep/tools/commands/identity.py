"""Make the key that signs requests, and check that a site can verify them.

--make writes a private key, the key directory to publish at REP_SIGN_AGENT, the headers to serve it with, and a
signature agent card into a folder. --rotate adds a new key there, and keeps the one before in the directory. No
key is overwritten.

Without them the key of REP_SIGN_KEY signs a request, and the directory at REP_SIGN_AGENT is fetched: a verifier
for RFC 9421 checks both. Exits with 0, with 1 when a site could not verify the crawl, and with 2 when the
settings or the folder cannot be used. Checking needs the extra sign: pip install 'scrapy-rep[sign]'.
"""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentParser, Namespace
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from scrapy.utils.misc import load_object

from scrapy_rep.clock import clock
from scrapy_rep.crawl.gate.extension import RepExtension
from scrapy_rep.crawl.runtime.log import describe
from scrapy_rep.crawl.runtime.product_tokens import header_of, tokens_of
from scrapy_rep.extras.edge.signatures import TAG, Identity, Key, checked_agent, thumbprint_of
from scrapy_rep.protocol import Origin
from scrapy_rep.protocol.display import iso_time, number_of, shown
from scrapy_rep.settings import RepSettings

from . import FOUND, OK
from .inputs import InputError
from .terminal import labelled, paint

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

DIRECTORY: Final = "http-message-signatures-directory"
"""The name of the key directory, and the tag of a signature over it."""

MEDIA_TYPE: Final = f"application/{DIRECTORY}+json"
_COVERED: Final = {  # what has to be signed, by the tag of the signature
    TAG: ('"@authority"', '"signature-agent";key="sig1"'),
    DIRECTORY: ('"@authority";req', '"content-digest"'),
}
_HEADERS: Final = f"{DIRECTORY}.headers"
_CARD: Final = "signature-agent-card.json"
_YEAR: Final = 31_536_000  # seconds; the server of the directory has no key to sign it anew
_TIMEOUT: Final = 10.0  # seconds
_MOST: Final = 1_048_576  # octets of a directory


def add_arguments(parser: ArgumentParser) -> None:
    """Add the arguments of the command to *parser*."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--make", metavar="FOLDER", type=Path, help="write a key and what to publish into FOLDER")
    what.add_argument("--rotate", metavar="FOLDER", type=Path, help="add a new key to what --make has written")


def run(arguments: Namespace, settings: BaseSettings, out: IO[str]) -> int:
    """Run the command; return the exit code."""
    parsed, folder = RepSettings.from_settings(settings), arguments.make or arguments.rotate
    if folder:
        checks = [*_write(folder, checked_agent(parsed.sign_agent), settings, is_new=bool(arguments.make))]
    else:
        checks = [*_checks(Identity.from_settings(settings, parsed.sign_key, parsed.sign_agent))]
        if not _signs(settings):
            checks.append(("crawl", 'nothing is signed: set ADDONS = {"scrapy_rep.Addon": 300}', False))
    lines = [(label, [text if is_right else paint(text, "bad", out)]) for label, text, is_right in checks]
    out.writelines(f"{line}\n" for line in labelled(lines, out))
    return OK if all(is_right for _, _, is_right in checks) else FOUND


# What is published.


def _write(folder: Path, agent: str, settings: BaseSettings, *, is_new: bool) -> Iterator[tuple[str, str, bool]]:
    """Write a new key into *folder*, and the directory with it and the one before. Raises `InputError`."""
    files = sorted(folder.glob("sign*.pem"), key=lambda file: (len(file.name), file.name))
    if bool(files) is is_new:
        hint = "has a key already: --rotate adds another" if is_new else "has no sign.pem: --make writes one"
        raise InputError(f"{folder} {hint}")
    folder.mkdir(parents=True, exist_ok=True)
    keys, new = [Key.read(str(each)) for each in files[-1:]], folder / "sign.pem"
    if files:
        new = folder / f"sign-{int(re.sub('[^0-9]', '', files[-1].stem) or 1) + 1}.pem"
    private = Ed25519PrivateKey.generate()
    with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    keys.append(Key(private))
    body = json.dumps({"keys": [{**key.jwk, "kid": key.thumbprint, "use": "sig"} for key in keys]}).encode()
    now, authority = int(clock.time()), str(Origin.from_url(agent)).partition("://")[2]
    headers = directory_headers(keys, authority, body, now, now + _YEAR)
    (folder / DIRECTORY).write_bytes(body)
    (folder / _HEADERS).write_text("".join(f"{name}: {value}\n" for name, value in headers.items()))
    yield "key", f"{new}, for your eyes only; its thumbprint is {keys[-1].thumbprint}", True
    yield "publish", f"{folder / DIRECTORY} at {_url(agent)}, with the headers in {folder / _HEADERS}", True
    if is_new:
        (folder / _CARD).write_text(json.dumps(_card(agent, settings), indent=2) + "\n")
        yield "card", f"{folder / _CARD}, by a draft, draft-meunier-webbotauth-registry-04: complete it", True
    when = "" if is_new else " in a day, when the caches of verifiers have the new directory"
    yield "set", f"REP_SIGN_KEY = {str(new.absolute())!r}{when}", True


def directory_headers(keys: Sequence[Key], authority: str, body: bytes, since: int, until: int) -> dict[str, str]:
    """The headers to serve the key directory *body* with: each of its *keys* signs it for its *authority*."""
    digest = f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"
    inputs, signatures = [], []
    for label, key in zip(("binding", "binding2"), keys, strict=False):
        parameters = (
            f'("@authority";req "content-digest");created={since};expires={until}'
            f';keyid="{key.thumbprint}";tag="{DIRECTORY}"'
        )
        base = f'"@authority";req: {authority}\n"content-digest": {digest}\n"@signature-params": {parameters}'
        inputs.append(f"{label}={parameters}")
        signatures.append(f"{label}=:{b64encode(key.sign(base.encode())).decode()}:")
    signed = {"Signature-Input": ", ".join(inputs), "Signature": ", ".join(signatures)}
    return {"Content-Type": MEDIA_TYPE, "Cache-Control": "max-age=86400", "Content-Digest": digest, **signed}


def _card(agent: str, settings: BaseSettings) -> dict[str, Any]:
    """A signature agent card, as far as the settings know what belongs into it."""
    token, header = tokens_of(settings)[0], header_of(settings)[1].decode("latin-1")
    page = re.search(r"https?://[^\s;,)]+", header)
    contact = settings.getdict("DEFAULT_REQUEST_HEADERS").get("From")
    card = {"client_name": token, "client_uri": page and page[0], "contacts": contact and [f"mailto:{contact}"]}
    about = {"expected-user-agent": header, "rfc9309-product-token": token, "trigger": "crawler"}
    known = {name: value for name, value in card.items() if value}
    return {**known, "jwks_uri": _url(agent), "web_bot_auth": about}


# What a site sees.


def _signs(settings: BaseSettings) -> bool:
    """Whether a crawl with *settings* has the extension that signs, by the add-on or without it."""
    listed = {**settings.getdict("ADDONS"), **settings.getdict("EXTENSIONS")}
    kinds = (load_object(each) for each, place in listed.items() if place is not None)
    ours = (load_object("scrapy_rep.Addon"), RepExtension)
    return any(isinstance(kind, type) and issubclass(kind, ours) for kind in kinds)


def _checks(identity: Identity) -> Iterator[tuple[str, str, bool]]:
    """What a site finds out, each with a label and whether it is right."""
    key, url = identity.key, _url(identity.agent)
    yield "key", key.thumbprint, True
    signed = {name.decode(): value.decode() for name, value in identity.headers("site.example").items()}
    request = SimpleNamespace(url="https://site.example/page", method="GET", headers=signed)
    yield "request", *_verified(request, TAG, _keys_in(json.dumps({"keys": [key.jwk]})))
    yield "directory", url, True
    try:
        answer, body = _fetched(url)
    except (OSError, HTTPException, ValueError) as error:
        yield "", f"no answer: {describe(error)}", False
        return
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    yield "", f"status {answer.status_code}", answer.status_code == 200
    yield "", f"media type {shown(media_type) or 'none'}", media_type == MEDIA_TYPE
    has_key = key.thumbprint in (keys := _keys_in(body))
    yield "", f"{number_of(len(keys), 'key', 'keys')}, this one {'' if has_key else 'not '}among them", has_key
    yield "", *_verified(answer, DIRECTORY, keys, body)


def _url(agent: str) -> str:
    """Where the directory of *agent* lies: verifiers of older drafts add the path to a bare origin."""
    return agent if urlsplit(agent).path.strip("/") else f"{agent.rstrip('/')}/.well-known/{DIRECTORY}"


def _fetched(url: str) -> tuple[SimpleNamespace, bytes]:
    """The answer to a request for *url*, as a verifier asks: it checks the certificate, and follows nothing."""
    parts = urlsplit(url)
    connection = HTTPSConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
    try:
        connection.request("GET", f"{parts.path}?{parts.query}".rstrip("?"), headers={"Accept": MEDIA_TYPE})
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        request = SimpleNamespace(url=url, method="GET", headers={})
        return SimpleNamespace(request=request, headers=headers, status_code=response.status), response.read(_MOST)
    finally:
        connection.close()


def _keys_in(body: bytes | str) -> dict[str, Ed25519PublicKey]:
    """The Ed25519 keys of a directory, by their thumbprints; none if it is no JSON Web Key Set."""
    try:
        found = [key["x"] for key in json.loads(body)["keys"] if key.get("crv") == "Ed25519"]
        return {thumbprint_of(x): Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(f"{x}==")) for x in found}
    except (ValueError, TypeError, LookupError, AttributeError):
        return {}


def _verified(message: object, tag: str, keys: Mapping[str, Any], body: bytes | None = None) -> tuple[str, bool]:
    """What the verifier says about *message*, which one of *keys* has signed, and whether it accepts it."""
    try:
        import http_message_signatures as library  # noqa: PLC0415  # an optional dependency
    except ImportError:
        raise InputError("the verifier is not installed: pip install 'scrapy-rep[sign]'") from None
    try:
        known = library.MappingKeyResolver(public_keys=keys, private_keys={})
        verifier = library.HTTPMessageVerifier(signature_algorithm=library.algorithms.ED25519, key_resolver=known)
        found = verifier.verify(message, expect_tag=tag, require_components=_COVERED[tag], body=body)
        return f"signature accepted, until {iso_time(min(int(one.parameters['expires']) for one in found))}", True
    except (library.HTTPMessageSignaturesException, ValueError, LookupError) as error:
        return f"signature not accepted: {describe(error)}", False
