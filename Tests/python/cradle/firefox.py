"""Firefox (Debian: firefox-esr) without a window, driven over WebDriver BiDi."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

from . import browsers
from .browsers import BrowserError

PREFERENCES: dict[str, Any] = {
    # Media without anybody who clicks, and over loopback as well.
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "media.autoplay.default": 0,
    "media.autoplay.blocking_policy": 0,
    # Without an output device an audio graph does not run, so it gets one that is only a clock.
    "media.cubeb.force_mock_context": True,
    "media.gmp-manager.updateEnabled": False,
    "media.gmp-manager.url": "",
    "media.gmp-provider.enabled": False,
    "privacy.reduceTimerPrecision": False,
    "network.proxy.type": 0,
    # Speaks to the server and to nobody else.
    "app.normandy.enabled": False,
    "app.update.auto": False,
    "app.update.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutHomeSnippets.updateUrl": "",
    "browser.contentblocking.reportBreakage.url": "",
    "browser.newtabpage.enabled": False,
    "browser.newtabpage.activity-stream.feeds.system.topstories": False,
    "browser.newtabpage.activity-stream.telemetry": False,
    "browser.region.network.url": "",
    "browser.region.update.enabled": False,
    "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.downloads.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False,
    "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False,
    "browser.safebrowsing.provider.google4.updateURL": "",
    "browser.safebrowsing.provider.mozilla.updateURL": "",
    "browser.search.update": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.connection.enabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False,
    "extensions.update.autoUpdateDefault": False,
    "extensions.update.enabled": False,
    "geo.enabled": False,
    "messaging-system.rsexperimentloader.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disablePrefetch": True,
    "network.http.speculative-parallel-limit": 0,
    "network.prefetch-next": False,
    "network.trr.mode": 5,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.enabled": False,
    "toolkit.telemetry.server": "",
    "toolkit.telemetry.unified": False,
}


class Firefox(browsers.Browser):
    port_file = "WebDriverBiDiServer.json"

    def __init__(self, options: Any):
        super().__init__("firefox", options)
        with open(os.path.join(self.profile, "user.js"), "w") as file:
            for name, value in PREFERENCES.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        program = "firefox-esr" if shutil.which("firefox-esr") else "firefox"
        found = self.start(
            [program, "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0"]
        )
        where = json.loads(found)
        self.remote = browsers.Remote(f"ws://{where['ws_host']}:{where['ws_port']}/session")
        self.remote.command("session.new", capabilities={"alwaysMatch": {"acceptInsecureCerts": options.insecure}})
        self.context = self.remote.command("browsingContext.getTree")["contexts"][0]["context"]

    def is_whole(self, text: str) -> bool:
        try:
            return "ws_port" in json.loads(text)
        except ValueError:
            return False

    def open(self, url: str) -> None:
        self.remote.command("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        reply = self.remote.command(
            "script.evaluate",
            expression=expression,
            target={"context": self.context},
            awaitPromise=True,
            userActivation=True,
        )
        if reply["type"] == "exception":
            raise BrowserError(reply["exceptionDetails"]["text"])
        return reply["result"].get("value")
