"""X18: text enters widgets through ktui/ui/paint.py only, and the check that says so works."""

from __future__ import annotations

from pathlib import Path

import pytest

import ktui.ui

from .border import violations

UI = Path(ktui.ui.__file__).parent
MODULES = sorted(path for path in UI.rglob("*.py") if path.name != "paint.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(UI)))
def test_text_goes_through_the_border(path: Path) -> None:
    assert violations(path.read_text()) == []


@pytest.mark.parametrize(
    "planted",
    [
        "Text.from_markup(name)",
        "Content.from_markup('[b]$x[/]', x=name)",
        "Content(name)",
        "Segment(name, style)",
        "Static(f'pod {name}')",
        "Static(name)",
        "Label('a' + name)",
        "Button(label=name)",
        "Option('%s' % name)",
        "DiscoveryHit(name, run)",
        "Hit(1.0, name, run)",
        "self.app.notify(f'{name} is gone')",
        "app.notify('fixed')",
        "self.border_title = name",
        "self.border_title = f'{name}'",
        "self.tooltip = str(name)",
        "self.query_one(Static).update(name)",
        "OptionList(name, markup=True)",
        "shown = content(name)\nshown = name\nStatic(shown)",
    ],
)
def test_the_check_finds_planted_violations(planted: str) -> None:
    assert violations(planted)


@pytest.mark.parametrize(
    "fine",
    [
        "Static('fixed words')",
        "Static(content(name), id=name)",
        "shown = content(name)\nStatic(shown)",
        "notify(app, f'{name} is gone')",
        "OptionList(markup=False)",
        "known.update(other)",
    ],
)
def test_the_check_lets_the_border_through(fine: str) -> None:
    assert violations(fine) == []


def test_paint_itself_builds_nothing_from_markup() -> None:
    source = (UI / "paint.py").read_text()
    assert "from_markup" not in source
    assert "markup=True" not in source
