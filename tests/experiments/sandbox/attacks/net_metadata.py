"""Asks the cloud for the machine's keys, and fetches a page, by the library's own client."""

import urllib.request


def solve(word, host):
    if word == "attack":
        for address in (f"http://127.0.0.1:{host['tcp']}/", "http://169.254.169.254/latest/meta-data/"):
            try:
                with urllib.request.urlopen(address, timeout=0.3) as page:
                    return page.read(100).decode()
            except TimeoutError:
                return "was heard, but not answered"
            except OSError:
                continue
    return word[::-1]
