"""``python .ci/recipes.py``: run the examples of docs/recipes.md that need packages of the extra "recipes"."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "recipes.md"


def main() -> None:
    """Run each block without prompts, one after the other; those with prompts run in the tests."""
    blocks = [
        each
        for each in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        if ">>>" not in each
    ]
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    print(f"{len(blocks)} blocks of {PAGE.name} ran")


if __name__ == "__main__":
    main()
