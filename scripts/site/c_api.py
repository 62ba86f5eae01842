"""The reference of the C API as Markdown, from what Doxygen reads of a header."""

import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

# Turns the header's comments into Doxygen's: after a member, else before a declaration.
_FILTER = r"sed -e '1s#/\*#/** @file\n *#;t' -e 's#^\( *\)/\*\([^*]\)#\1/**\2#;t' -e 's#/\*\([^*]\)#/**<\1#'"
_SETTINGS = """
INPUT = {header}
OUTPUT_DIRECTORY = {folder}
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
OPTIMIZE_OUTPUT_FOR_C = YES
EXTRACT_ALL = YES
EXTRACT_STATIC = YES
TYPEDEF_HIDES_STRUCT = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = CUSZI_API=
INPUT_FILTER = "{filter}"
WARN_AS_ERROR = FAIL_ON_WARNINGS
WARN_IF_UNDOCUMENTED = NO
QUIET = YES
"""


def _text(node):
    """The words of a description, on one line per paragraph."""
    if node is None:
        return ""
    for code in node.iter("computeroutput"):
        code.text = f"`{code.text}`"
    paragraphs = [" ".join("".join(part.itertext()).split()) for part in node.iter("para")]
    return "\n\n".join(map(_escaped, filter(None, paragraphs)))


def _escaped(words):
    """The words with what Markdown would take for marks of its own escaped, but in `code`."""
    parts = words.split("`")
    parts[::2] = [re.sub(r"([*_<>|])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _described(node):
    return "\n\n".join(filter(None, [_text(node.find("briefdescription")),
                                     _text(node.find("detaileddescription"))]))


def _cell(words):
    return words.replace("\n\n", " ")


def _table(heads, rows):
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _type(node):
    return "".join(node.find("type").itertext())


def _enum(node):
    name = node.findtext("name")
    rows = [[f"`{value.findtext('name')}`", f"`{value.findtext('initializer', '').lstrip('= ')}`",
             _cell(_described(value))] for value in node.iter("enumvalue")]
    title = f"`{name}`" if name and not name.startswith("@") else "Limits"
    return title, "\n\n".join(filter(None, [_described(node), _table(["name", "value", "meaning"], rows)]))


def _struct(compound):
    rows = [[f"`{member.findtext('name')}{member.findtext('argsstring') or ''}`", f"`{_type(member)}`",
             _cell(_described(member))]
            for member in compound.iter("memberdef") if member.get("kind") == "variable"]
    return "\n\n".join(filter(None, [_described(compound), _table(["member", "type", "meaning"], rows)]))


def _function(node):
    signature = f"{_type(node)} {node.findtext('name')}{node.findtext('argsstring')}"
    return "\n\n".join(filter(None, [f"```text\n{signature.replace('static inline ', '')}\n```",
                                     _described(node)]))


def _define(node):
    return "\n\n".join(filter(None, [f"`#define {node.findtext('name')} {node.findtext('initializer')}`",
                                     _described(node)]))


def to_markdown(header):
    """The reference: what stands in the header, in its order."""
    with tempfile.TemporaryDirectory() as folder:
        settings = _SETTINGS.format(header=header, folder=folder, filter=f"bash {folder}/filter.sh")
        Path(folder, "filter.sh").write_text(f'{_FILTER} "$1"\n', encoding="utf-8")
        subprocess.run(["doxygen", "-"], input=settings, text=True, check=True, capture_output=True)
        compounds = {}
        for path in Path(folder, "xml").glob("*.xml"):
            for compound in xml.parse(path).getroot().iter("compounddef"):
                compounds.setdefault(compound.get("kind"), []).append(compound)
    file, = compounds["file"]
    found = []  # (line, title, text)
    for struct in compounds.get("struct", []):
        line = int(struct.find("location").get("line"))
        if struct.find(".//memberdef") is not None:
            found.append((line, f"`{struct.findtext('compoundname')}`", _struct(struct)))
    for member in file.iter("memberdef"):
        line = int(member.find("location").get("line"))
        name = member.findtext("name")
        kind = member.get("kind")
        if kind == "enum":
            found.append((line, *_enum(member)))
        elif kind == "function":
            found.append((line, f"`{name}()`", _function(member)))
        elif kind == "define" and name != "CUSZI_API" and not name.endswith("_H"):
            found.append((line, f"`{name}`", _define(member)))
    parts = [_described(file), *(f"## {title}\n\n{text}" for _, title, text in sorted(found))]
    return "\n\n".join(parts) + "\n"
