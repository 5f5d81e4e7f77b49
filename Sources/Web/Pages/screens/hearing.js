import { isFresh } from "../core/arrivals.js";
import { t } from "../texts/texts.js";
import { h, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";
import { announce } from "./notices.js";

/** Lowest level that the meter shows, dB below full scale. */
const floorDb = 70;

/**
 * "Hearing", or "NOT hearing" with the reason, by `Sound.verdict` alone; a tap mends what a tap can. With a level meter for
 * eyes; it moves only by what the child says.
 * @param {Watching} watching
 */
export function hearingBadge(watching) {
  const { sound } = watching;
  const title = h("b");
  const why = h("small");
  const bar = h("i");
  const meter = h("span", { class: "meter", role: "presentation" }, bar);
  let shown = -1;
  const icons = { true: icon("sound"), false: icon("mute") };
  const element = h("button", { class: "hearing", onclick: tap }, icons.false, h("span", {}, title, why), meter);
  let said = null;

  function tap() {
    toggleSound(watching);
  }

  function update() {
    const { hearing, reason } = sound.verdict;
    const isHearing = hearing && watching.watcher.phase === "live";
    element.classList.toggle("not", !isHearing);
    if (element.firstChild !== icons[isHearing]) element.firstChild.replaceWith(icons[isHearing]);
    setText(title, isHearing ? t("hearing.yes") : t("hearing.no"));
    setText(why, isHearing ? t("hearing.mute") : t(`hearing.${reason === "stopped" ? "tap" : reason ?? "reconnecting"}`));
    setAttribute(element, "aria-pressed", null);
    if (said !== isHearing) announce(said === null && isHearing ? "" : `${title.textContent}. ${isHearing ? "" : why.textContent}`);
    said = isHearing;
    level();
  }

  function level() {
    const share = isFresh(watching.watcher, Date.now()) ? levelShare(watching.control.level?.levelDb) : 0;
    if (Math.abs(share - shown) < 0.01) return;
    shown = share;
    bar.style.transform = `scaleX(${share})`;
  }
  watching.addEventListener("update", update);
  watching.addEventListener("level", level);
  update();
  return element;
}

/** 0 to 1 of a meter for a level in dB relative to full scale. */
export const levelShare = (levelDb) => Math.min(1, Math.max(0, 1 + (levelDb ?? -floorDb) / floorDb));

/** Starts the sound where a tap was needed or it was muted, else mutes it. To be called inside a tap or key. */
export function toggleSound(watching) {
  const { sound, monitor } = watching;
  monitor.unlock();
  if (sound.isBlocked || sound.muted || sound.volume === 0) {
    sound.muted = false;
    if (sound.volume === 0) sound.volume = 1;
    sound.play();
  } else sound.muted = true;
  watching.update();
}
