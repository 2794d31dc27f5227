import ast
from pathlib import Path

import pytest

import server.rules

MODULES = sorted(Path(server.rules.__path__[0]).glob("*.py"))
# Nothing that reads a file, a clock, the network, the environment or a random number.
ALLOWED = {
    *("collections", "dataclasses", "enum", "hashlib", "hmac", "itertools"),
    *("operator", "re", "types", "typing"),
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_the_rules_import_only_themselves_and_pure_parts_of_the_library(module: Path) -> None:
    names = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module or "")
    for name in names:
        assert name.startswith("server.rules") or name.split(".")[0] in ALLOWED, name
    assert not {"open", "print", "input"} & {
        node.func.id
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_is_not_longer_than_one_reads_at_a_sitting(module: Path) -> None:
    assert len(module.read_text("utf-8").splitlines()) <= 400
