import { t } from "../texts/texts.js";
import { h, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";
import { openSheet } from "./sheet.js";

const order = { permissions: ["control"], command: "camera.switch" };

/** Why there is no other camera to switch to, as a sentence; null if there is. */
export const cameraObstacle = (watching) => watching.obstacle(order)
  ?? ((watching.state.cameras ?? []).length < 2 ? t("why.one.camera") : null);

const pause = { permissions: ["control"], command: "camera.pause" };

/** Why the picture cannot be switched off or on, as a sentence; null if it can. */
export const privacyObstacle = (watching) => watching.obstacle(pause);

/** Switches the picture off for everybody, or on again. */
export const togglePrivacy = (watching, button) => watching.order(button, isPaused(watching) ? "camera.resume" : "camera.pause");

export const isPaused = ({ cameraState }) => cameraState === "off";

/** With two cameras the other one, at once; with more, a list. */
export function switchCamera(watching, button) {
  const cameras = watching.state.cameras ?? [];
  if (cameras.length > 2) return openCameras(watching);
  return watching.order(button, "camera.switch", { id: cameras.find((camera) => !camera.active)?.id });
}

function openCameras(watching) {
  const ending = new AbortController();
  const list = h("div", { class: "tracks" });
  const buttons = new Map();
  openSheet(t("camera"), [list], { name: "camera", onclose: () => ending.abort() });
  function update() {
    for (const camera of watching.state.cameras ?? []) {
      let button = buttons.get(camera.id);
      if (!button) {
        button = h("button", { onclick: (event) => watching.order(event.currentTarget, "camera.switch", { id: camera.id }) }, icon("switch"), h("span"));
        buttons.set(camera.id, button);
        list.append(button);
      }
      const name = camera.title ?? camera.id;
      setText(button.lastChild, camera.state === "missing" ? `${name}: ${t("device.missing")}` : name);
      setAttribute(button, "aria-pressed", String(camera.active));
      setAttribute(button, "aria-disabled", cameraObstacle(watching) && "true");
    }
  }
  watching.addEventListener("update", update, { signal: ending.signal });
  update();
}
