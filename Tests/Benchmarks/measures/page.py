"""What `bench.py` measures of the phone page in Chromium: how soon it shows the child, how soon a parent is heard who
holds the talk button, and what watching costs beside a page that has nothing but a video element.

Chromium's microphone is a file with something like a voice: a steady tone would be taken for noise and filtered out.
"""

from __future__ import annotations

import base64
import hashlib
import math
import os
import ssl
import tempfile
import time
import wave
from array import array
from pathlib import Path

from cradle.figures import Figure, median
from measures.base import Bench
from servers import MeasuredChild, Problem, cpu_seconds
from cradle import browsers, processes
from cradle.phone import PATIENCE, Phone, open_window
from cryptography import x509
from cryptography.hazmat.primitives import serialization

RATE = 48_000
WAV_HEADER = 44
#: What counts as heard, of 32768.
HEARD = 300
#: Seconds that what was said before may still come out of the speaker.
SILENCE = 0.6

#: Seconds in which the requests of one load come back into the child's allowance for strangers.
LOAD_PAUSE = 3.5

#: Runs before the page's own scripts: the time of the first picture that is shown, ms from the start of the navigation.
FIRST_PICTURE = """new MutationObserver((_, observer) => {
  const video = document.querySelector("video");
  if (!video) return;
  observer.disconnect();
  video.requestVideoFrameCallback((now) => { globalThis.firstPictureAt = now; });
}).observe(document, { childList: true, subtree: true })"""

#: A page with nothing else: WHEP, and a video element that plays picture and sound.
BARE = """(async (url, token) => {
  document.body.replaceChildren();
  document.documentElement.style.background = "black";
  const video = document.createElement("video");
  video.autoplay = true;
  video.style.cssText = "width: 100%; display: block";
  document.body.style.margin = 0;
  document.body.append(video);
  const connection = globalThis.connection = new RTCPeerConnection();
  video.srcObject = new MediaStream();
  connection.ontrack = ({ track }) => video.srcObject.addTrack(track);
  for (const kind of ["video", "audio"]) connection.addTransceiver(kind, { direction: "recvonly" });
  await connection.setLocalDescription();
  await new Promise((done) => {
    connection.onicegatheringstatechange = () => connection.iceGatheringState === "complete" && done();
  });
  const answer = await fetch(url, { method: "POST", body: connection.localDescription.sdp,
    headers: { "Content-Type": "application/sdp", Authorization: `Bearer ${token}` } });
  await connection.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  return answer.status;
})"""


class Watcher(Phone):
    """A phone that speaks what is in a file."""

    def __init__(self, child: MeasuredChild, voice: Path, trusts: bool = True):
        """`trusts`: as if the child's root certificate was installed. Without, Chromium keeps none of its files."""
        self.voice = voice
        self.trusts = trusts
        self.child = child
        self.address = f"https://127.0.0.1:{child.port}/"
        super().__init__(self.address)

    def switches(self) -> list[str]:
        switches = super().switches() + [f"--use-file-for-fake-audio-capture={self.voice}"]
        if self.trusts:
            switches.remove("--ignore-certificate-errors")
            switches.append(f"--ignore-certificate-errors-spki-list={_key_digest(self.child.port)}")
        return switches

    def pair(self) -> None:
        window, secret = open_window(self.child.commands.command("pair", "--json"))
        self.enter(self.address + secret)
        self.tap("[data-screen=words] .main")
        self.wait_live()
        processes.end_process(window)

    def wait_live(self) -> None:
        self.wait("live", "!!document.querySelector('.state.live')")
        self.wait("hearing", "!!document.querySelector('.hearing:not(.not)')")

    def processes(self) -> set[int]:
        """All of the browser's, by their parents."""
        parents: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                except OSError:
                    pass  # it ended just now
        family = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in family} - family:
            family |= more
        return family

    def cpu_share(self, seconds: float) -> float:
        """Of one core, all processes together."""
        family = self.processes()
        before = {pid: cpu_seconds(pid) for pid in family}
        began = time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - began
        spent = 0.0
        for pid in family:
            try:
                spent += cpu_seconds(pid) - before[pid]
            except OSError:
                pass  # a helper that was not needed any more
        return spent / took


def page(bench: Bench) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="cradle-bench-") as folder:
        ear, voice = Path(folder) / "ear.wav", Path(folder) / "voice.wav"
        _write_voice(voice)
        with MeasuredChild(bench.child_program, speaker=f"file:{ear}") as child:
            figures: list[Figure] = []
            phones = Watcher(child, voice), Watcher(child, voice, trusts=False)
            try:
                for phone in phones:
                    phone.pair()
                    figures.append(_loads(bench, phone))
                    # One browser at a time.
                    phone.open("about:blank")
                return figures + [_holds(bench, phones[0], ear), _costs(bench, phones[0])]
            except browsers.BrowserError as error:
                raise Problem(str(error)) from None
            finally:
                for phone in phones:
                    phone.close()


def _key_digest(port: int) -> str:
    """Of the key of the certificate that is served, as Chromium's switch wants it."""
    pem = ssl.get_server_certificate(("127.0.0.1", port))
    key = x509.load_pem_x509_certificate(pem.encode()).public_key()
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


# --- From opening the page to the first picture ----------------------------------------------------------------------


def _loads(bench: Bench, phone: Watcher) -> Figure:
    phone.remote.command("Page.addScriptToEvaluateOnNewDocument", source=FIRST_PICTURE)
    times: list[float] = []
    for _ in range(3 if bench.is_quick else 9):
        phone.open("about:blank")
        if not phone.trusts:
            time.sleep(LOAD_PAUSE)
        phone.open(phone.address)
        times.append(float(phone.wait("the first picture", "globalThis.firstPictureAt")))
        phone.wait_live()
    name = "trusted" if phone.trusts else "clicked through"
    bench.raw[f"pageLoads {name}"] = times
    processes.log(f"  page to first picture, certificate {name}: {', '.join(f'{ms:.0f}' for ms in times)} ms")
    files = "files kept by the browser" if phone.trusts else "all files loaded anew"
    return Figure(
        f"page: load to first picture, certificate {name}", "ms", median(times), runs=times,
        note=f"median of {len(times)} loads of a paired page in Chromium, {files}; slowest {max(times):.0f} ms; load {_load()}",
    ).judged("< 700 ms", lambda figure: figure.ours < 700)  # fmt: skip


# --- From the press to the ear ---------------------------------------------------------------------------------------


def _holds(bench: Bench, phone: Watcher, ear: Path) -> Figure:
    phone.open(phone.address)
    phone.wait_live()
    times = [_hold(phone, ear) for _ in range(4 if bench.is_quick else 10)]
    bench.raw["pageHolds"] = times
    first, later = times[0], times[1:]
    processes.log(f"  hold to heard: first {first:.0f} ms, then {', '.join(f'{ms:.0f}' for ms in later)} ms")
    return Figure(
        "page: hold to heard, median", "ms", median(later), runs=times,
        note=f"microphone permitted; {len(later)} holds, slowest {max(later):.0f} ms; the first, which opens the "
        f"microphone, {first:.0f} ms; load {_load()}",
    ).judged("< 250 ms", lambda figure: figure.ours < 250)  # fmt: skip


def _hold(phone: Watcher, ear: Path) -> float:
    """Milliseconds from the press to the sound in what the speaker plays."""
    deadline = time.monotonic() + PATIENCE
    while any(abs(sample) > HEARD for sample in _samples(ear, -int(RATE * SILENCE))):
        if time.monotonic() > deadline:
            raise Problem("the speaker does not become silent")
        time.sleep(0.1)
    spot = phone.place(".talk")
    checked = _count(ear)
    pressed = time.time()
    phone.touch("touchStart", [spot])
    before = (time.time(), checked)
    try:
        while time.monotonic() < deadline:
            now = (time.time(), _count(ear))
            # What is there now was played at the latest now.
            if any(abs(sample) > HEARD for sample in _samples(ear, before[1])):
                return (now[0] - pressed) * 1000
            before = now
            time.sleep(0.002)
    finally:
        phone.touch("touchEnd", [])
        phone.wait("the end of talking", "!document.querySelector('.talk.on')")
    raise Problem("nothing was heard")


def _count(ear: Path) -> int:
    return max(0, ear.stat().st_size - WAV_HEADER) // 2


def _samples(ear: Path, start: int) -> array[int]:
    """From a sample on; from the end if negative."""
    count = _count(ear)
    start = max(0, count + start) if start < 0 else start
    with ear.open("rb") as file:
        file.seek(WAV_HEADER + start * 2)
        data = file.read((count - start) * 2)
    return array("h", data[: len(data) // 2 * 2])


def _write_voice(path: Path) -> None:
    """Four seconds of a voice that glides and never pauses; Chromium repeats them."""
    samples = array("h")
    phase = 0.0
    for number in range(4 * RATE):
        second = number / RATE
        phase += (140 + 40 * math.sin(2 * math.pi * 1.5 * second)) / RATE
        strength = 0.65 + 0.35 * math.sin(2 * math.pi * 4 * second)
        tone = sum(math.sin(2 * math.pi * phase * part) / part for part in range(1, 9))
        samples.append(int(9000 * strength * tone))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


# --- What watching costs ---------------------------------------------------------------------------------------------


def _costs(bench: Bench, phone: Watcher) -> Figure:
    seconds, settling = (5, 2) if bench.is_quick else (15, 5)
    shares: dict[str, list[float]] = {"page": [], "bare": []}
    for _ in range(2 if bench.is_quick else 5):
        for name in shares:
            phone.open("about:blank")
            if name == "page":
                phone.open(phone.address)
                phone.wait_live()
            else:
                # Without a content security policy, so that the script needs no leave from the server.
                phone.open(phone.address + "healthz")
                phone.evaluate(f"{BARE}({phone.address + 'whep'!r}, {phone.child.token!r})")
                phone.wait("the bare video", "document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 30")
            time.sleep(settling)
            shares[name].append(phone.cpu_share(seconds) * 100)
            processes.log(f"  {name}: {shares[name][-1]:.1f} % of a core")
    bench.raw["pageCosts"] = shares
    return Figure(
        "page: processor time of the browser", "% of a core", median(shares["page"]), median(shares["bare"]),
        "bare <video>", "ratio", runs=shares,
        note=f"all processes of Chromium, {seconds} s each, {len(shares['page'])} turns; load {_load()}",
    ).judged("≤ ×1.10", lambda figure: (figure.comparison or math.inf) <= 1.10)  # fmt: skip


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"
