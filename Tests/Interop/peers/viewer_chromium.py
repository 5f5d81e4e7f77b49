"""A viewer on Chromium (Debian: chromium), without a window, driven over the DevTools protocol."""

from __future__ import annotations

import sys

from cradle import browsers
from cradle.chromium import Chromium

if __name__ == "__main__":
    sys.exit(browsers.run("chromium", Chromium))
