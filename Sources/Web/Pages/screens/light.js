import { clock, duration, percent, t } from "../texts/texts.js";
import { h, setAttribute, setText, slider } from "./dom.js";
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

/** Switches the first light on or off. */
export function toggleLight(watching, button) {
  return watching.order(button, "light.set", { state: "toggle" });
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
  const toggle = h("button", { class: "main", "data-light": id, onclick: () => set(toggle, { state: light.state === "off" ? "on" : "off" }) }, icon("light"), label);
  let last = 0;
  const slide = (value) => {
    if (Date.now() - last < slideMilliseconds) return;
    last = Date.now();
    set(null, { state: "on", brightness: value });
  };
  const dimmer = slider({ label: t("light.brightness"), min: 1, max: 100, text: percent, oninput: slide,
    onchange: (value) => set(null, { state: "on", brightness: value, ...keptTimer() }) });
  // An order without a time ends a timer that runs.
  const keptTimer = () => {
    const left = watching.remaining(light);
    return left ? { seconds: Math.max(1, Math.round(left)) } : {};
  };
  const left = h("p", { class: "big" });
  const why = h("p", { class: "dim" });
  const choices = minutes.map((value) => h("button", { "data-minutes": value, onclick: (event) =>
    set(event.currentTarget, { state: "on", ...(value && { seconds: value * 60 }) }) }, value ? duration(value * 60) : t("timer.none")));
  const timer = h("fieldset", {}, h("legend", {}, t("light.timer")), h("div", { class: "choices" }, choices));
  const element = h("div", { class: "stack" }, isNamed && h("h3", {}, id), why, toggle, dimmer.element, timer, left);

  return {
    element,
    update(now) {
      light = now;
      const isOn = light.state === "on" || light.state === "flashing";
      const obstacle = watching.obstacle(order) ?? (light.state === "missing" ? t("why.missing.light") : null);
      setText(label, isOn ? t("light.off") : t("light.on"));
      toggle.classList.toggle("on", isOn);
      setText(why, obstacle ?? "");
      why.hidden = !obstacle;
      for (const button of [toggle, ...choices]) setAttribute(button, "aria-disabled", obstacle && "true");
      dimmer.element.hidden = !light.dimmable;
      dimmer.input.disabled = Boolean(obstacle);
      dimmer.set(light.brightness);
      const seconds = isOn ? watching.remaining(light) : null;
      setText(left, seconds === null ? t(isOn ? "light.stays" : "light.isOff") : t("light.left", { time: clock(seconds) }));
      setAttribute(choices[0], "aria-pressed", String(isOn && seconds === null));
    },
  };
}
