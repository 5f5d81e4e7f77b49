import { t } from "../texts/texts.js";
import { alarmOverlay } from "./alarm.js";
import { movedTo, unreachedText } from "./away.js";
import { ownPage } from "./certificate.js";
import { cameraObstacle, switchCamera } from "./camera.js";
import { openDetails } from "./details.js";
import { h, setAttribute, setText } from "./dom.js";
import { hearingBadge, toggleSound } from "./hearing.js";
import { icon } from "./icons.js";
import { listenToKeys } from "./keys.js";
import { lightObstacle, openLights, toggleLight } from "./light.js";
import { loudFlash } from "./loud.js";
import { lullabyObstacle, openLullabies, toggleLullaby } from "./lullaby.js";
import { notice } from "./notices.js";
import { screenshotObstacle, takeScreenshot } from "./screenshot.js";
import { Stage } from "./stage.js";
import { statusLine } from "./status.js";
import { Talk } from "./talk.js";

/**
 * The screen of a child: picture, what is heard, status, and the large buttons.
 * @param {Watching} watching
 * @param {App} app
 * @returns {{element: HTMLElement, close: () => void}}
 */
export function watchScreen(watching, app) {
  const ending = new AbortController();
  const stage = new Stage(watching, { expand: () => app.goBack(), shrink: () => app.go("children") });
  const talk = new Talk(watching);
  const alarm = alarmOverlay(watching);
  const name = h("span");
  const back = h("button", { class: "plain name", onclick: () => app.go("children") }, icon("back"), name, h("span", { class: "unseen" }, t("children")));
  const round = (label, shape, action) => h("button", { class: "plain", "aria-label": t(label), title: t(label), onclick: action }, icon(shape));
  const top = h("div", { class: "top" }, back, round("small", "small", () => stage.toggleSmall()),
    round("full", "full", () => stage.toggleFull()), round("settings", "settings", () => app.go("settings")));
  const troubleText = h("span");
  const trouble = h("div", { class: "banner mild", role: "status" }, troubleText, ownPage(watching.child.origin));
  // What a weak connection leaves of the picture.
  const reduced = h("div", { class: "banner mild", role: "status" });
  const movedText = h("span");
  const movedLinks = h("span");
  const moved = h("div", { class: "banner mild moved", role: "status" }, movedText, " ", movedLinks);
  const info = h("div", { class: "info" }, alarm.banner, trouble, moved, reduced, hearingBadge(watching), statusLine(watching, () => openDetails(watching)));

  // Each with what stands in its way, the sheet or order it is for, and whether the child says that it is on.
  const actions = [
    action("light", "light", lightObstacle, openLights, ({ state }) => (state.lights ?? []).some((light) => ["on", "flashing"].includes(light.state))),
    action("lullaby", "music", lullabyObstacle, openLullabies, ({ state }) => (state.lullaby?.state ?? "stopped") !== "stopped"),
    action("camera", "switch", cameraObstacle, switchCamera),
    action("shot", "camera", screenshotObstacle, takeScreenshot),
  ];
  const [light, lullaby, camera, shot] = actions;
  const bar = h("div", { class: "actions", role: "group", "aria-label": t("actions") }, actions.map(({ button }) => button), talk.button, talk.latch);
  const element = h("section", { class: "watch", "aria-label": t("watch") }, top, stage.element, info, bar, loudFlash(watching, app.settings));

  function action(label, shape, obstacle, perform, isOn) {
    const why = h("span", { class: "unseen" });
    const button = h("button", { "data-action": label, onclick: run }, icon(shape), t(label), why);
    function run() {
      watching.monitor.unlock();
      const reason = obstacle(watching);
      if (reason) notice(reason);
      else perform(watching, button);
    }
    const toggle = (other) => () => {
      const reason = obstacle(watching);
      if (reason) notice(reason);
      else other(watching, button);
    };
    return { button, run, toggle, update() {
      const reason = obstacle(watching);
      setAttribute(button, "aria-disabled", reason && "true");
      setAttribute(button, "title", reason);
      const on = watching.watcher.phase === "live" && isOn?.(watching);
      button.classList.toggle("on", Boolean(on) && !reason);
      setText(why, reason ? ` – ${reason}` : on ? ` – ${t("on")}` : "");
    } };
  }

  const { signal } = ending;
  const update = () => {
    setText(name, watching.name);
    document.title = watching.name;
    for (const each of actions) each.update();
    const { phase } = watching.watcher;
    const left = phase === "live" ? reducedPicture(watching) : "";
    reduced.hidden = !left;
    setText(reduced, left);
    const unreached = unreachedText(watching);
    trouble.hidden = !unreached;
    setText(troubleText, unreached);
    const { text, origins } = movedTo(watching);
    moved.hidden = !text;
    setText(movedText, text);
    const links = origins.join(" ");
    if (movedLinks.dataset.links !== links) {
      movedLinks.dataset.links = links;
      movedLinks.replaceChildren(...origins.flatMap((origin) => [h("a", { href: `${origin}/`, target: "_blank", rel: "noopener" }, new URL(origin).host), " "]));
    }
  };
  watching.addEventListener("update", update, { signal });
  listenToKeys({
    l: light.toggle(toggleLight), n: lullaby.toggle(toggleLullaby), c: camera.run, s: shot.run, m: () => toggleSound(watching),
    f: () => stage.toggleFull(), p: () => stage.toggleSmall(), a: () => alarm.acknowledge(),
  }, { talk, zoom: stage.zoom, isOn: () => !stage.isSmall && !document.querySelector("dialog[open]"), signal });
  update();

  return { element, close() {
    ending.abort();
    stage.close();
    alarm.close();
    talk.release();
    talk.close();
    element.remove();
  } };
}

const reductions = new Set(["middle", "low", "stills", "none"]);

/** A sentence about the picture that a weak connection leaves; empty while it is the whole one. */
function reducedPicture({ control, watcher }) {
  const { rendition, reason } = control.heartbeat?.video?.picture ?? {};
  if (!reason || watcher.audioOnly || !reductions.has(rendition)) return "";
  return t(`picture.${reason === "relay-data" ? "used" : rendition}`);
}
