"""Requests of the read API."""

from __future__ import annotations

import json
import time
from datetime import datetime
from email.message import Message
from typing import Any, Mapping, Optional
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .questions import Questions
from .rows import Rows

#: How often a refusal for now (429, 503) is waited for, and for how long at least and at most, seconds.
_TRIES, _SHORTEST, _LONGEST = 4, 1.0, 60.0


class ReadApiError(Exception):
    """A response without rows.

    ``status`` is its HTTP status, ``problem`` the name of the problem, such as ``name-not-found``, or None, ``argument`` what is
    wrong, ``similar`` names that are like an unknown one, ``holders`` all that have or had an ambiguous name.
    """

    def __init__(self, status: int, body: Any) -> None:
        told = body if isinstance(body, dict) else {}
        super().__init__(told.get("detail") or told.get("title") or f"the read API answered {status}")
        self.status = status
        kind = told.get("type")
        self.problem: Optional[str] = kind.rpartition("#")[2] if isinstance(kind, str) else None
        self.argument: Optional[str] = told.get("argument")
        self.similar: "list[str]" = told.get("similar") or []
        self.holders: "list[dict[str, Any]]" = told.get("holders") or []


def connect(url: str, key: Optional[str] = None, timeout: float = 30.0) -> Questions:
    """A client with a method for every question.

    ``url`` is of a server that ``wynnsync serve`` started, such as ``http://127.0.0.1:8080``; ``key`` is one of ``wynnsync web-key add``.
    A request is given up after ``timeout`` seconds. What is refused for now is asked again, after as long as the server says, at most
    four times. Raises ValueError when the URL cannot be read, ReadApiError when there are no rows in a response, and OSError when
    there is no response.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"no http:// or https:// URL: {url}")
    base = urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + "/api/v1/", "", ""))
    headers = {"Accept": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}

    def ask(name: str, given: Mapping[str, Any], columns: "list[str]", instants: "set[str]") -> Rows[Any]:
        def page(cursor: Optional[str]) -> "tuple[list[Any], Optional[str]]":
            query = _query({**given, "cursor": cursor})
            body = _answer(f"{base}{name}?{query}" if query else base + name, headers, timeout)
            following = body["next"]
            return body["rows"], parse_qs(urlsplit(following).query)["cursor"][0] if following else None

        return Rows(page, columns, instants)

    return Questions(ask)


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would take the key to another host."""

    def redirect_request(self, *_args: Any, **_named: Any) -> None:
        return None


_opener = build_opener(_NoRedirect)


def _answer(address: str, headers: Mapping[str, str], timeout: float) -> "dict[str, Any]":
    for left in reversed(range(_TRIES)):
        try:
            with _opener.open(Request(address, headers=dict(headers)), timeout=timeout) as response:
                status, body = response.status, _parsed(response.read())
        except HTTPError as refusal:
            with refusal:
                status, body = refusal.code, _parsed(refusal.read())
            if status in (429, 503) and left > 0:
                time.sleep(_wait(refusal.headers))
                continue
        if status == 200 and isinstance(body, dict) and isinstance(body.get("rows"), list) and "next" in body:
            return body
        raise ReadApiError(status, body)
    raise AssertionError("the last try answers or raises")


def _wait(headers: Message) -> float:
    try:
        told = float(headers.get("Retry-After", ""))
    except ValueError:
        told = 0.0
    return min(_LONGEST, max(_SHORTEST, told))


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _query(given: Mapping[str, Any]) -> str:
    pairs = [
        (name, _text(one))
        for name, value in given.items()
        if value is not None
        for one in (value if isinstance(value, (list, tuple)) else [value])
    ]
    return urlencode(pairs)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"an instant needs a time zone: {value!r}")
        return value.isoformat()
    return str(value)
