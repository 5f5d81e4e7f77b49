import { moment, percent, t } from "../texts/texts.js";
import { system } from "./certificate.js";
import { h, setText, slider } from "./dom.js";
import { openNight } from "./night.js";
import { hasProofs, openProofs } from "./proofs.js";
import { openRecordings, seesRecordings } from "./recordings.js";
import { openSheet } from "./sheet.js";
import { liveText } from "./status.js";

/** Everything behind the status line: audio only, this phone's volume, who watches, what is missing, the last night. */
export function openDetails(watching) {
  const ending = new AbortController();
  const { watcher, sound } = watching;
  const line = h("p", { class: "big", role: "status" });
  const missing = h("p", { class: "problem" });
  const audioOnly = h("input", { type: "checkbox", onchange: () => {
    watcher.audioOnly = audioOnly.checked;
    watching.update();
  } });
  const volume = slider({ label: t("volume.phone"), min: 0, max: 100, text: percent, oninput: (value) => {
    sound.volume = value / 100;
    watching.update();
  } });
  // iPhones leave it to their buttons.
  volume.element.hidden = system() === "iphone";
  const people = h("ul", { class: "list" });
  const proofs = h("button", { "data-do": "proofs", onclick: () => openProofs(watching) }, t("proofs"));
  const night = h("button", { "data-do": "night", onclick: () => openNight(watching, night) }, t("night"));
  const recordings = h("button", { "data-do": "recordings", onclick: () => openRecordings(watching, recordings) }, t("recordings"));
  openSheet(t("details"), [line, missing, h("label", { class: "check" }, audioOnly, h("span", {}, t("audioOnly"), " ", h("small", {}, t("audioOnly.help")))),
    volume.element, h("h3", {}, t("viewers")), people, proofs, night, recordings], { name: "details", onclose: () => ending.abort() });
  watching.addEventListener("update", update, { signal: ending.signal });
  update();

  function update() {
    const { cameras = [], microphone, speaker, viewers = [] } = watching.state;
    setText(line, liveText(watching));
    // Picture and sound may come before the camera has said what it can do.
    proofs.hidden = !hasProofs(watching);
    night.hidden = !watching.control.capabilities.has("report.get");
    recordings.hidden = !seesRecordings(watching);
    audioOnly.checked = watcher.audioOnly;
    volume.set(Math.round(sound.volume * 100));
    const lacking = [...cameras, microphone, speaker].filter((device) => device?.state === "missing").map(({ name }) => name);
    missing.hidden = !lacking.length;
    setText(missing, lacking.length ? `${t("device.missing")}: ${lacking.join(", ")}` : "");
    // Made anew only when it differs, so that a screen reader can read on.
    const key = viewers.map(({ id }) => id).join();
    if (people.dataset.key === key) return;
    people.dataset.key = key;
    const own = watching.control.hello?.viewer;
    people.replaceChildren(...viewers.map(({ id, name, since }) => h("li", {}, h("div", {}, name + (id === own ? ` (${t("you")})` : "")), h("small", {}, moment(since * 1000)))));
  }
}
