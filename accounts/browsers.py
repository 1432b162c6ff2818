"""What a browser calls itself, in words that its owner knows."""

BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = (
    *(("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad")),
    *(("Mac OS X", "macOS"), ("Linux", "Linux")),
)


def named(user_agent: str) -> str:
    """`Firefox · Linux`, or what it says of itself, cut, or ""."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "")
    return " · ".join(filter(None, (browser, system))) or user_agent[:60]
