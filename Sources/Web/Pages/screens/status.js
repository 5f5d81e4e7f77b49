import { clock, duration, moment, percent, t, tenths } from "../texts/texts.js";
import { h, setText } from "./dom.js";
import { icon } from "./icons.js";
import { isLit } from "./light.js";
import { announce } from "./notices.js";

/** Who else listens, by name; of more, how many. */
const mostNames = 3;

/**
 * The line below the picture: live or how old, delay, light, lullaby, who else watches. Opens the details.
 * @param {Watching} watching
 * @param {() => void} open
 */
export function statusLine(watching, open) {
  const state = h("span", { class: "state" });
  const delay = h("span");
  const parts = { light: h("span"), music: h("span"), people: h("span") };
  const texts = {};
  for (const [name, part] of Object.entries(parts)) part.append(icon(name), texts[name] = h("span"));
  const relayed = h("span", {}, t("status.relayed"));
  const met = h("span", { class: "met" }, t("away.met"));
  const guest = h("span", { class: "guest" });
  const element = h("button", { class: "status", onclick: open }, state, delay, ...Object.values(parts), guest, met, relayed, h("span", { class: "unseen" }, t("details")));
  let said = "";

  function update() {
    const { watcher, isLive } = watching;
    // What the child said before the connection broke need not be true any more.
    const child = watcher.phase === "live" ? watching.state : {};
    const text = liveText(watching);
    state.classList.toggle("live", isLive);
    setText(state, text);
    const word = isLive ? t("status.live") : watching.hasNoCamera ? text : t(`phase.${watcher.phase}`);
    if (said && said !== word) announce(word);
    said = word;
    const { statistics } = watcher;
    delay.hidden = !isLive || !statistics?.latencyMs;
    if (!delay.hidden) setText(delay, t("status.delay", { time: tenths(Math.max(0.1, statistics.latencyMs / 1000)) }));
    show("light", lightText(watching, (child.lights ?? []).find(isLit)));
    show("music", lullabyText(watching, child.lullaby));
    const others = (child.viewers ?? []).filter((viewer) => viewer.id !== watching.control.hello?.viewer);
    show("people", others.slice(0, mostNames).map(({ name }) => name).join(", ") + (others.length > mostNames ? ` +${others.length - mostNames}` : ""), t("status.others", { n: others.length }));
    relayed.hidden = !statistics?.relayed;
    const { expiresAt } = watching.child;
    setText(guest, expiresAt ? `${t("guest")} ${t("until", { when: moment(expiresAt) })}` : "");
    guest.hidden = !expiresAt;
    met.hidden = !isLive || !watcher.isMet;
  }

  function show(name, text, spoken) {
    parts[name].hidden = !text;
    setText(texts[name], text);
    if (spoken) parts[name].title = spoken;
  }
  watching.addEventListener("update", update);
  update();
  return element;
}

/** "Live", or since when not. */
export function liveText(watching) {
  const { watcher, isLive, pictureAt } = watching;
  if (isLive) return watcher.audioOnly ? t("status.sound") : t("status.live");
  if (watching.hasNoCamera) return t(watching.cameraState === "off" ? "privacy.now" : "alarm.camera");
  if (watcher.phase === "live" && !watcher.audioOnly) return pictureAt ? t("status.frozen", { age: duration((Date.now() - pictureAt) / 1000) }) : t("status.waiting");
  const age = (Date.now() - watcher.since) / 1000;
  const text = t(`phase.${watcher.phase}`);
  return age >= 3 ? `${text} · ${duration(age)}` : text;
}

export const lightText = (watching, light) => {
  if (!light) return "";
  const left = watching.remaining(light);
  return (light.dimmable ? percent(light.brightness) : t("on")) + (left === null ? "" : ` · ${clock(left)}`);
};

export function lullabyText(watching, lullaby) {
  if (!lullaby || lullaby.state === "stopped") return "";
  const left = watching.remaining(lullaby);
  const name = t(`lullaby.${lullaby.state}`);
  return left === null ? name : `${name} · ${clock(left)}`;
}
