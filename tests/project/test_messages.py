"""The list of messages, which people read from top to bottom, and words that no message may have."""

from __future__ import annotations

import re

import pytest

from tests.support.messages import Message, messages

MESSAGES = [*messages()]
NOT_OURS = re.compile(r"\b(?:of its own|at all|in turn|octets?|behaviour|licences?)\b")  # as STYLE says


@pytest.mark.parametrize(
    "text",
    [
        "Forbidden by %(who)s: %(request)s (%(why)s)",  # a constant that is logged
        "unknown setting {}: {}",  # an exception
        "one URL per line; - is standard input (default)",  # the help of an argument
        "asks to slow down",  # a choice within a message
    ],
)
def test_the_list_has_messages_of_each_kind(text: str) -> None:
    assert text in {message.text for message in MESSAGES}


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: f"{message.file.name}:{message.line}")
def test_no_message_has_a_word_that_reads_as_translated(message: Message) -> None:
    assert not NOT_OURS.search(message.text)
