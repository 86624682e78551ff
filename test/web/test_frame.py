"""What holds on every page: width, theme, names for those who listen, tokens, a server that goes away, many nodes."""

import pytest
from berth import Up
from conftest import watched
from playwright.sync_api import expect

ROUTES = [
    "#/cluster",
    "#/pending",
    "#/decisions",
    "#/decisions/default/picky",
    "#/queue",
    "#/whatif",
    "#/plans",
]

# What somebody who does not see the page would miss.
UNNAMED = """() => {
  const name = (e) => e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && [...e.labels].map((l) => l.textContent).join('')) || '';
  const problems = [...document.querySelectorAll('a, button, input, select, textarea, [role=listbox], [role=option]')]
    .filter((e) => !name(e)).map((e) => e.outerHTML.slice(0, 120));
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  if (new Set(ids).size !== ids.length) problems.push('an id is used twice');
  if (document.querySelectorAll('h1').length !== 1) problems.push('not one h1');
  if (document.querySelectorAll('main').length !== 1) problems.push('not one main');
  if (!document.documentElement.lang) problems.push('no language');
  return problems;
}"""

# Text against what is behind it: WCAG's AA for normal text, over every element with text of its own.
CONTRAST = """() => {
  const rgb = (text) => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true}); c.fillStyle = text; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
  const low = new Set();
  for (const e of document.querySelectorAll('main *, header *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || e.closest('svg, .sr') || e.disabled) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.add(`${e.className || e.tagName}: ${ratio.toFixed(2)}`);
  }
  return [...low];
}"""


def settle(page):
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator(".skeleton")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_can_be_read_and_heard(chromium, up, width, scheme):
    page = watched(chromium, up.url, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 844})
    for route in ROUTES:
        page.goto(up.dashboard + route)
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (
            f"{route} is too wide"
        )
        assert page.evaluate(UNNAMED) == [], route
        assert page.evaluate(CONTRAST) == [], route
    assert page.problems == []
    page.context.close()


def test_the_theme_is_chosen_and_kept(page, up):
    page.emulate_media(color_scheme="light")
    page.goto(up.dashboard)
    page.get_by_role("button", name="Use the dark theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="Use the light theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")


def test_pages_are_reached_with_the_keyboard(page, up):
    page.goto(up.dashboard)
    settle(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.get_by_role("navigation").get_by_role("link", name="Queue").press("Enter")
    expect(page.get_by_role("heading", name="Queue and live flow")).to_be_focused()
    page.go_back()
    expect(page.get_by_role("heading", name="Cluster", exact=True)).to_be_visible()


def test_without_a_token_the_page_asks_for_one(chromium, tmp_path):
    up = Up(tmp_path, "--nodes", "3", "--bind-address", "0.0.0.0")
    try:
        page = watched(chromium, up.url)
        page.goto(up.dashboard)
        expect(page.get_by_text("A token is needed")).to_be_visible()
        field = page.get_by_label("Bearer token")
        field.fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_text("This token was not accepted")).to_be_visible()
        field.fill(up.token)
        page.keyboard.press("Enter")
        expect(page.get_by_text("3 nodes in")).to_be_visible()
        expect(page.locator(".live")).to_have_text("live")
        page.reload()
        expect(page.get_by_text("3 nodes in")).to_be_visible()
        assert page.evaluate("Object.keys(localStorage).length") == 0, (
            "the token is for the session"
        )
        page.context.close()
    finally:
        up.stop()


def test_a_server_that_goes_away_is_noticed(chromium, tmp_path):
    up = Up(tmp_path, "--nodes", "3")
    page = watched(chromium, up.url)
    page.goto(up.dashboard)
    expect(page.get_by_text("3 nodes in")).to_be_visible()
    expect(page.locator(".live")).to_have_text("live")
    up.stop()
    expect(page.locator(".live")).to_have_text("reconnecting")
    expect(page.get_by_text("What you see is not renewed")).to_be_visible()
    page.goto(up.dashboard + "#/pending")
    expect(page.get_by_text("No answer")).to_be_visible()
    page.context.close()


def test_an_empty_cluster_is_said_to_be_empty(chromium, tmp_path):
    up = Up(tmp_path, "--nodes", "0")
    try:
        page = watched(chromium, up.url)
        for route, text in [
            ("#/cluster", "No nodes yet"),
            ("#/pending", "Nothing is waiting"),
            ("#/decisions", "No decisions yet"),
            ("#/queue", "Quiet"),
            ("#/whatif", "Nothing tried yet"),
            ("#/plans", "Nothing planned yet"),
        ]:
            page.goto(up.dashboard + route)
            expect(page.get_by_text(text)).to_be_visible()
        assert page.problems == []
        page.context.close()
    finally:
        up.stop()


def test_five_thousand_nodes(chromium, tmp_path):
    up = Up(tmp_path, "--nodes", "5000")
    try:
        up.wait("all nodes are known", lambda: up.explain("/nodes")["count"] == 5000)
        page = watched(chromium, up.url)
        page.goto(up.dashboard)
        expect(page.get_by_text("5,000 nodes in 3 zones")).to_be_visible()
        page.locator(".zone-canvas").first.hover(position={"x": 100, "y": 100})
        expect(page.locator(".tip")).to_be_visible()
        page.locator(".zone-canvas").last.click(position={"x": 100, "y": 100})
        expect(page.get_by_role("complementary")).to_contain_text("What still fits")
        assert page.problems == []
        page.context.close()
    finally:
        up.stop()
