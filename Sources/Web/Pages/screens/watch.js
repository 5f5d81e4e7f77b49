import { has, t, timeOfDay } from "../texts/texts.js";
import { alarmOverlay } from "./alarm.js";
import { movedTo, unreachedText } from "./away.js";
import { ownPage } from "./certificate.js";
import { cameraObstacle, isPaused, privacyObstacle, switchCamera, togglePrivacy } from "./camera.js";
import { openDetails } from "./details.js";
import { h, setAttribute, setText } from "./dom.js";
import { hearingBadge, toggleSound } from "./hearing.js";
import { icon } from "./icons.js";
import { listenToKeys } from "./keys.js";
import { isLit, lightObstacle, openLights, toggleLight } from "./light.js";
import { later } from "./loader.js";
import { loudFlash } from "./loud.js";
import { lullabyObstacle, openLullabies, toggleLullaby } from "./lullaby.js";
import { notice } from "./notices.js";
import { recentHours } from "./recent.js";
import { screenshotObstacle, takeScreenshot } from "./screenshot.js";
import { Stage } from "./stage.js";
import { lightText, lullabyText, statusLine } from "./status.js";
import { Talk } from "./talk.js";
import { nightTip } from "./tip.js";

/** What lies over the picture stays for so long, ms. */
const restMilliseconds = 4000;

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
  // The picture dimmed, then off; the clock stays.
  const nightModes = ["", "dim", "off"];
  const clock = h("time", { class: "clock", "aria-hidden": "true" });
  const zoomed = h("button", { class: "plain", hidden: true, "aria-label": t("zoom"), onclick: () => stage.zoom.step(0) });
  stage.zoom.onchange = (scale) => {
    zoomed.hidden = scale === 1;
    setText(zoomed, `${Math.round(10 * scale) / 10} ×`);
  };
  stage.element.append(clock);
  const nextNight = () => {
    setAttribute(element, "data-night", nightModes[(nightModes.indexOf(element.dataset.night ?? "") + 1) % nightModes.length] || null);
    dispatchEvent(new Event("night"));
  };
  const top = h("div", { class: "top" }, back, zoomed, round("stage.night", "moon", nextNight), round("small", "small", () => stage.toggleSmall()),
    round("full", "full", () => stage.toggleFull()), round("settings", "settings", () => app.go("settings")));
  const troubleText = h("span");
  const trouble = h("div", { class: "banner mild", role: "status" }, troubleText, ownPage(watching.child.origin));
  // What a weak connection leaves of the picture.
  const reduced = h("div", { class: "banner mild", role: "status" });
  const movedText = h("span");
  const movedLinks = h("span");
  const moved = h("div", { class: "banner mild moved", role: "status" }, movedText, " ", movedLinks);
  const scheduled = h("p", { class: "scheduled" });
  const info = h("div", { class: "info" }, alarm.banner, trouble, moved, reduced, nightTip(watching, ending.signal), recentHours(watching, ending.signal), hearingBadge(watching), statusLine(watching, () => openDetails(watching)), scheduled);

  // Each with what stands in its way, the sheet or order it is for, whether the child says that it is on, and when it is not shown at all.
  const { can } = watching;
  const actions = [
    action("light", "light", lightObstacle, openLights, { quick: toggleLight, text: ({ state }) => lightText(watching, (state.lights ?? []).find(isLit)), isOff: () => !can("control") }),
    action("lullaby", "music", lullabyObstacle, openLullabies, { quick: toggleLullaby, text: ({ state }) => lullabyText(watching, state.lullaby), isOff: () => !can("control") }),
    action("shot", "camera", screenshotObstacle, takeScreenshot, { isOff: () => !can("view") || !can("control") }),
    action("camera", "switch", cameraObstacle, switchCamera, { isOff: ({ control, state }) => !can("control") || Boolean(control.hello) && (state.cameras ?? []).length < 2 }),
    action("privacy", "privacy", privacyObstacle, togglePrivacy, { text: () => isPaused(watching) && t("on"), isOff: () => !can("control") || !watching.knows("camera.pause") }),
    action("night", "bars", ({ obstacle }) => obstacle({}), async (...options) => (await later()).openNight(...options), { isOff: () => !watching.knows("report.get") }),
    action("proofs", "ear", ({ obstacle }) => obstacle({}), async (...options) => (await later()).openProofs(...options), { isOff: () => !watching.knows("hearing.test") }),
    action("recordings", "film", ({ obstacle }) => obstacle({}), async (...options) => (await later()).openRecordings(...options),
      { isOff: () => !watching.knows("recordings.list") || !can("recordings") && !can("admin") }),
  ];
  const [light, lullaby, shot, camera] = actions;
  const bar = h("div", { class: "actions", role: "group", "aria-label": t("actions") }, light.element, lullaby.element, talk.button, talk.latch,
    h("div", { class: "tiles" }, actions.slice(2).map(({ element }) => element)));
  const element = h("section", { class: "watch", "aria-label": t("watch") }, top, stage.element, info, bar, loudFlash(watching, app.settings));

  /** A tile; with `quick` a wide one, whose larger part does the usual thing at once. */
  function action(label, shape, obstacle, perform, { quick, text, isOff }) {
    const why = h("span", { class: "unseen" });
    const small = h("small");
    const does = (what) => () => {
      watching.monitor.unlock();
      const reason = obstacle(watching);
      if (reason) notice(reason);
      else what(watching, large);
    };
    const run = does(perform);
    const name = has(`${label}.short`) ? t(`${label}.short`) : label === "night" && !isDay() ? t("night.now") : t(label);
    const tile = h("button", { "data-action": label, onclick: run }, quick ? [icon("settings"), h("span", { class: "unseen" }, t(label), " …")] : [icon(shape), name], !quick && why);
    const large = quick ? h("button", { "data-do": label, onclick: does(quick) }, icon(shape), h("span", {}, t(label), small), why) : tile;
    return { element: quick ? h("div", { class: "wide" }, large, tile) : tile, run, toggle: does(quick ?? perform), update() {
      const reason = obstacle(watching);
      const shown = watching.watcher.phase === "live" && !reason && text?.(watching) || "";
      (quick ? tile.parentElement : tile).hidden = isOff(watching);
      for (const button of [tile, large]) {
        setAttribute(button, "aria-disabled", reason && "true");
        setAttribute(button, "title", reason);
        button.classList.toggle("on", Boolean(shown));
      }
      setText(small, shown);
      setText(why, reason ? ` – ${reason}` : shown ? ` – ${t("on")}` : "");
    } };
  }

  const { signal } = ending;
  const update = () => {
    setText(name, watching.name);
    setText(clock, timeOfDay(Date.now()));
    document.title = watching.name;
    for (const each of actions) each.update();
    const { phase } = watching.watcher;
    const left = phase === "live" ? reducedPicture(watching) : "";
    reduced.hidden = !left;
    setText(reduced, left);
    const next = phase === "live" ? (watching.state.schedule ?? []).map(scheduledText).join(" · ") : "";
    scheduled.hidden = !next;
    setText(scheduled, next);
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
  // What lies over the picture goes when nobody touches anything; the first touch brings it back.
  let rest = 0;
  const wake = () => {
    element.classList.remove("calm");
    clearTimeout(rest);
    rest = setTimeout(() => element.classList.add("calm"), restMilliseconds);
  };
  for (const name of ["pointerdown", "pointermove", "keydown", "focusin"]) addEventListener(name, wake, { signal });
  wake();
  listenToKeys({
    l: light.toggle, n: lullaby.toggle, c: camera.run, s: shot.run, m: () => toggleSound(watching),
    f: () => stage.toggleFull(), p: () => stage.toggleSmall(), a: () => alarm.acknowledge(),
  }, { talk, zoom: stage.zoom, isOn: () => !stage.isSmall && !document.querySelector("dialog[open]"), signal });
  update();

  return { element, close() {
    ending.abort();
    clearTimeout(rest);
    stage.close();
    alarm.close();
    talk.release();
    talk.close();
    element.remove();
    dispatchEvent(new Event("night"));
  } };
}

/** No night is under way: as `lastNight`. */
const isDay = (hour = new Date().getHours()) => hour >= 10 && hour < 18;

const reductions = new Set(["middle", "low", "stills", "none"]);

/** A sentence about the picture that a weak connection leaves; empty while it is the whole one. */
function reducedPicture({ control, watcher }) {
  const { rendition, reason } = control.heartbeat?.video?.picture ?? {};
  if (!reason || watcher.audioOnly || !reductions.has(rendition)) return "";
  return t(`picture.${reason === "relay-data" ? "used" : rendition}`);
}

/** "18:45 picture off", by the camera's clock. */
function scheduledText({ at, camera, light, lullaby }) {
  const [kind, state] = Object.entries({ camera, light, lullaby }).find(([, value]) => value !== undefined) ?? [];
  return kind ? t(`schedule.${kind}.${state === "off" ? "off" : "on"}`, { at }) : "";
}
