import { percent, t } from "../texts/texts.js";
import { h, setText } from "./dom.js";

/** Below this share a phone does not last the night. */
const low = 0.3;

/**
 * What a phone needs to watch all night: said once, that a locked one may fall silent; and each time that its battery becomes low.
 * @param {Watching} watching
 * @param {AbortSignal} signal
 */
export function nightTip(watching, signal) {
  const { app } = watching;
  const text = h("span");
  const element = h("div", { class: "banner mild tip", role: "status", hidden: true }, text, h("button", { "data-do": "tip", onclick: dismiss }, t("tip.seen")));
  let battery = null;
  let isDismissed = false;
  // Once there, it stays: nothing moves under a finger because a connection stutters.
  let hasPicture = false;

  async function dismiss() {
    isDismissed = true;
    update();
    await app.set("knowsLock", true);
  }

  function update() {
    const isLow = battery !== null && !battery.charging && battery.level <= low;
    if (!isLow && app.settings.knowsLock) isDismissed = false;
    hasPicture ||= watching.isLive;
    const shown = hasPicture && !isDismissed && (isLow || !app.settings.knowsLock);
    element.hidden = !shown;
    if (!shown) return;
    const unplugged = battery !== null && !battery.charging && t("tip.battery", { percent: percent(Math.round(100 * battery.level)) });
    setText(text, [!app.settings.knowsLock && t("tip.lock"), unplugged].filter(Boolean).join(" "));
  }

  // W3C Battery Status; not in Firefox and Safari.
  navigator.getBattery?.().then((found) => {
    battery = found;
    for (const name of ["chargingchange", "levelchange"]) battery.addEventListener(name, update, { signal });
    update();
  }, () => {});
  watching.addEventListener("update", update, { signal });
  return element;
}
