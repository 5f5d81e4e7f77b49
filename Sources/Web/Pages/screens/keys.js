import { t } from "../texts/texts.js";
import { h } from "./dom.js";
import { openSheet } from "./sheet.js";

const names = { space: "talk", l: "light", n: "lullaby", c: "camera", s: "shot", m: "mute", f: "full", p: "small", a: "alarm.acknowledge", "+ − 0": "zoom", "← ↑ → ↓": "pan", "?": "keys" };
const pans = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const zooms = { "+": 1, "=": 1, "-": -1, 0: 0 };

/**
 * The keys of the picture, the same as in the window. Space talks while it is held, unless a button has the focus.
 * @param {Object<string, () => void>} actions by key
 * @param {{talk: Talk, zoom: Zoom, isOn: () => boolean, signal: AbortSignal}} options
 */
export function listenToKeys(actions, { talk, zoom, isOn, signal }) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea")) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === "a") return actions.a();
    if (!isOn()) return;
    if (key === " " && !event.target.closest?.("button, a, summary")) {
      event.preventDefault();
      if (!event.repeat) talk.hold();
    } else if (event.repeat && !pans[key]) return;
    else if (key in pans && zoom.isZoomed) {
      event.preventDefault();
      zoom.pan(pans[key][0] / 8, pans[key][1] / 8);
    } else if (key in zooms) zoom.step(zooms[key]);
    else if (key === "?") openKeys();
    else if (Object.hasOwn(actions, key)) actions[key]();
  }, { signal });
  addEventListener("keyup", (event) => event.key === " " && talk.release(), { signal });
  addEventListener("blur", () => talk.release(), { signal });
}

/** The list of keys. */
export function openKeys() {
  openSheet(t("keys"), [h("dl", {}, Object.entries(names).map(([key, name]) => [h("dt", {}, key === "space" ? t("key.space") : key), h("dd", {}, t(name))]))], { name: "keys" });
}
