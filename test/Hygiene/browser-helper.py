# Check that the helper of browser tests detects script errors, external addresses and blank pages, and that clicks,
# hovers, typing and the color scheme work.
# REQUIRES: browser
# RUN: %python %s %t

import pathlib
import sys

from browser import Browser

PAGE = """<!doctype html><meta charset=utf-8><style>
  body { margin: 0; background: white }
  @media (prefers-color-scheme: dark) { body { background: black } }
</style>
<button id=b onclick="this.textContent = 'pressed ' + document.querySelector('input').value">press</button>
<input><p id=p onmouseenter="this.textContent = 'here'">over there</p><p>""" + "words " * 50

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def page(name, text):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def fails(action):
    try:
        action()
    except AssertionError as error:
        return str(error)
    raise SystemExit("this must fail")


with Browser(600, 400) as browser:
    browser.open(page("page.html", PAGE))
    browser.type("input", "\u00fc")
    browser.click("#b")
    assert browser.text("#b") == "pressed \u00fc"
    browser.hover("#p")
    assert browser.text("#p") == "here"
    assert browser.count("p") == 2
    light = browser.screenshot(folder / "page.png")
    assert light.size == (600, 400) and light.getpixel((599, 399)) == (255, 255, 255)
    browser.use_scheme("dark")
    assert browser.screenshot().getpixel((599, 399)) == (0, 0, 0)

    browser.open(page("blank.html", "<!doctype html>"))
    assert "blank" in fails(browser.screenshot)
    for text, message in (("<script>undefined_name()</script>", "undefined_name is not defined"),
                          ("<img src=https://example.org/x.png>", "ERR_NAME_NOT_RESOLVED")):
        browser.open(page("wrong.html", text))
        assert any(message in error for error in browser.errors()), message


def leave_with_error():
    with Browser(600, 400) as other:
        other.open(page("wrong.html", "<script>undefined_name()</script>"))


assert "undefined_name" in fails(leave_with_error)
