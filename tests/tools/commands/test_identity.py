"""``scrapy robots identity``: the key, what is published, and whether a site can verify the crawl."""

from __future__ import annotations

import json
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_rep import Addon
from scrapy_rep.extras.edge.signatures import Key
from scrapy_rep.tools.commands import identity
from scrapy_rep.tools.commands.identity import DIRECTORY, MEDIA_TYPE, directory_headers
from tests.support.command import command_here
from tests.support.crawl import ADDON
from tests.support.signatures import AGENT
from tests.support.site import Answer, Site, redirect

PATH = f"/.well-known/{DIRECTORY}"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site whose certificate this process trusts."""
    monkeypatch.setattr(ssl, "_create_default_https_context", ssl._create_unverified_context)
    with Site(tls=True) as site:
        yield site


def made(folder: Path, agent: str = AGENT, option: str = "--make", **settings: Any) -> tuple[int, str]:
    return command_here(identity, option, str(folder), REP_SIGN_AGENT=agent, **settings)


def checked(key: Path, agent: str) -> tuple[int, str]:
    return command_here(identity, REP_SIGN_KEY=str(key), REP_SIGN_AGENT=agent, **ADDON)


def publish(site: Site, folder: Path, **more: str) -> str:
    """Serve what is in *folder* as the command says; its URL."""
    lines = (folder / f"{DIRECTORY}.headers").read_text().splitlines()
    headers = dict(line.split(": ", 1) for line in lines) | more
    site.answer(PATH, Answer(body=(folder / DIRECTORY).read_bytes(), headers=[*headers.items()]))
    return f"{site.origin}{PATH}"


def test_make_writes_a_key_that_only_its_owner_can_read_and_its_directory(tmp_path: Path) -> None:
    code, out = made(tmp_path / "new" / "secrets")
    folder = tmp_path / "new" / "secrets"
    key = Key.read(str(folder / "sign.pem"))
    assert code == 0
    assert (folder / "sign.pem").stat().st_mode & 0o777 == 0o600
    published = json.loads((folder / DIRECTORY).read_bytes())
    assert published == {"keys": [{**key.jwk, "kid": key.thumbprint, "use": "sig"}]}
    assert key.thumbprint in out
    assert f"at {AGENT}, with the headers in" in out
    private = (folder / "sign.pem").read_text().splitlines()[1]
    assert not [file for file in folder.iterdir() if file.name != "sign.pem" and private in file.read_text()]


def test_make_overwrites_nothing_and_rotate_keeps_the_key_before(tmp_path: Path) -> None:
    made(tmp_path)
    first = (tmp_path / "sign.pem").read_bytes()
    assert made(tmp_path)[0] == 2
    for number in range(2, 12):
        code, out = made(tmp_path, option="--rotate")
        kids = [key["kid"] for key in json.loads((tmp_path / DIRECTORY).read_bytes())["keys"]]
        names = [f"sign-{each}.pem" if each > 1 else "sign.pem" for each in (number - 1, number)]
        assert (code, kids) == (0, [Key.read(str(tmp_path / name)).thumbprint for name in names])
        assert "in a day" in out
    assert (tmp_path / "sign.pem").read_bytes() == first


def test_rotate_goes_on_when_the_key_before_is_gone(tmp_path: Path) -> None:
    made(tmp_path)
    made(tmp_path, option="--rotate")
    (tmp_path / "sign.pem").unlink()
    assert made(tmp_path, option="--rotate")[0] == 0
    assert sorted(file.name for file in tmp_path.glob("*.pem")) == ["sign-2.pem", "sign-3.pem"]


def test_rotate_changes_nothing_if_the_key_before_cannot_be_read(tmp_path: Path) -> None:
    made(tmp_path)
    (tmp_path / "sign.pem").write_text("no key")
    assert made(tmp_path, option="--rotate")[0] == 2
    assert [file.name for file in tmp_path.glob("*.pem")] == ["sign.pem"]


def test_the_setting_to_copy_holds_in_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"REP_SIGN_KEY = {str(tmp_path / 'secrets' / 'sign.pem')!r}" in made(Path("secrets"))[1]


def test_rotate_needs_a_key_and_make_a_url(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert made(tmp_path, option="--rotate")[0] == 2
    assert "has no sign.pem: --make writes one" in capsys.readouterr().err
    assert made(tmp_path, agent="http://bot.example")[0] == 2
    assert not [*tmp_path.iterdir()]


def test_the_card_has_what_the_settings_know(tmp_path: Path) -> None:
    user_agent = "ExampleBot/1.0 (+https://bot.example/about)"
    headers = {"From": "bot@bot.example"}
    made(tmp_path, USER_AGENT=user_agent, DEFAULT_REQUEST_HEADERS=headers)
    assert json.loads((tmp_path / "signature-agent-card.json").read_text()) == {
        "client_name": "ExampleBot",
        "client_uri": "https://bot.example/about",
        "contacts": ["mailto:bot@bot.example"],
        "jwks_uri": AGENT,
        "web_bot_auth": {
            "expected-user-agent": user_agent,
            "rfc9309-product-token": "ExampleBot",
            "trigger": "crawler",
        },
    }


def test_the_directory_of_the_draft_is_signed_byte_for_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    key = {"kty": "OKP", "crv": "Ed25519", "d": "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"}
    monkeypatch.setenv("TEST_KEY", json.dumps(key))
    body = (
        b'{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"'
        b',"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
    )
    signed = directory_headers([Key.read("env:TEST_KEY")], "signature-agent.test", body, 1735689600, 4889289600)
    assert signed["Content-Digest"] == "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    assert signed["Signature-Input"] == (
        'binding=("@authority";req "content-digest");created=1735689600;expires=4889289600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";tag="http-message-signatures-directory"'
    )
    assert signed["Signature"] == (
        "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:"
    )


@pytest.mark.parametrize("is_bare", [False, True])
def test_what_was_made_and_published_is_accepted(is_bare: bool, site: Site, tmp_path: Path) -> None:
    agent = site.origin if is_bare else f"{site.origin}{PATH}"
    made(tmp_path, agent)
    made(tmp_path, agent, "--rotate")
    publish(site, tmp_path)
    code, out = checked(tmp_path / "sign-2.pem", agent)
    lines = [line.split(None, 1)[-1] for line in out.splitlines()]
    assert lines[1].startswith("signature accepted, until ")
    assert f"directory    {site.origin}{PATH}\n" in out
    assert f"status 200\n             media type {MEDIA_TYPE}\n             2 keys, this one among them\n" in out
    assert out.splitlines()[-1].strip().startswith("signature accepted, until ")
    assert code == 0
    (arrival,) = site.log
    assert not [name for name in arrival.headers if name.startswith("signature")]


def test_what_a_site_could_not_verify_is_found(site: Site, tmp_path: Path) -> None:
    made(tmp_path / "ours", f"{site.origin}{PATH}")
    made(tmp_path / "other", f"{site.origin}{PATH}")
    ours, body = tmp_path / "ours" / "sign.pem", (tmp_path / "ours" / DIRECTORY).read_bytes()

    def told(answer: Answer | None = None) -> str:
        if answer is not None:
            site.answer(PATH, answer)
        code, out = checked(ours, f"{site.origin}{PATH}")
        assert code == 1
        return out

    publish(site, tmp_path / "other")
    assert "1 key, this one not among them" in told()
    publish(site, tmp_path / "ours", **{"Content-Type": "application/json"})
    assert "media type application/json" in told()
    assert "signature not accepted" in told(Answer(body=body, headers=[("Content-Type", MEDIA_TYPE)]))
    assert "0 keys" in told(Answer(body=b"[]"))
    assert "0 keys" in told(Answer(body=b'{"keys": [{"crv": "Ed25519", "x": 1}]}'))
    assert "status 302" in told(redirect(f"{site.origin}/elsewhere"))
    assert site.count("/elsewhere") == 0
    site.stop_listening()
    assert "no answer: " in told()


@pytest.mark.parametrize(
    ("settings", "is_signed"),
    [
        ({}, False),
        ({"ADDONS": {"scrapy_rep.Addon": None}}, False),
        ({"ADDONS": {Addon: 300}}, True),
        ({"ADDONS": {}, "EXTENSIONS": {"scrapy_rep.RepExtension": 0}}, True),
    ],
)
def test_a_crawl_without_the_extension_is_found(
    settings: dict[str, Any], is_signed: bool, site: Site, tmp_path: Path
) -> None:
    agent = f"{site.origin}{PATH}"
    made(tmp_path, agent)
    publish(site, tmp_path)
    key = {"REP_SIGN_KEY": str(tmp_path / "sign.pem"), "REP_SIGN_AGENT": agent}
    code, out = command_here(identity, **key, **settings)
    assert ("nothing is signed" in out, code) == (not is_signed, not is_signed)


def test_a_certificate_that_nobody_trusts_is_no_directory(tmp_path: Path) -> None:
    with Site(tls=True) as site:
        made(tmp_path, f"{site.origin}{PATH}")
        code, out = checked(tmp_path / "sign.pem", publish(site, tmp_path))
    assert code == 1
    assert "no answer: " in out


def test_without_the_verifier_the_command_names_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path)
    monkeypatch.setitem(sys.modules, "http_message_signatures", None)
    assert checked(tmp_path / "sign.pem", AGENT)[0] == 2
    assert "pip install 'scrapy-rep[sign]'" in capsys.readouterr().err


def test_without_settings_the_command_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_here(identity)[0] == 2
    assert "REP_SIGN_KEY is not set" in capsys.readouterr().err
