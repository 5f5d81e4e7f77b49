import { t } from "../texts/texts.js";
import { h } from "./dom.js";
import { announce } from "./notices.js";

/** A flash and a shake for parents who cannot hear, or have muted: at most one every two seconds (WCAG 2.3.1). */
const pauseMilliseconds = 2000;
const pattern = [200, 100, 200];

/**
 * Flashes the edge of the screen and vibrates above the level that was set.
 * @param {Watching} watching
 * @param {{loudDb: number|null, flash: boolean, vibrate: boolean}} settings read at each level
 * @returns {HTMLElement} the edge
 */
export function loudFlash(watching, settings) {
  const edge = h("div", { class: "flash", "aria-hidden": "true" });
  edge.addEventListener("animationend", () => edge.classList.remove("now"));
  let last = 0;
  watching.addEventListener("level", () => {
    const level = watching.control.level?.levelDb;
    if (settings.loudDb === null || level === undefined || level < settings.loudDb || Date.now() - last < pauseMilliseconds) return;
    last = Date.now();
    if (settings.flash) {
      edge.classList.add("now");
      // Without animation (reduced motion) it just goes.
      setTimeout(() => edge.classList.remove("now"), 800);
    }
    if (settings.vibrate) navigator.vibrate?.(pattern);
    announce(t("loud"));
  });
  return edge;
}
