"""The demo's plot: three conversations and what surrounds them."""

from caveman_tui.demo import material
from caveman_tui.demo.catalogs import coding_tools, mcp_tools
from caveman_tui.demo.plot import Conversation, Mishap, Step, Turn, call, step
from caveman_tui.demo.provider import Answer, Reply, Text, Thinking, ToolUse, say


def answers(conversations: tuple[Conversation, ...]) -> dict[str, Answer | tuple[Answer, ...]]:
    """The provider's part of `conversations`."""
    return {name: step.answers() for conversation in conversations for name, step in conversation.steps()} | SIDE_ANSWERS


SIDE_ANSWERS: dict[str, Answer | tuple[Answer, ...]] = {
    "title": say('{"title": "Cent difference at checkout"}'),
    "chat": Reply((Text("I look the runs up."), ToolUse("mcp__ci__list_runs", {"repository": "dana/shop", "state": "failed"}))),
}
"""Answers to requests outside the conversations."""


def _investigation() -> tuple[Step, ...]:
    """Twenty-five steps of reading, searching, changing and testing, and the answer."""
    steps = [
        step(
            Thinking("A cent is lost somewhere between basket and invoice. I look at the layout first, then at who rounds."),
            Text("I start with the layout and with everything that rounds."),
            call("Find", glob="src/**/*.py"),
            call("Grep", pattern=r"quantize\(", show="lines"),
            results=(material.listing("src", 40), material.matches("total", 30)),
        ),
    ]
    modules = ("pricing", "basket", "order", "invoice", "refund", "voucher", "tariff", "ledger", "receipt", "payout")
    for number, module in enumerate(modules):
        path = f"/home/dana/shop/src/{module}.py"
        if number % 3 == 0:
            test = f"/home/dana/shop/tests/test_{module}.py"
            steps.append(
                step(
                    Thinking(f"{module}.py and its tests belong together, so I read both at once."),
                    call("Read", path=path),
                    call("Read", path=test),
                    results=(material.source_file(module, 9), material.source_file(f"test_{module}", 6)),
                )
            )
        else:
            steps.append(step(Text(f"Next: {module}."), call("Read", path=path), results=(material.source_file(module, 8),), seconds=6))
        steps.append(
            step(
                call("Grep", pattern=f"{module}_total", show="lines", around=2),
                results=(material.matches(f"{module}_total", 18),),
                seconds=5,
            )
        )
    failing = ("tests/test_pricing.py::test_three_lines_at_one_third", "tests/test_invoice.py::test_sum_of_parts")
    steps += [
        step(
            Thinking("Two places round per line: pricing and voucher. The sum is then rounded again, which loses the cent."),
            Text("Found it: pricing rounds each line, and the invoice rounds the sum again."),
            call("Shell", command="make test FILE=tests/test_pricing.py"),
            results=(material.test_run(48, failing),),
            seconds=45,
        ),
        step(
            call(
                "Edit",
                path="/home/dana/shop/src/pricing.py",
                find="(line.amount * rate).quantize(CENT)",
                put="line.amount * rate",
                every=True,
            ),
            call(
                "Edit",
                path="/home/dana/shop/src/voucher.py",
                find="(line.amount * rate).quantize(CENT)",
                put="line.amount * rate",
                every=True,
            ),
            results=(material.source_file("pricing", 2), "error: stale: /home/dana/shop/src/voucher.py was not read since it changed"),
        ),
        step(call("Read", path="/home/dana/shop/src/voucher.py"), results=(material.source_file("voucher", 8),)),
        step(Text("The whole suite once."), call("Shell", command="make test", seconds=300), results=(material.test_run(412),), seconds=70),
        step(
            Text(
                "The cent was lost because src/pricing.py rounded each line and src/invoice.py the sum once more. Now only the sum is; "
                "412 tests pass."
            )
        ),
    ]
    return tuple(steps)


_SHOP = "7c9e3f60-1d52-4b7e-9f3a-52c0a4d81e11"
_NIGHTLY = "0b6f8a34-77c1-4f0e-8c55-e3b9d20f6a02"
_OFFICE = "e41d7b92-3a08-46cd-b1f6-90ad5c7e2f33"


def _scout() -> Conversation:
    """A sub-agent with markers of five minutes."""
    return Conversation(
        name="scout",
        session=_SHOP,
        model="claude-sonnet-5",
        tools=[tool for tool in coding_tools() if tool["name"] in ("Read", "View", "Grep", "Find", "Shell")],
        agent="agent-a1b2c3d4",
        parent_agent="main",
        ttl="5m",
        turns=(
            Turn(
                "List every caller of pricing.total outside src/, with path and line. Only read. Report as a list.",
                (
                    step(call("Grep", pattern="pricing.total", show="lines"), results=(material.matches("pricing.total", 40),), seconds=4),
                    step(
                        call("Read", path="/home/dana/shop/tools/export.py"),
                        call("Read", path="/home/dana/shop/tools/report.py"),
                        results=(material.source_file("export", 10), material.source_file("report", 7)),
                        seconds=4,
                    ),
                    step(
                        call("Grep", pattern="from src import pricing", below="tools"),
                        results=(material.matches("pricing", 12),),
                        seconds=4,
                    ),
                    step(Text("- tools/export.py:31\n- tools/report.py:12\nBoth round the result themselves.")),
                ),
            ),
        ),
    )


def shop_fix() -> Conversation:
    """A person at the keyboard: a loop of 25 steps, ten minutes away, a helper, Esc, and on."""
    return Conversation(
        name="shop",
        session=_SHOP,
        model="claude-opus-4-8",
        tools=coding_tools(),
        counts_tokens=12,
        turns=(
            Turn("Customers report that the invoice is a cent off with three equal items. Find out why and fix it.", _investigation()),
            Turn(
                "Good. Do other tools outside src rely on the old rounding?",
                (
                    step(
                        Thinking("That is a search of its own. A scout keeps its reading out of this conversation."),
                        call(
                            "Delegate", title="Callers outside src", task="List every caller of pricing.total outside src/.", kind="scout"
                        ),
                        results=("- tools/export.py:31\n- tools/report.py:12\nBoth round the result themselves.",),
                        helper=_scout(),
                    ),
                    step(call("Read", path="/home/dana/shop/tools/export.py"), results=(material.source_file("export", 10),)),
                    step(Text("Two do: tools/export.py:31 and tools/report.py:12. Both round themselves, so nothing changes for them.")),
                ),
                pause=600,
            ),
            Turn(
                "Write me a long explanation of banker's rounding",
                (step(Text("Rounding half to even " * 30), mishap=Mishap.CANCELLED, seconds=3),),
                pause=40,
            ),
            Turn(
                "Never mind. Add a test for the export instead.",
                (
                    step(
                        Text("A test beside the others."),
                        call("Write", path="/home/dana/shop/tests/test_export.py", content=material.source_file("test_export", 3)),
                        results=("written, 41 lines",),
                        mishap=Mishap.CUT,
                    ),
                    step(call("Shell", command="make test FILE=tests/test_export.py"), results=(material.test_run(6),), seconds=12),
                    step(Text("tests/test_export.py has six tests, all pass.")),
                ),
                pause=75,
            ),
        ),
    )


def nightly_update() -> Conversation:
    """A headless run: nobody comes back to it."""
    packages = ("decimal-money", "web-framework", "sql-layer", "mailer", "pdf-writer", "job-queue", "image-tools", "address-book")
    steps = [step(call("Shell", command="make outdated"), results=(material.rows("outdated", 25),), seconds=5)]
    for number, package in enumerate(packages):
        steps.append(
            step(
                Text(f"{package}: changelog and callers."),
                call("WebPage", address=f"https://packages.example/{package}/changes"),
                call("Grep", pattern=package, show="lines"),
                results=(material.log_lines(package, 30), material.matches(package, 20)),
                mishap=Mishap.OVERLOADED if number == 2 else Mishap.NONE,
            )
        )
        steps.append(
            step(call("Shell", command=f"make update PACKAGE={package} && make test"), results=(material.test_run(412),), seconds=80)
        )
    steps.append(step(Text("Eight packages updated, the suite passes after each.")))
    return Conversation(
        name="nightly",
        session=_NIGHTLY,
        model="claude-sonnet-5",
        tools=coding_tools(),
        headless=True,
        starts_at=30,
        turns=(Turn("Update outdated dependencies one by one, run the suite after each, and summarise.", tuple(steps)),),
    )


def office_day() -> Conversation:
    """A person with eight MCP servers connected."""
    return Conversation(
        name="office",
        session=_OFFICE,
        model="claude-opus-4-8",
        tools=[*coding_tools(), *mcp_tools()],
        starts_at=900,
        turns=(
            Turn(
                "Checkout errors went up this morning. What happened?",
                (
                    step(
                        Thinking("Metrics, alerts and the last deployments don't depend on each other."),
                        Text("I look at metrics, alerts and pipelines together."),
                        call("mcp__metrics__query_metric", expression='sum(rate(http_requests{code=~"5.."}[5m]))', start=-14400),
                        call("mcp__metrics__list_alerts", state="firing"),
                        call("mcp__ci__list_runs", repository="dana/shop", pipeline="deploy.yml"),
                        results=(material.rows("series", 60), material.rows("alerts", 6), material.rows("runs", 15)),
                    ),
                    step(
                        call("mcp__ci__get_job_log", repository="dana/shop", job=88121, grep="error"),
                        results=(material.log_lines("deploy", 60),),
                    ),
                    step(
                        call("mcp__database__current_environment"),
                        call("mcp__database__slow_queries", hours=4),
                        results=('{"environment":"production","user":"reader"}', material.rows("slow", 20)),
                    ),
                    step(
                        Thinking("The migration added a column without an index."),
                        call("mcp__database__query", sql="explain select * from orders where voucher_id = $1", params=["v-17"]),
                        call("mcp__chat__search_messages", query="voucher_id in:#deployments after:2026-03-01"),
                        results=(material.rows("plan", 12), material.log_lines("chat", 20)),
                    ),
                    step(Text("The deployment at 08:12 added orders.voucher_id without an index; checkout scans the table and times out.")),
                ),
            ),
            Turn(
                "Open an incident and find half an hour with Maria today.",
                (
                    step(
                        call("mcp__tracker__search_issues", query="project = PAY AND voucher_id"),
                        call("mcp__calendar__find_time", attendees=["dana@shop.example", "maria@shop.example"], duration_minutes=30),
                        results=(material.rows("issues", 8), material.rows("slots", 5)),
                    ),
                    step(
                        call(
                            "mcp__tracker__create_issue",
                            project="PAY",
                            type="incident",
                            title="Checkout slow: orders.voucher_id has no index",
                            severity="sev2",
                        ),
                        call(
                            "mcp__calendar__create_event",
                            title="voucher_id index",
                            start="2026-03-02T14:00:00+01:00",
                            end="2026-03-02T14:30:00+01:00",
                        ),
                        results=('{"key":"PAY-2210"}', '{"id":"evt_77"}'),
                    ),
                    step(
                        call("mcp__chat__send_message", channel="#deployments", text="PAY-2210: cause found, index follows."),
                        results=('{"ok":true}',),
                    ),
                    step(Text("PAY-2210 is open, Maria is invited for 14:00, #deployments knows.")),
                ),
                pause=130,
            ),
            Turn("Do other tables have the same problem? Check what was migrated this quarter.", _table_survey(), pause=200),
        ),
    )


def _table_survey() -> tuple[Step, ...]:
    """A loop over tables, two calls a step."""
    surveyed = [
        step(
            Text(f"{table}: columns, indexes and what it is asked for."),
            call("mcp__database__describe_table", table=table),
            call("mcp__database__query", sql="select * from pg_stat_user_indexes where relname = $1", params=[table], max_rows=50),
            results=(material.rows(table, 30), material.rows(f"{table} indexes", 30)),
        )
        for table in ("orders", "refunds", "vouchers", "parcels", "invoices", "payouts", "customers")
    ]
    return (
        step(
            Thinking("The migrations of the quarter name the tables; each is then looked at by itself."),
            call("Find", glob="migrations/2026*/**.sql"),
            call("mcp__database__list_tables", schema="public"),
            results=(material.listing("migrations/2026", 30), material.rows("tables", 40)),
        ),
        *surveyed,
        step(Text("refunds and parcels have one each: refunds.voucher_id and parcels.order_id. Both are small today.")),
    )


def conversations() -> tuple[Conversation, ...]:
    """All three."""
    return (shop_fix(), nightly_update(), office_day())
