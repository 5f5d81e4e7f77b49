import { clock, duration, has, percent, t } from "../texts/texts.js";
import { h, setAttribute, setText, slider } from "./dom.js";
import { icon } from "./icons.js";
import { openSheet } from "./sheet.js";

const minutes = [15, 30, 60, 120, 0];
const order = { permissions: ["control"], command: "lullaby.play" };

/** Why nothing can be played now, as a sentence; null if it can. */
export const lullabyObstacle = (watching) => watching.obstacle(order)
  ?? (watching.state.speaker?.state === "missing" ? t("why.missing.speaker") : null);

/** Built-in sounds have names in the page's language; others keep their own. */
const trackTitle = (track) => (has(`track.${track.id}`) ? t(`track.${track.id}`) : track.title);

/** Plays the last one, or stops. */
export function toggleLullaby(watching, button) {
  const { state } = watching.state.lullaby ?? {};
  return watching.order(button, state === "stopped" || !state ? "lullaby.play" : "lullaby.stop");
}

/** Tracks, volume, timer with what remains; shows what the child confirmed. */
export function openLullabies(watching) {
  const ending = new AbortController();
  const now = h("p", { class: "big", role: "status" });
  const left = h("p", { class: "dim" });
  const why = h("p", { class: "dim" });
  const give = (name, parameters) => (event) => watching.order(event.currentTarget, name, parameters);
  const playLabel = h("span");
  const play = h("button", { class: "grow", "data-do": "pause", onclick: (event) => {
    const { state } = watching.state.lullaby ?? {};
    watching.order(event.currentTarget, state === "paused" ? "lullaby.resume" : state === "stopped" ? "lullaby.play" : "lullaby.pause");
  } }, icon("play"), playLabel);
  const stop = h("button", { class: "grow", "data-do": "stop", onclick: give("lullaby.stop") }, icon("stop"), t("lullaby.stop"));
  const next = h("button", { class: "grow", onclick: give("lullaby.next") }, icon("next"), t("lullaby.next"));
  const volume = slider({ label: t("volume"), min: 0, max: 100, text: percent, onchange: (value) => watching.order(null, "lullaby.volume", { volume: value }) });
  const choices = minutes.map((value) => h("button", { "data-minutes": value, onclick: (event) =>
    watching.order(event.currentTarget, "lullaby.play", { track: watching.state.lullaby?.track, seconds: value * 60, loop: true }) },
    value ? duration(value * 60) : t("timer.none")));
  const list = h("div", { class: "tracks" });
  let tracks = [];
  const buttons = new Map();
  openSheet(t("lullaby"), [why, now, left, h("div", { class: "row" }, play, stop, next), volume.element,
    h("fieldset", {}, h("legend", {}, t("lullaby.timer")), h("div", { class: "choices" }, choices)), h("h3", {}, t("lullaby.tracks")), list],
    { name: "lullaby", onclose: () => ending.abort() });
  watching.addEventListener("update", update, { signal: ending.signal });
  update();
  load();

  async function load() {
    if (watching.obstacle(order)) return;
    tracks = (await watching.order(list, "lullaby.list"))?.tracks ?? [];
    for (const track of tracks) {
      const button = h("button", { "data-track": track.id, onclick: give("lullaby.play", { track: track.id, loop: true }) },
        icon("music"), h("span", {}, trackTitle(track)), track.seconds && h("small", {}, clock(track.seconds)));
      buttons.set(track.id, button);
      list.append(button);
    }
    update();
  }

  function update() {
    const lullaby = watching.state.lullaby ?? { state: "stopped", volume: 0 };
    const isOn = lullaby.state !== "stopped";
    const obstacle = lullabyObstacle(watching);
    const track = tracks.find(({ id }) => id === lullaby.track);
    setText(why, obstacle ?? "");
    why.hidden = !obstacle;
    setText(now, isOn ? `${t(`lullaby.${lullaby.state}`)}: ${track ? trackTitle(track) : lullaby.track ?? ""}` : t("lullaby.stopped"));
    const seconds = isOn ? watching.remaining(lullaby) : null;
    left.hidden = !isOn;
    setText(left, seconds === null ? t("lullaby.endless") : t("lullaby.left", { time: clock(seconds) }));
    setText(playLabel, t(lullaby.state === "playing" || lullaby.state === "waiting" ? "lullaby.pause" : "lullaby.play"));
    for (const button of [play, next, ...choices, ...buttons.values()]) setAttribute(button, "aria-disabled", obstacle && "true");
    setAttribute(stop, "aria-disabled", (watching.obstacle(order) || !isOn) && "true");
    volume.input.disabled = Boolean(obstacle);
    volume.set(lullaby.volume);
    setAttribute(choices.at(-1), "aria-pressed", String(isOn && seconds === null));
    for (const [id, button] of buttons) setAttribute(button, "aria-pressed", String(isOn && id === lullaby.track));
  }
}
