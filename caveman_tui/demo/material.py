"""What the scripted agent reads: files, listings, logs and rows of a made-up shop, the same on every run."""

import hashlib

_NOUNS = ("order", "basket", "refund", "invoice", "voucher", "parcel", "customer", "tariff", "ledger", "receipt", "payout", "stock")
_VERBS = ("load", "check", "round", "merge", "split", "apply", "store", "match", "quote", "settle", "cancel", "export")


def _pick(words: tuple[str, ...], *seed: object) -> str:
    return words[hashlib.sha256(repr(seed).encode()).digest()[0] % len(words)]


def _number(limit: int, *seed: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:4], "big") % limit


def source_file(name: str, functions: int = 8) -> str:
    """A Python module with line numbers, as a read tool shows it."""
    lines = [
        f'"""{name}: {_pick(_NOUNS, name)} handling of the shop."""',
        "",
        "from decimal import Decimal",
        "",
        "CENT = Decimal('0.01')",
        "",
    ]
    for index in range(functions):
        verb, noun = _pick(_VERBS, name, index), _pick(_NOUNS, index, name)
        lines += [
            "",
            f"def {verb}_{noun}_{index}(lines: list[Line], rate: Decimal) -> Decimal:",
            f'    """{verb.capitalize()} each {noun} line at `rate`; empty lines count as zero."""',
            "    total = Decimal(0)",
            "    for line in lines:",
            f"        if line.kind == '{noun}' and line.amount > {_number(900, name, index)}:",
            "            total += (line.amount * rate).quantize(CENT)",
            f"    return total  # {noun}",
        ]
    return "\n".join(f"{number:>5}|{line}" for number, line in enumerate(lines, 1))


def listing(folder: str, files: int = 30) -> str:
    """Paths below `folder`."""
    return "\n".join(f"{folder}/{_pick(_NOUNS, folder, n)}_{_pick(_VERBS, n, folder)}_{n:02}.py" for n in range(files))


def matches(word: str, count: int = 25) -> str:
    """Lines of a search result."""
    return "\n".join(
        f"src/{_pick(_NOUNS, word, n)}.py:{_number(400, word, n) + 1}:    {word} = {_pick(_VERBS, n, word)}({_pick(_NOUNS, n, n)}, rate)"
        for n in range(count)
    )


def test_run(passed: int, failed: tuple[str, ...] = ()) -> str:
    """The output of a test runner."""
    head = [f"tests/test_{_pick(_NOUNS, n)}.py {'.' * (_number(12, n) + 4)}" for n in range(passed // 12)]
    trouble = [f"FAILED {name} - AssertionError: assert Decimal('19.99') == Decimal('20.00')" for name in failed]
    return "\n".join([*head, *trouble, f"{len(failed)} failed, {passed} passed in {passed / 97:.2f}s"])


def log_lines(service: str, count: int = 40) -> str:
    """Lines of a service's log."""
    levels = ("INFO", "INFO", "INFO", "WARN", "ERROR")
    return "\n".join(
        f"2026-03-02T09:{n // 4 % 60:02}:{n * 7 % 60:02}Z {_pick(levels, service, n)} {service} "
        f"{_pick(_VERBS, n)} {_pick(_NOUNS, n, service)} id={_number(99_999, service, n)} took={_number(900, n)}ms"
        for n in range(count)
    )


def rows(table: str, count: int = 20) -> str:
    """Rows of a query as JSON lines."""
    return "\n".join(
        f'{{"id":{_number(99_999, table, n)},"{_pick(_NOUNS, table)}":"{_pick(_NOUNS, n, table)}-{n}",'
        f'"amount":"{_number(9_999, n, table) / 100:.2f}"}}'
        for n in range(count)
    )


INSTRUCTIONS = """\
You work in the repository of a small web shop, together with the person at the keyboard. They see your text and the names of the tools \
you call, not what the tools return.

# How to work
Read before you write. Look at the module, its tests and one caller before you change a function; most surprises in this code base come \
from callers that rely on rounding in a certain place. Money is Decimal everywhere and is rounded to cents once, at the end of a \
calculation, half up. A function that rounds in between is a fault even where its tests pass.
Make the smallest change that solves the problem. Leave formatting, names and imports of untouched code alone. When you find a second \
problem, say so and go on with the first.
Run the tests that cover the change, then the whole suite once. Never mark work as finished while a test fails, and never change a test \
to make it pass unless the person agreed that the test is wrong.

# The repository
- src/ holds the shop: one module for each kind of document (order, basket, refund, invoice, voucher), and pricing.py that all of them use.
- tests/ mirrors src/. Fixtures live in tests/fixtures and are generated: edit tools/make_fixtures.py instead.
- migrations/ is append-only. A migration that was merged is never edited; write a new one.
- deploy/ is owned by another team. Read it, don't change it.
- docs/decisions holds one page for every decision. If your change contradicts one, stop and ask.

# Commands
Run the suite with `make test`, one file with `make test FILE=tests/test_pricing.py`, the linter with `make lint`. `make test` takes about \
40 seconds. The database for tests starts by itself. Nothing in this list needs network access; a command that asks for it is the wrong one.

# Git
Work on the branch that is checked out. Commit only when asked to. The first line of a message has at most 60 characters and says what is \
different now; the body says why. Never rewrite history that was pushed, never skip hooks.

# Talking to the person
Lead with the result. One or two sentences are enough between steps. Refer to code as path:line. If something could not be checked, say \
which part and why. Don't praise, don't apologise, don't repeat the question.

# Safety
Don't print secrets, also not when they are in a file that you were asked to read. Don't send anything to a host that the person did not \
name. Ask before a step that can't be undone: dropping data, deleting branches, sending messages to people, starting a deployment.
"""
"""The part of the system prompt that a session has for itself."""

IDENTITY = "You are a coding agent. You help the person at this terminal with software engineering, using the tools that you were given."
"""The part that all sessions share."""

REMINDER = """\
<reminder>
Today is 2026-03-02. The working directory is /home/dana/shop, a git repository on branch fix/cent, platform linux. Files changed since \
the last session: src/pricing.py, tests/test_pricing.py. The person's notes: prefer small commits; the finance export runs at 18:00.
</reminder>"""
"""The block that stands before the first prompt."""
