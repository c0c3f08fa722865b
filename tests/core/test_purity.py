import subprocess
import sys

from caveman_tui.core.reasons import REASONS, reason

_IMPORT_ALL = """
import importlib, pkgutil, sys
import caveman_tui.core
names = [module.name for module in pkgutil.walk_packages(caveman_tui.core.__path__, "caveman_tui.core.")]
for name in names:
    importlib.import_module(name)
print(len(names))
print(*sorted({"textual", "rich", "aiohttp", "httpx", "sqlite3", "click", "asyncio"} & set(sys.modules)))
"""


def test_the_core_brings_along_neither_screen_nor_network_nor_store() -> None:
    done = subprocess.run([sys.executable, "-c", _IMPORT_ALL], capture_output=True, text=True, check=True)
    count, loaded = done.stdout.split("\n")[:2]
    assert int(count) >= 10
    assert loaded == ""


def test_reason_texts_are_sentences() -> None:
    for code, sentence in REASONS.items():
        assert code == code.lower() and " " not in code
        assert sentence.endswith(".") and "\n" not in sentence
        assert reason(code).text == sentence
