import urllib.parse

import pytest
from berth import Up
from playwright.sync_api import expect, sync_playwright

expect.set_options(timeout=15_000)


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def up(tmp_path_factory):
    """A cluster of 50 nodes with a Deployment of 20 pods, and pods that wait."""
    up = Up(tmp_path_factory.mktemp("up"), "--speed", "max")
    up.deployment("web", 20)
    up.pod("huge", cpu="99")
    up.pod("picky", nodeSelector={"disk": "none-such"})
    up.pod("gated", schedulingGates=[{"name": "example.com/wait"}])
    up.placed("web-", 20)
    yield up
    up.stop()


def watched(chromium, origin, **options):
    """A page that notes what goes wrong on it, and who it talks to."""
    context = chromium.new_context(viewport={"width": 1440, "height": 900}, **options)
    page = context.new_page()
    page.problems = []
    page.on("pageerror", lambda error: page.problems.append(f"exception: {error}"))
    page.on(
        "console",
        lambda message: (
            message.type == "error" and page.problems.append(f"console: {message.text}")
        ),
    )

    def foreign(request):
        if urllib.parse.urlparse(request.url).netloc != urllib.parse.urlparse(origin).netloc:
            page.problems.append(f"asks elsewhere: {request.url}")

    page.on("request", foreign)
    return page


@pytest.fixture
def page(chromium, up):
    page = watched(chromium, up.url)
    yield page
    problems = page.problems
    page.context.close()
    assert problems == []
