import { clock, duration, percent, t } from "../texts/texts.js";
import { h, setAttribute, setText, slider, times } from "./dom.js";
import { icon } from "./icons.js";
import { openSheet } from "./sheet.js";

const minutes = [0, 5, 15, 30, 60];
const order = { permissions: ["control"], command: "light.set" };
/** Orders while a slider moves: the child changes a light at most six times a second. */
const slideMilliseconds = 300;

/** Why lights cannot be switched now, as a sentence; null if they can. */
export function lightObstacle(watching) {
  const obstacle = watching.obstacle(order);
  if (obstacle) return obstacle;
  const lights = watching.state.lights ?? [];
  if (!lights.length) return t("why.no.light");
  return lights.every((light) => light.state === "missing") ? t("why.missing.light") : null;
}

/** A light of `state`. */
export const isLit = ({ state }) => state === "on" || state === "flashing";

/** For the next time that it is switched on; 0: it stays on. */
const chosenMinutes = (watching, { id } = {}) => watching.chosen.lights.get(id) ?? 0;
const lasting = (minutes) => (minutes ? { seconds: minutes * 60 } : {});

/** Switches the first light on or off. */
export function toggleLight(watching, button) {
  return watching.order(button, "light.set", { state: "toggle", ...lasting(chosenMinutes(watching, watching.state.lights[0])) });
}

/** Every light with switch, dimmer and timer; shows what the child confirmed. */
export function openLights(watching) {
  const box = h("div", { class: "stack" });
  const rows = new Map();
  const ending = new AbortController();
  openSheet(t("light"), [box], { name: "light", onclose: () => ending.abort() });

  function update() {
    const lights = watching.state.lights ?? [];
    for (const light of lights) {
      if (!rows.has(light.id)) {
        const row = lightRow(watching, light, lights.length > 1);
        rows.set(light.id, row);
        box.append(row.element);
      }
      rows.get(light.id).update(light);
    }
  }
  watching.addEventListener("update", update, { signal: ending.signal });
  update();
}

function lightRow(watching, { id }, isNamed) {
  const set = (button, parameters) => watching.order(button, "light.set", { id, ...parameters });
  let light;
  const label = h("span");
  const on = () => ({ state: "on", ...(light.state === "off" && lasting(chosenMinutes(watching, light))) });
  const toggle = h("button", { class: "main", "data-light": id, onclick: () => set(toggle, light.state === "off" ? on() : { state: "off" }) }, icon("light"), label);
  let last = 0;
  // A timer that runs goes on.
  const dim = (value) => set(null, { ...on(), brightness: value });
  const slide = (value) => {
    if (Date.now() - last < slideMilliseconds) return;
    last = Date.now();
    dim(value);
  };
  const dimmer = slider({ label: t("light.brightness"), min: 1, max: 100, text: percent, oninput: slide, onchange: dim });
  const left = h("p", { class: "big" });
  const why = h("p", { class: "dim" });
  // A choice for a light that is off switches nothing on.
  const timer = times(t("light.timer"), minutes, (value) => (value ? duration(value * 60) : t("timer.none")), (value, button) => {
    watching.chosen.lights.set(id, value);
    if (light.state === "on") set(button, { state: "on", ...lasting(value) });
    watching.update();
  });
  const element = h("div", { class: "stack" }, isNamed && h("h3", {}, id), why, toggle, dimmer.element, timer.element, left);

  return {
    element,
    update(now) {
      light = now;
      const isOn = isLit(light);
      const obstacle = watching.obstacle(order) ?? (light.state === "missing" ? t("why.missing.light") : null);
      setText(label, isOn ? t("light.off") : t("light.on"));
      toggle.classList.toggle("on", isOn);
      setText(why, obstacle ?? "");
      why.hidden = !obstacle;
      for (const button of [toggle, ...timer.buttons]) setAttribute(button, "aria-disabled", obstacle && "true");
      dimmer.element.hidden = !light.dimmable;
      dimmer.input.disabled = Boolean(obstacle);
      dimmer.set(light.brightness);
      const seconds = isOn ? watching.remaining(light) : null;
      setText(left, seconds === null ? t(isOn ? "light.stays" : "light.isOff") : t("light.left", { time: clock(seconds) }));
      timer.mark(light.state === "on" ? (light.timerSeconds ?? 0) / 60 : chosenMinutes(watching, light));
    },
  };
}
