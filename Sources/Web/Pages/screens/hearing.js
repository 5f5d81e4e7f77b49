import { isFresh } from "../core/arrivals.js";
import { clock, duration, percent, t } from "../texts/texts.js";
import { system } from "./certificate.js";
import { h, setAttribute, setText, slider, times } from "./dom.js";
import { icon } from "./icons.js";
import { announce } from "./notices.js";
import { openSheet } from "./sheet.js";

/** Lowest level that the meter shows, dB below full scale. */
const floorDb = 70;

/** A finger that stays for so long asks for more, ms. */
const longPress = 600;
const muteMinutes = [20, 60];
const boosts = [1, 2, 4];

/**
 * "Hearing", or "NOT hearing" with the reason, by `Sound.verdict` alone; a tap fixes what a tap can. With a level meter for
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
  const share = h("small");
  const more = h("button", { class: "volume", "data-do": "volume", "aria-label": t("volume.phone"), onclick: () => openVolume(watching) }, icon("sound"), share);
  let said = null;
  let pressedAt = 0;
  let wasLong = false;
  element.addEventListener("pointerdown", () => (pressedAt = performance.now()));
  // Once the finger is off it: nothing of the sheet lies under it.
  element.addEventListener("pointerup", () => {
    wasLong = performance.now() - pressedAt > longPress;
    if (wasLong) setTimeout(openVolume, 50, watching);
  });
  element.addEventListener("contextmenu", (event) => event.preventDefault());

  function tap() {
    if (!wasLong) toggleSound(watching);
    wasLong = false;
  }

  function update() {
    const { hearing } = sound.verdict;
    const isHearing = hearing && watching.watcher.phase === "live";
    element.classList.toggle("not", !isHearing);
    if (element.firstChild !== icons[isHearing]) element.firstChild.replaceWith(icons[isHearing]);
    setText(title, isHearing ? t("hearing.yes") : t("hearing.no"));
    setText(why, isHearing ? t("hearing.mute") : whyNot(sound));
    setText(share, system() === "iphone" && sound.boost === 1 ? "" : percent(Math.round(100 * sound.volume * sound.boost)));
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
  return h("div", { class: "sound" }, element, more);
}

/** This phone's volume, how much louder a weak microphone is made, and for how long it is to be quiet. */
export function openVolume(watching) {
  const ending = new AbortController();
  const { sound, monitor } = watching;
  const volume = slider({ label: t("volume.phone"), min: 0, max: 100, text: percent, oninput: (value) => {
    sound.volume = value / 100;
    watching.update();
  } });
  // iPhones leave it to their buttons.
  volume.element.hidden = system() === "iphone";
  const boost = times(t("volume.boost"), boosts, (value) => percent(100 * value), (value) => {
    monitor.unlock();
    watching.app.set("boost", value);
    watching.update();
  });
  const mute = (until) => {
    sound.muteUntil(until);
    sheet.close();
    watching.update();
  };
  const morning = new Date();
  if (morning.getHours() >= 7) morning.setDate(morning.getDate() + 1);
  morning.setHours(7, 0, 0, 0);
  const choices = h("div", { class: "choices" }, muteMinutes.map((minutes) => h("button", { "data-mute": minutes, onclick: () => mute(Date.now() + minutes * 60_000) }, duration(minutes * 60))),
    h("button", { "data-mute": "morning", onclick: () => mute(morning.getTime()) }, t("volume.morning")));
  const unmute = h("button", { onclick: () => mute(null) }, t("alarm.unmute"));
  const sheet = openSheet(t("volume"), [volume.element, boost.element, h("p", { class: "dim" }, t("volume.help")), h("fieldset", {}, h("legend", {}, t("volume.mute")), choices),
    h("p", { class: "dim" }, t("volume.alarms")), unmute], { name: "volume", onclose: () => ending.abort() });
  const update = () => {
    volume.set(Math.round(sound.volume * 100));
    boost.mark(sound.boost);
    unmute.hidden = sound.mutedUntil === null;
  };
  watching.addEventListener("update", update, { signal: ending.signal });
  update();
}

/** 0 to 1 of a meter for a level in dB relative to full scale. */
export const levelShare = (levelDb) => Math.min(1, Math.max(0, 1 + (levelDb ?? -floorDb) / floorDb));

/** Why nobody hears it, and what to do. One that was muted for good does not say for how long. */
export function whyNot({ verdict: { reason }, mutedUntil }) {
  const name = reason === "stopped" || reason === "muted" && mutedUntil === Infinity ? "tap" : reason ?? "reconnecting";
  return t(`hearing.${name}`, { time: clock((mutedUntil - Date.now()) / 1000) });
}

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
