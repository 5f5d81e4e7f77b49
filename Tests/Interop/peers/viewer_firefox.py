"""A viewer on Firefox (Debian: firefox-esr), without a window, driven over WebDriver BiDi.

Firefox has no way to a track's frames from a page, so pictures are read off an element that plays them: one is
counted when it is shown, which is up to one refresh (17 ms) after it was decoded.
"""

from __future__ import annotations

import sys

from cradle import browsers
from cradle.firefox import Firefox

if __name__ == "__main__":
    sys.exit(browsers.run("firefox", Firefox))
