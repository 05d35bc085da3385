"""Writes `docs/reference.md` from the docstrings of the package and from the types of the native module."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "jeton"
NATIVE = "_jeton.pyi"

#: The sections of the page: their names, and the public names with the file that defines them.
SECTIONS: list[tuple[str, list[tuple[str, str]]]] = [
    ("Keys", [("_keys.py", "Key"), ("_keys.py", "KeySet")]),
    ("Remote keys", [("_remote.py", "RemoteKeySet"), ("_fetch.py", "FetchRequest"), ("_fetch.py", "FetchResponse")]),
    ("Issuing", [("_issuer.py", "Issuer"), (NATIVE, "Prepared")]),
    (
        "Verifying",
        [
            ("_verifier.py", "Verifier"),
            ("_verifier.py", "Verified"),
            ("_multi_issuer.py", "MultiIssuerVerifier"),
            ("_unverified.py", "read_unverified"),
            ("_unverified.py", "UnverifiedToken"),
        ],
    ),
    ("jeton.fastapi", [("fastapi.py", "Bearer")]),
    (
        "jeton.starlette",
        [("starlette.py", name) for name in ("BearerMiddleware", "bearer_token", "has_scopes", "InvalidAuthorization")],
    ),
    ("Tests", [("_clock.py", "FixedClock"), ("testing.py", "TestIssuer")]),
]

HEAD = """# API reference

`JETON_WRITE=1 cargo xtask sdk python` writes this page from the docstrings. The [README](../README.md) explains the
interface with examples.

"""

ERRORS = """## Exceptions

Every exception has a `code`. `jeton.CODES` is a dict that explains each code.

| class | base | meaning |
|---|---|---|
"""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """Returns the text of the page."""
    parts = [HEAD]
    for title, items in SECTIONS:
        parts.append(f"## {title}\n\n")
        parts.extend(_item(_find(file, name), file) for file, name in items)
    parts.append(ERRORS)
    parts.extend(_error(node) for node in _tree("_errors.py").body if isinstance(node, ast.ClassDef))
    return "".join(parts)


def _tree(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(), file)


def _find(file: str, name: str) -> Definition:
    return next(node for node in _tree(file).body if isinstance(node, Definition) and node.name == name)


def _item(node: Definition, file: str) -> str:
    if not isinstance(node, ast.ClassDef):
        return f"### `{node.name}`\n\n{_code([_signature(node)])}{_doc(node)}"
    text = f"### `{node.name}`\n\n"
    members = dict(_members(node))
    create = members.pop("__new__", None) or members.pop("__init__", None)
    if create is not None and file != NATIVE:
        text += _code([_signature(create[-1], node.name)])
    fields = "".join(_fields(node, file))
    text += _doc(node) + (f"{fields}\n" if fields else "")
    for name, ways in members.items():
        # The last one has the docstring; those before it are the overloads.
        signatures = [_signature(way) for way in ways[:-1] or ways]
        text += f"#### `{node.name}.{name}`\n\n{_code(signatures)}{_doc(ways[-1])}"
    return text


def _members(node: ast.ClassDef) -> Iterator[tuple[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]]:
    """Yields the public members of a class and of its native base class, with their overloads."""
    found: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
    for member in node.body:
        if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
            if not member.name.startswith("_") or member.name in ("__new__", "__init__"):
                found.setdefault(member.name, []).append(member)
    for base in node.bases:
        native = _native(base)
        for name, ways in _members(native) if native is not None else ():
            if name != "__new__":
                found.setdefault(name, ways)
    yield from found.items()


def _native(base: ast.expr) -> ast.ClassDef | None:
    name = ast.unparse(base).removeprefix("_jeton.")
    for node in _tree(NATIVE).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    return None


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, created: str | None = None) -> str:
    """Returns the text of a signature, without `self` and `cls`. `created` is the class of a constructor."""
    arguments = node.args
    named = arguments.posonlyargs or arguments.args
    is_static = any(ast.unparse(one) == "staticmethod" for one in node.decorator_list)
    if named and named[0].arg in ("self", "cls") and not is_static:
        del named[0]
    text = re.sub(r"(?<=[\w\])])=(?=\S)", " = ", ast.unparse(arguments).removeprefix("/, "))
    if any(ast.unparse(one) == "property" for one in node.decorator_list):
        return f"{node.name}: {ast.unparse(node.returns) if node.returns else 'Any'}"
    if created is not None:
        return f"{created}({text})"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({text}){returned}"


def _code(lines: list[str]) -> str:
    wrapped = (line if len(line) <= 100 else _one_argument_a_line(line) for line in lines)
    return "```py\n" + "\n".join(wrapped) + "\n```\n\n"


def _one_argument_a_line(line: str) -> str:
    begin, rest = line.split("(", 1)
    inner, end = rest.rsplit(")", 1)
    # A comma inside brackets does not separate arguments.
    arguments = re.split(r", (?![^\[]*\])", inner)
    return f"{begin}(\n" + "".join(f"    {one},\n" for one in arguments) + f"){end}"


def _doc(node: Definition) -> str:
    text = ast.get_docstring(node)
    if text is None:
        return ""
    # An example is a block.
    text = re.sub(r"(^>>> .*?)(?=\n\n|\Z)", r"```pycon\n\1\n```", text, flags=re.MULTILINE | re.DOTALL)
    return f"{text}\n\n"


def _fields(node: ast.ClassDef, file: str) -> Iterator[str]:
    """Yields the public attributes of a class, with the comment before each."""
    lines = (PACKAGE / file).read_text().splitlines()
    for member in node.body:
        if isinstance(member, ast.AnnAssign) and not ast.unparse(member.target).startswith("_"):
            about: list[str] = []
            line = member.lineno - 2
            while lines[line].strip().startswith("#: "):
                about.insert(0, lines[line].strip().removeprefix("#: "))
                line -= 1
            text = f"- `{ast.unparse(member.target)}: {ast.unparse(member.annotation)}`"
            yield text + (f": {' '.join(about)}" if about else "") + "\n"


def _error(node: ast.ClassDef) -> str:
    about = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
    return f"| `{node.name}` | `{ast.unparse(node.bases[0])}` | {about} |\n"
