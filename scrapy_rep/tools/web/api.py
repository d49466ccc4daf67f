"""What programs get: the answer as JSON, the findings as SARIF, the verdicts as CSV; and a description of that.

The description is in the words of OpenAPI 3.1, with the limits of this server.
"""

from __future__ import annotations

import io
import json
from itertools import chain
from typing import Any, Final

from scrapy_rep.protocol import DIALECTS, Access
from scrapy_rep.protocol.display import shown
from scrapy_rep.tools.files import write_csv
from scrapy_rep.tools.lint import CODES, Severity
from scrapy_rep.tools.lint.config import Config
from scrapy_rep.tools.lint.sarif import sarif_document, sarif_results
from scrapy_rep.tools.profiles import GROUPS
from scrapy_rep.tools.resources import RENDERER, Kind

from .annotated import found_in, linted_file, summary
from .page import COMPARING_TIME
from .question import CATEGORIES, Question
from .verdicts import compare, judge
from .visitors import Limits

_Schema = dict[str, Any]

_TEXT: Final[_Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[_Schema] = {"type": ["string", "null"]}
_NUMBER: Final[_Schema] = {"type": "integer", "minimum": 0}
_TRUTH: Final[_Schema] = {"type": "boolean"}


def _list(items: _Schema, **more: Any) -> _Schema:
    return {"type": "array", "items": items, **more}


def _object(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": list(properties)}


_MATCH: Final = _object(line=_NUMBER, rule=_TEXT, length=_NUMBER)
_DIFFERENCE: Final = _object(url=_TEXT, agent=_TEXT, allowed=_TRUTH, line=_NUMBER, rule=_TEXT)
_VERDICT: Final = _object(
    url=_TEXT,
    agent=_TEXT,
    allowed=_TRUTH,
    line={**_NUMBER, "description": "the line that decided; 0 if none did"},
    rule=_TEXT,
    reason=_TEXT,
    matches={
        "anyOf": [_list(_MATCH), {"type": "null"}],
        "description": "rules that match, the strongest first; null where listing them would take too long",
    },
    is_elsewhere={**_TRUTH, "description": "the URL is of another origin than the robots.txt"},
)
_FINDING: Final = _object(
    line={**_NUMBER, "description": "0 is the whole file"},
    column={**_NUMBER, "description": "in characters; 0 is the whole line"},
    severity={**_TEXT, "enum": [severity.value for severity in Severity]},
    code={**_TEXT, "enum": list(CODES)},
    message=_TEXT,
    advice=_TEXT,
    consequences={
        **_list(_object(code={**_TEXT, "enum": list(CODES)}, line=_NUMBER, message=_TEXT)),
        "description": "what follows from it, and is gone once it is repaired",
    },
    edits={
        **_list(_object(start=_NUMBER, end=_NUMBER, text=_TEXT)),
        "description": "put text in place of the octets from start to end, to follow the advice",
    },
)
_AGENT: Final = _object(
    agent=_TEXT,
    about={**_TEXT, "description": "who sends it, and what for; empty for a crawler that is not known"},
    profile={**_TEXT, "description": "how it reads the file, if not as RFC 9309 says, in a sentence; else empty"},
    group={**_TEXT, "enum": list(GROUPS), "description": "the group that the crawler follows"},
    crawl_delay={"type": ["number", "null"], "description": "seconds"},
    ai=_list(_object(answers={"type": "object", "additionalProperties": _TEXT}, urls=_list(_TEXT))),
    licenses=_list(_TEXT),
)
_DIALECT_GROUP: Final = _object(
    dialects=_list(_TEXT), is_asked=_TRUTH, differences=_list(_DIFFERENCE), count=_NUMBER
)
_RESOURCE: Final = _object(
    url=_TEXT,
    kind={**_TEXT, "enum": [kind.value for kind in Kind]},
    allowed={"type": ["boolean", "null"], "description": "null: its robots.txt is not known"},
    line={"type": ["integer", "null"], "description": "the line that decided; null if none did"},
    rule=_TEXT_OR_NULL,
    reason=_TEXT,
    problem={**_TEXT_OR_NULL, "description": "why the robots.txt is not known"},
)
REPORT: Final = _object(
    agent=_TEXT,
    summary={**_TEXT, "description": "the answer in a few sentences"},
    is_complete={**_TRUTH, "description": "whether everything that the page loads has an answer"},
    pages=_list(_RESOURCE, description="the page, and before it those that redirect to it"),
    resources=_list(_RESOURCE, description="closed ones first"),
)
"""The answer of ``/api/resources``."""

ANSWER: Final = _object(
    summary={
        **_list(_TEXT),
        "description": "sentences: who is shut out of what, what is wrong, what to do first",
    },
    access={**_TEXT, "enum": [access.value for access in Access]},
    verdicts=_list(_VERDICT),
    agents=_list(_AGENT),
    sitemaps=_list(_TEXT),
    findings=_list(_FINDING),
    dialects=_object(groups=_list(_DIALECT_GROUP), left_out=_list(_TEXT)),
)
"""The answer of ``/api/check``."""

_ERROR: Final = _object(error=_TEXT)
_FAILURES: Final = {
    "400": "the question cannot be answered as it is",
    "403": "a page of another site sent the request",
    "408": "the request did not arrive in time",
    "413": "the request is too large",
    "429": "too many questions at once, or a host was asked a moment ago",
    "503": "no process is free",
}


def facts(question: Question) -> str:
    """All parts of the answer as JSON."""
    found, answer = found_in(question), judge(question)
    facts = {
        "summary": summary(question, found),
        **answer.as_facts(),
        "findings": [here.as_facts() for here in found],
        "dialects": compare(question, COMPARING_TIME).as_facts(),
    }
    return json.dumps(facts, indent=1)


def sarif(question: Question) -> str:
    """The findings as one SARIF 2.1.0 document."""
    return json.dumps(sarif_document(sarif_results(linted_file(question)), Config()), indent=1)


def verdicts_csv(question: Question) -> str:
    """The table of verdicts, a line each."""
    out = io.StringIO()
    rows = (
        (shown(one.url), one.agent, str(one.allowed).lower(), one.line, shown(one.rule), one.reason)
        for one in judge(question).verdicts
    )
    write_csv(chain([["url", "agent", "allowed", "line", "rule", "reason"]], rows), out)
    return out.getvalue()


def description(limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI document of a server with these *limits*."""
    question = {
        **_object(robots={**_TEXT, "description": "the text of the robots.txt"}),
        "additionalProperties": False,
    }
    question["properties"] = {
        **question["properties"],
        "urls": _list({**_TEXT, "maxLength": limits.url_characters}, maxItems=limits.urls, default=["/"]),
        "agents": {
            **_list({**_TEXT, "maxLength": limits.agent_characters}, maxItems=limits.agents, default=["*"]),
            "description": "product tokens or User-Agent headers; * is every crawler that no group names",
        },
        "categories": {
            **_list({**_TEXT, "enum": list(CATEGORIES)}),
            "description": f"all crawlers that have this in common: {', '.join(CATEGORIES)}",
        },
        "dialect": {**_TEXT, "enum": list(DIALECTS), "default": next(iter(DIALECTS))},
    }
    page = _object(url={**_TEXT, "description": "a page", "maxLength": limits.url_characters})
    page["properties"]["agent"] = {
        **_TEXT,
        "description": "a product token or User-Agent header of a crawler that renders pages",
        "default": RENDERER,
    }
    site = _object(site={**_TEXT, "description": "a host, or any URL of it"})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "robots.txt checker",
            "version": "1",
            "description": "Checks a robots.txt: sentences, verdicts, findings and dialects. Nothing is stored.",
        },
        "servers": [{"url": "../"}],
        "paths": {
            "/api/check": {"post": _check(question)},
            "/api/fetch": {"post": _fetch(site)},
            "/api/resources": {"post": _resources(page)},
        },
    }


def _check(question: _Schema) -> dict[str, Any]:
    return {
        "summary": "Check a robots.txt",
        "description": "A summary, verdicts, findings and other dialects, all at once.",
        "operationId": "check",
        "parameters": [
            {
                "name": "format",
                "in": "query",
                "description": "json: all; sarif: the findings; csv: the verdicts",
                "schema": {**_TEXT, "enum": ["json", "sarif", "csv"], "default": "json"},
            }
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": question}}},
        "responses": {
            "200": _response(
                "the answer", {"application/json": ANSWER, "application/sarif+json": {}, "text/csv": {}}
            ),
            **_failures(),
        },
    }


def _fetch(site: _Schema) -> dict[str, Any]:
    return {
        "summary": "Fetch the robots.txt of a site, once",
        "description": "A line for each step as it happens; the last one has the result, or the error.",
        "operationId": "fetch",
        "requestBody": {"required": True, "content": {"application/json": {"schema": site}}},
        "responses": {
            "200": _response("the steps", {"application/x-ndjson": _TEXT}),
            **_failures(),
            "422": _response("the site cannot be asked", {"application/json": _ERROR}),
        },
    }


def _resources(page: _Schema) -> dict[str, Any]:
    return {
        "summary": "Check the resources of a page",
        "description": "Fetches the page, and the robots.txt of each host that it loads from.",
        "operationId": "resources",
        "requestBody": {"required": True, "content": {"application/json": {"schema": page}}},
        "responses": {
            "200": _response("the answer", {"application/json": REPORT}),
            **_failures(),
            "422": _response("the page cannot be asked for", {"application/json": _ERROR}),
        },
    }


def _failures() -> dict[str, Any]:
    return {status: _response(what, {"application/json": _ERROR}) for status, what in _FAILURES.items()}


def _response(what: str, content: dict[str, _Schema]) -> dict[str, Any]:
    return {"description": what, "content": {kind: {"schema": schema} for kind, schema in content.items()}}
