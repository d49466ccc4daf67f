"""Requests are signed as the draft says, each anew; only the download handler sees it, and nobody the key."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from statistics import median
from time import perf_counter, time
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.settings import Settings

from scrapy_rep.exceptions import InvalidSettingError
from scrapy_rep.extras.edge.signatures import (
    Identity,
    Key,
    Signer,
    authority_of,
    follows_nothing,
)
from tests.support.crawl import Crawl, crawl, on_each_loop
from tests.support.run_crawl import Recorder
from tests.support.signatures import AGENT, Owner, pem, verified
from tests.support.site import Answer, Arrival, Site, redirect, robots, sequence, sitemap

HERE, THERE = "127.0.0.1", "127.0.0.2"
HEADERS = {"signature", "signature-input", "signature-agent"}

# RFC 9421, Appendix B.1.4, which everybody knows.
TEST_KEY = {
    "kty": "OKP",
    "crv": "Ed25519",
    "d": "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU",
    "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
}
THUMBPRINT = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"


@pytest.fixture
def test_key(monkeypatch: pytest.MonkeyPatch) -> Key:
    monkeypatch.setenv("TEST_KEY", json.dumps(TEST_KEY))
    return Key.read("env:TEST_KEY")


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site([HERE, THERE]) as site:
        yield site


def run(owner: Owner, *requests: str | dict[str, Any], **more: Any) -> Crawl:
    settings = {**owner.settings, **more.pop("settings", {})}
    return crawl(*requests, settings=settings, **more)


# The drafts.


def test_the_vector_of_the_draft_is_signed_byte_for_byte(test_key: Key) -> None:
    nonce = "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="
    created, expires = 1735689600, 4889289600
    identity = Identity(test_key, "https://signature-agent.test", expires - created, label="agent2")
    # The draft calls the signature "sig2" here; its own section 5.2.1 asks for the label of the agent. What is
    # signed does not have it.
    assert identity.headers("example.com", nonce, created) == {
        b"Signature": b"agent2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl"
        b"4e8PhbNZACSanGdhEwYCCg==:",
        b"Signature-Input": b'agent2=("@authority" "signature-agent";key="agent2");created=1735689600'
        b';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
        b';nonce="%s";tag="web-bot-auth"' % nonce.encode(),
        b"Signature-Agent": b'agent2="https://signature-agent.test"',
    }


def test_the_url_of_the_directory_is_signed_as_it_is_written(owner: Owner) -> None:
    agent = "https://bot.example/a%20b?c=%s"
    identity = Identity.from_settings(Settings(), str(owner.file), agent)
    headers = {name.decode().lower(): value.decode() for name, value in identity.headers("site.example").items()}
    (found,) = verified(owner, [Arrival(0.0, "https://site.example", "GET", "/", headers)])
    assert found["keyid"] == identity.key.thumbprint
    assert headers["signature-agent"] == f'sig1="{agent}"'


def test_the_key_of_rfc_9421_signs_its_example(test_key: Key) -> None:
    base = (
        '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@method": POST\n"@path": /foo\n"@authority": example.com\n'
        '"content-type": application/json\n"content-length": 18\n'
        '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    signature = "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw=="
    assert base64.b64encode(test_key.sign(base.encode())).decode() == signature
    assert test_key.thumbprint == THUMBPRINT


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://example.com/a", "example.com"),
        ("https://EXAMPLE.com:443/a", "example.com"),
        ("http://example.com:443/a", "example.com:443"),
        ("http://user:password@example.com:8080/", "example.com:8080"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("http://[::1]:80/", "[::1]"),
    ],
)
def test_the_authority_is_the_host_that_is_sent(url: str, authority: str) -> None:
    assert authority_of(Request(url)) == authority


@pytest.mark.parametrize(
    ("url", "hosts", "is_certain"),
    [
        ("https://example.com/a", [], True),
        ("https://example.com/a", ["Example.com:443"], True),
        ("https://example.com/a", ["example.com:80"], False),
        ("https://127.0.0.1/", ["virtual.example"], False),
        ("https://example.com/", ["example.com", "bank.example"], False),
        ("https://example.com/", ["b\u00fccher.example"], False),
        ("https://example.com/", [""], False),
        ("https://xn--fa-hia.example/", [], True),
        ("https://fa\u00df.example/", [], False),
    ],
)
def test_a_host_is_certain_if_url_and_headers_agree_on_it(url: str, hosts: list[str], is_certain: bool) -> None:
    request = Request(url, headers={"Host": hosts})
    request._url = url  # as Scrapy's verbatim_url leaves it
    assert (authority_of(request) is not None) is is_certain


# Key and agent.


@pytest.mark.parametrize("form", ["PEM", "JWK"])
@pytest.mark.parametrize("place", ["file", "env"])
def test_a_key_is_read_as_pem_or_jwk_from_a_file_or_a_variable(
    form: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(TEST_KEY["d"] + "="))
    text = pem(private) if form == "PEM" else json.dumps(TEST_KEY).encode()
    source = "env:MY_KEY" if place == "env" else str(tmp_path / "key")
    (tmp_path / "key").write_bytes(text)
    monkeypatch.setenv("MY_KEY", text.decode())
    assert Key.read(source).thumbprint == THUMBPRINT


RSA = pem(generate_private_key(65_537, 2_048))
LOCKED = pem(Ed25519PrivateKey.generate(), BestAvailableEncryption(b"password"))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RSA, "leads to no unencrypted Ed25519 key"),
        (LOCKED, "leads to no unencrypted Ed25519 key"),
        (b"", "leads to no unencrypted Ed25519 key"),
        (b"{", "leads to no unencrypted Ed25519 key"),
        (b'{"a":' * 10_000, "leads to no unencrypted Ed25519 key"),
        (json.dumps({**TEST_KEY, "d": "AAAA"}).encode(), "leads to no unencrypted Ed25519 key"),
        (json.dumps({**TEST_KEY, "crv": "X25519"}).encode(), "leads to no unencrypted Ed25519 key"),
        (json.dumps({"kty": "OKP", "crv": "Ed25519", "x": TEST_KEY["x"]}).encode(), "no unencrypted Ed25519 key"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_without_a_key_is_refused(text: bytes | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "key"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(InvalidSettingError) as caught:
        Key.read(str(file))
    assert why in str(caught.value)
    assert "expected the path of a PEM or JWK file" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "why"), [(None, "no such file or variable"), (b"\x80SECRET", "no unencrypted Ed25519 key")]
)
def test_a_variable_without_a_key_is_refused_and_no_exception_holds_its_text(
    value: bytes | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", os.fsdecode(value))
    with pytest.raises(InvalidSettingError, match=why) as caught:
        Key.read("env:MY_KEY")
    assert "SECRET" not in repr((caught.value, caught.value.__context__))


def test_only_the_start_of_a_regular_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for no_file in (tmp_path / "pipe", tmp_path):
        with pytest.raises(InvalidSettingError, match="it is no regular file"):
            Key.read(str(no_file))
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(2**40)
    with pytest.raises(InvalidSettingError, match="no unencrypted Ed25519 key"):
        Key.read(str(tmp_path / "huge"))


@pytest.mark.parametrize(
    "value",
    [pem(Ed25519PrivateKey.generate()).decode(), json.dumps(TEST_KEY), TEST_KEY["d"], "env:" + TEST_KEY["d"]],
)
def test_a_setting_that_is_the_key_itself_is_refused_without_showing_it(value: str) -> None:
    with pytest.raises(InvalidSettingError) as caught:
        Key.read(value)
    assert value not in str(caught.value)
    assert TEST_KEY["d"] not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"REP_SIGN_AGENT": ""}, "REP_SIGN_AGENT is not set: signatures need REP_SIGN_KEY and REP_SIGN_AGENT"),
        ({"REP_SIGN_KEY": ""}, "REP_SIGN_KEY is not set: signatures need REP_SIGN_KEY and REP_SIGN_AGENT"),
        ({"REP_SIGN_AGENT": "http://bot.example/"}, "expected the https URL of your key directory"),
        ({"REP_SIGN_AGENT": "https://user@bot.example/"}, "expected the https URL"),
        ({"REP_SIGN_AGENT": "https://bot.example/#keys"}, "expected the https URL"),
        ({"REP_SIGN_AGENT": "https://bot.example:99999/"}, "expected the https URL"),
        ({"REP_SIGN_AGENT": 'https://bot.example/"'}, "expected the https URL"),
        ({"REP_SIGN_AGENT": "bot.example"}, "expected the https URL"),
        ({"REP_SIGN_KEY": "nowhere.pem"}, "REP_SIGN_KEY cannot be read (No such file or directory)"),
    ],
)
def test_settings_that_cannot_be_used_stop_the_crawl_at_start_up(
    settings: dict[str, str], message: str, owner: Owner, site: Site
) -> None:
    result = run(owner, f"{site.origin}/", settings=settings)
    (line,) = result.lines("CRITICAL")
    assert message in line
    assert result.exit_code == 1
    assert not site.log


@pytest.mark.parametrize(("timeout", "seconds"), [(180, 250), (15, 85), (0, 3_670), (86_400, 3_670)])
def test_a_signature_outlives_the_time_for_which_a_request_may_wait(
    timeout: float, seconds: int, owner: Owner
) -> None:
    settings = Settings({"DOWNLOAD_TIMEOUT": timeout})
    assert Identity.from_settings(settings, str(owner.file), AGENT).seconds == seconds


# Crawls.


def world(site: Site) -> None:
    """Pages that lead to the other host and back, and fail first."""
    site.answer("/robots.txt", robots(f"User-agent: *\nDisallow: /no\nSitemap: {site.origin}/sitemap.xml\n"))
    site.answer("/sitemap.xml", sitemap(f"{site.origin}/listed"))
    for page in range(10):
        site.answer(f"/out{page}", redirect(f"{site.origins[1]}/back{page}"), site.origins[0])
        site.answer(f"/back{page}", redirect(f"{site.origins[0]}/end{page}"), site.origins[1])
        site.answer(f"/end{page}", sequence(Answer(503), Answer(200)), site.origins[0])


def urls(site: Site) -> list[str]:
    return [f"{site.origins[0]}/out{page}" for page in range(10)]


RETRIES = {"RETRY_TIMES": 3, "REP_BACKOFF": False, "DOWNLOAD_DELAY": 0}


@on_each_loop
def test_every_hop_attempt_and_robots_txt_is_signed_for_its_own_host(loop: str, owner: Owner, site: Site) -> None:
    world(site)
    result = run(owner, *urls(site), settings=RETRIES, loop=loop)
    assert len(result.pages) == 10
    assert len(site.log) == 42
    signatures = verified(owner, site.log)
    assert len({signature["nonce"] for signature in signatures}) == 42
    assert {signature["expires"] - signature["created"] for signature in signatures} == {250}
    assert all(time() - 70 < signature["created"] <= time() - 9 for signature in signatures)
    assert {arrival.headers["signature-agent"] for arrival in site.log} == {f'sig1="{AGENT}"'}
    assert result.stats["rep/sign/signed_count"] == 42
    assert "rep/sign/unsigned_count" not in result.stats
    assert not result.lines("WARNING", "scrapy_rep") + result.lines("ERROR")


def test_a_request_with_a_longer_timeout_is_signed_for_longer(owner: Owner, site: Site) -> None:
    requests = [{"url": f"{site.origin}/{timeout}", "meta": {"download_timeout": timeout}} for timeout in (5, 900)]
    run(owner, *requests, settings={"ROBOTSTXT_OBEY": False})
    signatures = {each.path: verified(owner, [each])[0] for each in site.log}
    assert {path: found["expires"] - found["created"] for path, found in signatures.items()} == {
        "/5": 250,
        "/900": 970,
    }


def test_sitemaps_are_signed(owner: Owner, site: Site) -> None:
    world(site)
    run(owner, spider="tests.crawl.sitemap_spiders:Ours", attributes={"sites": [site.origin]})
    assert {"/robots.txt", "/sitemap.xml", "/listed"} <= set(site.paths())
    verified(owner, site.log)


class Looks(Recorder):
    """Tags each page with what its request shows of a signature, and with the latency that the handler noted."""

    name = "looks"

    def page(self, response: Any) -> None:
        response.meta["tag"] = {
            "seen": [
                name.decode().lower() for name in response.request.headers if name.lower().startswith(b"signature")
            ],
            "has_latency": response.meta.get("download_latency", 0) > 0,
        }
        super().page(response)


def test_nobody_sees_the_signature_but_the_download_handler(owner: Owner, site: Site, tmp_path: Path) -> None:
    world(site)
    stores = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache"), "JOBDIR": str(tmp_path / "job")}
    audit = {"REP_AUDIT": str(tmp_path / "audit"), "REP_AUDIT_ALL": True}
    more = {**stores, **audit, **RETRIES, "HTTPCACHE_IGNORE_HTTP_CODES": [503]}
    looks = f"{__name__}:Looks"
    result = run(owner, *urls(site), settings=more, spider=looks)
    assert [page.tag for page in result.pages] == [{"seen": [], "has_latency": True}] * 10
    verified(owner, site.log)
    kept = [file for file in tmp_path.rglob("*") if file.is_file() and file != owner.file]
    assert len(kept) > 30
    assert not [file for file in kept if b"web-bot-auth" in file.read_bytes()]
    assert "web-bot-auth" not in repr((result.log, result.stats, result.failures))
    asked = len(site.log)
    assert len(run(owner, *urls(site), settings={**more, "JOBDIR": ""}, spider=looks).pages) == 10
    assert len(site.log) == asked, "the cache answers"


class Stops(Recorder):
    """Closes with the first page, and leaves the rest to the next run."""

    name = "stops"

    def page(self, response: Any) -> None:
        super().page(response)
        self.crawler.engine.close_spider(self)


def test_a_resumed_job_signs_what_an_earlier_run_left(owner: Owner, site: Site, tmp_path: Path) -> None:
    world(site)
    job = {**RETRIES, "JOBDIR": str(tmp_path / "job"), "CONCURRENT_REQUESTS": 1}
    first = run(owner, *urls(site), settings=job, spider=f"{__name__}:Stops")
    second = run(owner, settings=job, spider="tests.extras.edge.test_signatures:Goes")
    assert first.pages
    assert len(first.pages) + len(second.pages) == 10
    nonces = [signature["nonce"] for signature in verified(owner, site.log)]
    assert len(set(nonces)) == len(nonces)


class Goes(Recorder):
    name = "stops"  # the same job


class Fails(Recorder):
    """Shows all that a project can see of the signer, in a log line, a stat and a traceback."""

    name = "fails"

    def page(self, response: Any) -> None:
        from scrapy_rep.crawl.runtime.crawl import Crawl as Running  # noqa: PLC0415

        signer = Running.of(self.crawler).part(Signer)
        shown = [signer, vars(signer), signer.identity, vars(signer.identity), signer.identity.key]
        shown += [Running.of(self.crawler).settings, Running.of(self.crawler).downloader.send]
        self.logger.debug("%r %s", shown, self.settings.copy_to_dict())
        self.crawler.stats.set_value("shown", repr(shown))
        super().page(response)
        raise RuntimeError(repr(shown))


def test_the_key_is_shown_nowhere(owner: Owner, site: Site, tmp_path: Path) -> None:
    stores = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path / "cache"), "JOBDIR": str(tmp_path / "job")}
    more = {
        **stores,
        "REP_AUDIT": str(tmp_path / "audit"),
        "REP_STORE": "sqlite",
        "REP_STORE_PATH": str(tmp_path / "db"),
    }
    urls: list[Any] = [
        f"{site.origin}/",
        {"url": f"{site.origin}/odd", "headers": {"Host": "b\u00fccher.example"}},
    ]
    result = run(owner, *urls, settings=more, spider=f"{__name__}:Fails")
    assert any("Signer" in line.traceback for line in result.tracebacks)
    raw, text = owner.key.private_bytes_raw(), owner.file.read_bytes()
    needles = [raw, raw.hex().encode(), raw.hex().upper().encode(), repr(raw)[2:-1].encode()]
    needles += [
        base64.b64encode(raw).rstrip(b"="),
        base64.urlsafe_b64encode(raw).rstrip(b"="),
        text.splitlines()[1],
    ]
    told = repr((result.log, result.stats, result.failures, result.stderr)).encode()
    kept = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file() and file != owner.file]
    assert len(kept) > 5
    assert any(needles[-1] in each for each in [*kept, text]), "the search finds what is there"
    assert not [needle for needle in needles for each in (told, *kept) if needle in each]
    assert owner_thumbprint(owner) in told.decode()


def owner_thumbprint(owner: Owner) -> str:
    return Key.read(str(owner.file)).thumbprint


# What is not signed.


def unsigned(site: Site, path: str) -> bool:
    (arrival,) = (each for each in site.log if each.path == path)
    return not HEADERS & arrival.headers.keys()


def test_without_a_key_nothing_is_signed(site: Site) -> None:
    result = crawl(f"{site.origin}/")
    assert unsigned(site, "/")
    assert not [name for name in result.stats if name.startswith("rep/sign")]


def test_a_request_that_the_project_has_signed_stays_as_it_is(owner: Owner, site: Site) -> None:
    own = {"Signature": "own=:YQ==:", "Signature-Input": 'own=("@method")'}
    run(owner, {"url": f"{site.origin}/own", "headers": own})
    (arrival,) = (each for each in site.log if each.path == "/own")
    assert (arrival.headers["signature"], "signature-agent" in arrival.headers) == ("own=:YQ==:", False)


def test_a_request_that_a_service_fetches_is_not_signed(owner: Owner, site: Site) -> None:
    targets = {"REP_TARGET_URL": {HERE: "url"}}
    result = run(owner, f"{site.origin}/api?url={site.origins[1]}/page", settings=targets)
    assert unsigned(site, f"/api?url={site.origins[1]}/page")
    assert result.stats["rep/sign/unsigned_count"] == 1
    assert not unsigned(site, "/robots.txt"), "that of the target"


def test_a_host_header_carries_no_signature_to_where_a_redirect_leads(owner: Owner, site: Site) -> None:
    site.answer("/out", redirect(f"{site.origins[1]}/evil"), site.origins[0])
    host = site.origins[0].partition("://")[2]
    run(owner, {"url": f"{site.origins[0]}/out", "headers": {"Host": host}})
    assert not unsigned(site, "/out")
    assert [each.headers["host"] for each in site.log if each.path == "/evil"] == [host]
    assert unsigned(site, "/evil")


class Follows(HTTP11DownloadHandler):
    """A handler of a project, by whatever library."""

    async def download_request(self, request: Request) -> Any:
        return await super().download_request(request)


class Impersonates(HTTP11DownloadHandler):
    """As scrapy-impersonate: it gives the response the request that it was handed."""

    async def download_request(self, request: Request) -> Any:
        response = await super().download_request(request)
        response.request = request
        return response


Impersonates.__module__ = "scrapy_impersonate.handler"


def test_a_handler_that_follows_redirects_for_some_requests_warns_at_the_first(owner: Owner, site: Site) -> None:
    handlers = {"DOWNLOAD_HANDLERS": {"http": f"{__name__}.Impersonates"}}
    follows = {"impersonate_args": {"allow_redirects": True}}
    pages = [{"url": f"{site.origin}/{page}", "meta": follows} for page in ("a", "b")]
    result = run(owner, f"{site.origin}/", *pages, settings={**handlers, "REP_CLIENT_META": []})
    assert len(result.lines("WARNING", "scrapy_rep")) == 1
    assert (result.stats["rep/sign/signed_count"], result.stats["rep/sign/unsigned_count"]) == (2, 2)


def test_a_response_has_the_request_without_a_signature_whatever_its_handler_says(
    owner: Owner, site: Site
) -> None:
    handlers = {"DOWNLOAD_HANDLERS": {"http": f"{__name__}.Impersonates"}}
    result = run(owner, f"{site.origin}/a", settings=handlers, spider=f"{__name__}:Looks")
    assert [page.tag["seen"] for page in result.pages] == [[]]
    assert len(verified(owner, site.log)) == 2


class Extends(HTTP11DownloadHandler):
    """A handler of a project that sends as Scrapy does."""

    lazy = False

    def __init__(self, crawler: Any) -> None:
        super().__init__(crawler)
        self.own = 1


def test_a_handler_that_may_follow_redirects_gets_no_signature_and_one_warning(owner: Owner, site: Site) -> None:
    handlers = {"DOWNLOAD_HANDLERS": {"http": f"{__name__}.Follows"}}
    result = run(owner, f"{site.origin}/a", f"{site.origin}/b", settings=handlers)
    assert unsigned(site, "/a")
    (line,) = result.lines("WARNING", "scrapy_rep")
    assert line.startswith(f"Requests through {__name__}.Follows that may follow redirects")
    assert result.stats["rep/sign/unsigned_count"] == 3
    assert "rep/sign/signed_count" not in result.stats


def test_a_handler_that_inherits_how_it_sends_gets_signatures(owner: Owner, site: Site) -> None:
    run(owner, f"{site.origin}/a", settings={"DOWNLOAD_HANDLERS": {"http": f"{__name__}.Extends"}})
    assert len(verified(owner, site.log)) == 2


def test_a_handler_whose_client_follows_redirects_gets_no_signature(owner: Owner, site: Site) -> None:
    handlers = pytest.importorskip("scrapy.core.downloader.handlers._httpx")

    class OtherClient(handlers.HttpxDownloadHandler):  # type: ignore[name-defined,misc]
        def _make_client(self, *arguments: Any) -> Any:
            client = super()._make_client(*arguments)
            client.follow_redirects = True
            return client

    site.answer("/a", redirect(f"{site.origins[1]}/evil"), site.origins[0])
    run(owner, f"{site.origin}/a", settings={"DOWNLOAD_HANDLERS": {"http": OtherClient}})
    assert unsigned(site, "/evil")


@pytest.mark.parametrize(
    ("module", "meta", "is_signed"),
    [
        ("scrapy_impersonate.handler", {"impersonate": "chrome"}, True),
        ("scrapy_impersonate.handler", {"impersonate_args": {"timeout": 9}}, True),
        ("scrapy_impersonate.handler", {"impersonate_args": {"allow_redirects": True}}, False),
        ("scrapy_impersonate.handler", {"impersonate_curl_options": {"FOLLOWLOCATION": 1}}, False),
        ("scrapy_playwright.handler", {}, True),
        ("scrapy_playwright.handler", {"playwright": True}, False),
        ("scrapy_zyte_api.handler", {}, False),
    ],
)
def test_handlers_from_elsewhere_are_told_apart(module: str, meta: dict[str, Any], is_signed: bool) -> None:
    own = {"__module__": module, "download_request": Follows.download_request}
    assert follows_nothing(type("Handler", (HTTP11DownloadHandler,), own))(meta) is is_signed


@pytest.mark.parametrize("handler", ["_aiohttp.AiohttpDownloadHandler", "_httpx.HttpxDownloadHandler"])
def test_scrapys_other_handlers_send_signatures(handler: str, owner: Owner, site: Site) -> None:
    pytest.importorskip(f"scrapy.core.downloader.handlers.{handler.partition('.')[0]}")
    world(site)
    path = f"scrapy.core.downloader.handlers.{handler}"
    result = run(owner, *urls(site), settings={**RETRIES, "DOWNLOAD_HANDLERS": {"http": path}})
    assert len(result.pages) == 10
    assert len(verified(owner, site.log)) == 42


# What can go wrong.


def test_a_request_that_cannot_be_signed_is_not_sent(
    owner: Owner, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise ValueError("the signer is broken")

    monkeypatch.setattr(Identity, "headers", break_down)
    result = run(owner, f"{site.origin}/", settings={"REP_RETRY_TIMES": 0, "ROBOTSTXT_OBEY": False})
    assert "the signer is broken" in result.failure(f"{site.origin}/").message
    assert not site.log


class Rotates(Recorder):
    """Puts another key, or no key, into the file of the key between two pages."""

    name = "rotates"
    into = ""
    text = ""

    def page(self, response: Any) -> Any:
        super().page(response)
        if response.url.endswith("/0"):
            Path(self.into).write_text(self.text)
            yield Request(response.urljoin("/1"), self.page)


@pytest.mark.parametrize("is_usable", [True, False])
def test_a_new_key_in_the_file_is_used_and_a_broken_one_is_not(
    is_usable: bool, owner: Owner, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scrapy_rep.extras.edge.signatures._LOOKS_EVERY", 0.0)
    old, new = owner_thumbprint(owner), Ed25519PrivateKey.generate()
    text = pem(new).decode() if is_usable else "no key"
    attributes = {"into": str(owner.file), "text": text}
    result = run(owner, f"{site.origin}/0", spider=f"{__name__}:Rotates", attributes=attributes)
    first, last = (each for each in site.log if each.path != "/robots.txt")
    (signature,) = verified(owner, [first])
    assert signature["keyid"] == old
    if is_usable:
        owner.key = new
    (signature,) = verified(owner, [last])
    assert signature["keyid"] == (owner_thumbprint(owner) if is_usable else old)
    warnings = result.lines("WARNING", "scrapy_rep")
    assert [f"The crawl goes on with the key {old}." in line for line in warnings] == [True] * (not is_usable)


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, []), (-30, ["30 seconds behind"]), (900, ["900 seconds ahead of"])]
)
def test_a_clock_by_which_signatures_are_invalid_is_told_once(
    seconds: int, told: list[str], owner: Owner, site: Site
) -> None:
    headers = [("Date", formatdate(time() + seconds, usegmt=True))]
    site.answer("*", Answer(403, headers=headers))
    settings = {"REP_BACKOFF": False}
    lines = run(owner, f"{site.origin}/a", f"{site.origin}/b", settings=settings).lines(
        "WARNING", "scrapy_rep.extras.edge"
    )
    assert len(lines) == len(told)
    for line, words in zip(lines, told):
        assert "answered 403 to a signed request, and its clock is" in line
        assert abs(int(line.split(" seconds")[0].rpartition(" ")[2]) - abs(seconds)) <= 2
        assert words.split(" seconds ")[1] in line


@pytest.mark.parametrize(
    "date",
    ["", "soon", "Mon, 01 Jan 0001 00:00:00 +2359", "Mon, 01 Jan 0001 00:00:00 -0000", f"1 Jan {'9' * 40} 0:0:0"],
)
def test_a_date_that_is_none_costs_no_page(date: str, owner: Owner, site: Site) -> None:
    site.answer("*", Answer(403, headers=[("Date", date)]))
    result = run(owner, {"url": f"{site.origin}/a", "meta": {"handle_httpstatus_all": True}})
    assert [page.status for page in result.pages] == [403]


@pytest.mark.untraced
@pytest.mark.usefixtures("_no_collection")
def test_a_signature_costs_less_than_80_microseconds(test_key: Key) -> None:
    identity, request = Identity(test_key, AGENT, 250), Request("https://example.com/a?b=c")

    def cost() -> float:
        began = perf_counter()
        identity.headers(authority_of(request) or "")
        return perf_counter() - began

    assert median(cost() for _ in range(2_000)) < 80e-6


NODE_MODULES = Path(__file__).parents[3] / ".node" / "node_modules"


@pytest.mark.full
@pytest.mark.skipif(not NODE_MODULES.exists(), reason="npm has not installed tests/support/npm.txt into .node")
def test_the_verifiers_of_npm_accept_what_a_crawl_sends(owner: Owner, site: Site) -> None:
    world(site)
    run(owner, *urls(site), settings=RETRIES)
    sent: list[dict[str, Any]] = [
        {"url": f"{each.origin}{each.path}", "headers": signature_of(each)} for each in site.log
    ]
    elsewhere = {**sent[0], "url": "http://bank.example/"}
    other_agent = {"signature-agent": sent[0]["headers"]["signature-agent"].replace("bot.", "bad.")}
    forged = {**sent[0], "headers": {**sent[0]["headers"], **other_agent}}
    job = {"jwk": Key.read(str(owner.file)).jwk, "requests": [*sent, elsewhere, forged]}
    command = ["node", str(Path(__file__).with_name("verify.cjs"))]
    env = {**os.environ, "NODE_PATH": str(NODE_MODULES)}
    done = subprocess.run(command, input=json.dumps(job), env=env, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[:-2] == [["accepted", "accepted"]] * 42
    assert all("accepted" not in answer for answer in answers[-2:])


def signature_of(arrival: Arrival) -> dict[str, str]:
    return {name: value for name, value in arrival.headers.items() if name in HEADERS}
