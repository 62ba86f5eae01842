"""A Jupyter notebook as a page."""

import base64
import json


def to_markdown(path):
    """The page of a notebook, with the text and the pictures that its cells have left; and the bytes of the pictures, by
    the names that the page has for them."""
    parts, pictures, heading = [], {}, ""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            heading = source.splitlines()[0].lstrip("# ")
            continue
        parts.append(f"```python\n{source}\n```")
        drawn = [output["data"]["image/png"] for output in cell["outputs"] if "image/png" in output.get("data", {})]
        for picture in drawn:
            name = f"{path.stem}-{len(pictures)}.png"
            pictures[name] = base64.b64decode("".join(picture))
            parts.append(f"![{heading}]({name})")
        for output in cell["outputs"]:
            lines = output.get("text") or ([] if drawn else output["data"]["text/plain"])
            if lines:
                parts.append(f"```text\n{''.join(lines).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures
