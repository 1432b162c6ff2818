"""How soon four pages of the demonstration show and answer in Chromium, scored with Lighthouse's curves for desktops,
and how long the server takes for each.

Not Lighthouse itself: the network is slowed by the browser rather than simulated, and first paint stands for the Speed
Index, which needs a film. https://developer.chrome.com/docs/lighthouse/performance/performance-scoring
"""

import math
import shutil
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from benchmarks.start import demonstration

PASSWORD = "arena-demo-only"  # published: arenasite/demo.py
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
TIMES, SERVER_TIMES = 3, 15
ROUND_TRIP_MS, BYTES_PER_SECOND = 40, 10_000_000 / 8
PAGES = {"home": "/", "arena run": "/runs/{run}/", "leaderboard": "/leaderboard/", "arena form": "/arena/"}
UNDER_WAY = ("queued", "running")  # what the demonstration plays at first would take its share of the processor
FIGURES = ("first_paint", "largest_paint", "blocking", "shift")
OBSERVE = """
window.seen = {shifts: [], tasks: [], paints: []};
for (const [type, into] of [["layout-shift", "shifts"], ["longtask", "tasks"], ["largest-contentful-paint", "paints"]])
  new PerformanceObserver((list) => window.seen[into].push(...list.getEntries())).observe({type, buffered: true});
"""
SHIFT = "seen.shifts.filter((one) => !one.hadRecentInput).reduce((sum, one) => sum + one.value, 0)"
READ = """async () => {
  await new Promise((resolve) => requestIdleCallback(() => setTimeout(resolve)));
  const first = performance.getEntriesByName("first-contentful-paint")[0].startTime;
  const sent = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const longer = ({startTime, duration}) => Math.max(0, startTime + duration - Math.max(first, startTime + 50));
  return {
    first_paint: first,
    largest_paint: Math.max(...seen.paints.map((one) => one.startTime)),
    blocking: seen.tasks.reduce((sum, task) => sum + longer(task), 0),
    shift: SHIFT,
    sent: sent.reduce((sum, one) => sum + one.transferSize, 0),
    requests: sent.length,
    foreign: sent.filter((one) => new URL(one.name).origin !== location.origin).map((one) => one.name),
  };
}""".replace("SHIFT", SHIFT)


@dataclass(frozen=True, slots=True)
class Curve:
    """A log-normal curve from 1, which nothing reaches, through 0.9 at `p10` and 0.5 at `median` towards 0."""

    p10: float
    median: float
    weight: float

    def score(self, value: float) -> float:
        if value <= 0:
            return 1.0
        deviation = math.log(self.median / self.p10) / NormalDist().inv_cdf(0.9)
        return 1 - NormalDist(math.log(self.median), deviation).cdf(math.log(value))


CURVES = {  # milliseconds but for the shift; a tenth of the weight of first paint is the Speed Index's
    "first_paint": Curve(934, 1600, 0.2),
    "largest_paint": Curve(1200, 2400, 0.25),
    "blocking": Curve(150, 350, 0.3),
    "shift": Curve(0.1, 0.25, 0.25),
}


def score(figures: Mapping[str, float]) -> int:
    """From 0 to 100, of the figures that CURVES names."""
    return round(100 * sum(curve.weight * curve.score(figures[name]) for name, curve in CURVES.items()))


def measure(page: Page, address: str) -> dict[str, Any]:
    """What the browser says of this page, opened with an empty cache. The page has to run OBSERVE first."""
    session = page.context.new_cdp_session(page)
    session.send("Network.clearBrowserCache")
    page.goto(address, wait_until="networkidle")
    session.detach()
    return dict(page.evaluate(READ))


def main() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="arena-pages-") as folder,
        demonstration(Path(folder) / "data") as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1350, "height": 940})
        page.goto(f"{url}/sign-in/")
        page.fill("#id_username", "researcher")
        page.fill("#id_password", PASSWORD)
        page.click("main button.primary")
        page.wait_for_url(f"{url}/")
        while any(page.request.get(f"{url}/api/runs/?state={state}").json()["results"] for state in UNDER_WAY):
            time.sleep(1)
        run = page.request.get(f"{url}/api/runs/?workflow=arena&state=completed").json()["results"][0]["id"]
        page.add_init_script(OBSERVE)
        _slow_down(page)
        for name, path in PAGES.items():
            address = url + path.format(run=run)
            served = median(_served(page, address) for _time in range(SERVER_TIMES))
            _say(name, [measure(page, address) for _time in range(TIMES)], served)
        browser.close()


def _slow_down(page: Page) -> None:
    """The line that Lighthouse assumes for desktops; the processor is as fast as it is."""
    speed = {"latency": ROUND_TRIP_MS, "downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", {"offline": False, **speed})


def _served(page: Page, address: str) -> float:
    """Milliseconds from the request to the whole page, beside the slow line and without what the page fetches."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    asked = urllib.request.Request(address, headers={"Cookie": cookies, "Accept-Encoding": "gzip"})
    begun = time.perf_counter()
    with urllib.request.urlopen(asked) as answer:
        assert answer.read()
    return (time.perf_counter() - begun) * 1000


def _say(name: str, measured: list[dict[str, Any]], served: float) -> None:
    found = {figure: median(one[figure] for one in measured) for figure in FIGURES}
    print(
        f"{name}   {score(found)} of 100   server {served:.0f} ms   first paint {found['first_paint']:.0f} ms"
        f"   largest {found['largest_paint']:.0f} ms   blocked {found['blocking']:.0f} ms   shift {found['shift']:.3f}"
        f"   {measured[0]['requests']} requests, {measured[0]['sent'] / 1024:.0f} KiB"
    )


if __name__ == "__main__":
    main()
