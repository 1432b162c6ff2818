"""One platform and one Chromium for this folder, which end with it: the loop of Playwright would be in the way."""
