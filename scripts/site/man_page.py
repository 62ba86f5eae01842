"""The manual page as Markdown: the part of man(7) that docs/man/cuszi.1 uses."""

import re
import shlex

# Fonts that a macro alternates.
_FONTS = {"B": "B", "I": "I", "BR": "BR", "BI": "BI", "IR": "IR", "IB": "IB", "RB": "RB", "RI": "RI"}


class UnknownMacro(Exception):
    """A macro that this converter does not know."""


def _plain(text):
    """The text without escapes of fonts, with its characters unescaped."""
    text = re.sub(r"\\f[BIRP]", "", text)
    for escape, character in {r"\-": "-", r"\(lq": "“", r"\(rq": "”", r"\c": "", r"\(bu": "•",
                              r"\e": "\\", r"\&": "", r"\ ": " ", r"\(aq": "'", r"\'": "'"}.items():
        text = text.replace(escape, character)
    return text


def _words(rest):
    """The arguments of a macro, where backslashes are kept."""
    lexer = shlex.shlex(rest, posix=True)
    lexer.whitespace_split, lexer.escape, lexer.quotes, lexer.commenters = True, "", '"', ""
    return list(lexer)


def _escaped(text):
    return re.sub(r"([*_<>\[\]|])", r"\\\1", text)


def _styled(text, font):
    text = _plain(text)
    if not text.strip():
        return text
    before, core, after = re.fullmatch(r"(\s*)(.*?)(\s*)", text, re.DOTALL).groups()
    marked = {"B": f"`{core}`", "I": f"*{_escaped(core)}*"}.get(font, _escaped(core))
    return before + marked + after


def _inline(text, font="R"):
    """Text with escapes of fonts, as Markdown."""
    parts = re.split(r"\\f([BIRP])", text)
    out = _styled(parts[0], font)
    for kind, piece in zip(parts[1::2], parts[2::2]):
        out += _styled(piece, font if kind == "P" else kind)
    return out


def _line(line, as_term=False):
    """A line of text or of a macro of fonts; terms are plain, to be put between backticks."""
    if not line.startswith("."):
        return _plain(line) if as_term else _inline(line)
    name, _, rest = line[1:].partition(" ")
    if name not in _FONTS:
        raise UnknownMacro(f".{name}")
    words = _words(rest)
    fonts = _FONTS[name]
    if len(fonts) == 1:
        words, fonts = [" ".join(words)], fonts
    styled = [_plain(word) if as_term else _inline(word, fonts[i % len(fonts)])
              for i, word in enumerate(words)]
    return "".join(styled)


def to_markdown(page):
    """The sections of a manual page as Markdown of headings, paragraphs and lists of definitions."""
    lines = [line for line in page.splitlines() if line and not line.startswith('.\\"')]
    out = []
    indent = ""  # of a term's text
    synopsis = False
    i = 0
    while i < len(lines):
        line = lines[i]
        i += 1
        name, _, rest = line[1:].partition(" ") if line.startswith(".") else ("", "", "")
        if name == "TH":
            continue
        if name in ("SH", "SS"):
            indent, synopsis = "", _plain(rest) == "SYNOPSIS"
            title = _plain(rest).strip('"')
            out += ["", f"{'##' if name == 'SH' else '###'} "
                        f"{title.capitalize() if name == 'SH' else title}", ""]
            if synopsis:
                end = next(k for k in range(i, len(lines)) if lines[k].startswith(".SH"))
                calls = " ".join(_line(part, as_term=True) if part != ".br" else "\n"
                                 for part in lines[i:end])
                out += ["```text", *(call.strip().replace("| ", "|") for call in calls.split("\n")),
                        "```"]
                i = end
        elif name == "TP":
            out += ["", f"`{_line(lines[i], as_term=True)}`", ""]
            indent = "    "
            i += 1
            while i < len(lines) and lines[i] == ".TQ":
                out.insert(-1, f"`{_line(lines[i + 1], as_term=True)}`")
                i += 2
            out.append(":   ")
        elif name in ("PP", "P"):
            indent = ""
            out.append("")
        elif name in ("RS", "RE", "br"):
            continue
        elif name == "EX":
            out += ["", f"{indent}```sh"]
            while lines[i] != ".EE":
                out.append(indent + _plain(lines[i]))
                i += 1
            out += [f"{indent}```", ""]
            i += 1
        elif out and out[-1] == ":   ":
            out[-1] += _line(line)
        else:
            out.append(indent + _line(line))
    return "\n".join(out)
