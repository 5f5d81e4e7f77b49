import { clock, duration, has, percent, t } from "../texts/texts.js";
import { h, setAttribute, setText, slider, times } from "./dom.js";
import { icon } from "./icons.js";
import { openSheet } from "./sheet.js";

/** The last is as long as the child plays. */
const minutes = [15, 30, 60, 120, 720];
const order = { permissions: ["control"], command: "lullaby.play" };

/** Why nothing can be played now, as a sentence; null if it can. */
export const lullabyObstacle = (watching) => watching.obstacle(order)
  ?? (watching.state.speaker?.state === "missing" ? t("why.missing.speaker") : null);

/** Built-in sounds have names in the page's language; others keep their own. */
const trackTitle = (track) => (has(`track.${track.id}`) ? t(`track.${track.id}`) : track.title);

const isPlaying = ({ state } = {}) => state === "playing" || state === "waiting";

/** As long as what plays, or as was chosen. */
function lasting(watching) {
  const { lullaby } = watching.state;
  return { seconds: isPlaying(lullaby) ? lullaby.timerSeconds : watching.chosen.lullaby * 60, loop: true };
}

/** Plays the last one, or stops. */
export function toggleLullaby(watching, button) {
  const { state = "stopped" } = watching.state.lullaby ?? {};
  return state === "stopped" ? watching.order(button, "lullaby.play", lasting(watching)) : watching.order(button, "lullaby.stop");
}

/** Tracks, volume, timer with what remains; shows what the child confirmed. */
export function openLullabies(watching) {
  const ending = new AbortController();
  const now = h("p", { class: "big", role: "status" });
  const left = h("p", { class: "dim" });
  const why = h("p", { class: "dim" });
  const give = (name, parameters) => (event) => watching.order(event.currentTarget, name, parameters);
  const playLabel = h("span");
  const icons = { true: icon("pause"), false: icon("play") };
  // Chosen for what is paused.
  let isChanged = false;
  const play = h("button", { class: "grow", "data-do": "pause", onclick: ({ currentTarget }) => {
    const { lullaby } = watching.state;
    if (isPlaying(lullaby)) watching.order(currentTarget, "lullaby.pause");
    else if (lullaby?.state === "paused" && !isChanged) watching.order(currentTarget, "lullaby.resume");
    else watching.order(currentTarget, "lullaby.play", { track: lullaby?.track, ...lasting(watching) });
  } }, icons.false, playLabel);
  const stop = h("button", { class: "grow", "data-do": "stop", onclick: give("lullaby.stop") }, icon("stop"), t("lullaby.stop"));
  const next = h("button", { class: "grow", onclick: give("lullaby.next") }, icon("next"), t("lullaby.next"));
  const volume = slider({ label: t("volume"), min: 0, max: 100, text: percent, onchange: (value) => watching.order(null, "lullaby.volume", { volume: value }) });
  // A choice starts nothing.
  const timer = times(t("lullaby.timer"), minutes, (value) => duration(value * 60), (value, button) => {
    const { lullaby } = watching.state;
    watching.chosen.lullaby = value;
    isChanged = true;
    if (isPlaying(lullaby)) watching.order(button, "lullaby.play", { track: lullaby.track, seconds: value * 60, loop: true });
    watching.update();
  });
  const list = h("div", { class: "tracks" });
  let tracks = [];
  const buttons = new Map();
  openSheet(t("lullaby"), [why, now, left, h("div", { class: "row" }, play, stop, next), volume.element,
    timer.element, h("h3", {}, t("lullaby.tracks")), list],
    { name: "lullaby", onclose: () => ending.abort() });
  watching.addEventListener("update", update, { signal: ending.signal });
  update();
  load();

  async function load() {
    if (watching.obstacle(order)) return;
    tracks = (await watching.order(list, "lullaby.list"))?.tracks ?? [];
    for (const track of tracks) {
      const button = h("button", { "data-track": track.id, onclick: ({ currentTarget }) => watching.order(currentTarget, "lullaby.play", { track: track.id, ...lasting(watching) }) },
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
    left.hidden = seconds === null;
    if (!left.hidden) setText(left, t("lullaby.left", { time: clock(seconds) }));
    const plays = isPlaying(lullaby);
    setText(playLabel, t(plays ? "lullaby.pause" : "lullaby.play"));
    if (play.firstChild !== icons[plays]) play.firstChild.replaceWith(icons[plays]);
    for (const button of [play, next, ...timer.buttons, ...buttons.values()]) setAttribute(button, "aria-disabled", obstacle && "true");
    setAttribute(stop, "aria-disabled", (watching.obstacle(order) || !isOn) && "true");
    volume.input.disabled = Boolean(obstacle);
    volume.input.max = Number(lullaby.maximumVolume) || 100;
    volume.set(lullaby.volume);
    if (plays) isChanged = false;
    timer.mark(plays || isOn && !isChanged ? lullaby.timerSeconds / 60 : watching.chosen.lullaby);
    for (const [id, button] of buttons) setAttribute(button, "aria-pressed", String(isOn && id === lullaby.track));
  }
}
