import { canWait } from "../core/buffer.js";
import { chooseLanguage, chosenLanguage, languages, t } from "../texts/texts.js";
import { awaySettings } from "./meetings.js";
import { certificateHelp } from "./trust.js";
import { diagnosis } from "./diagnosis.js";
import { h, labelled, setAttribute, slider } from "./dom.js";
import { openKeys } from "./keys.js";
import { proposedName } from "./opening.js";
import { pairedPeople, pairsObstacle } from "./pairs.js";
import { pushSettings } from "./push.js";
import { confirmed } from "./sheet.js";
import { screenHelp } from "./stage.js";

/** Below this the loud-sound signal is off, dB. */
const quietestDb = -61;

/** What a function makes, again when `key` changes: the camera may greet after the screen was opened. */
function renewed(watching, key, make) {
  let [known, element] = [key(), make()];
  const ending = new AbortController();
  watching.addEventListener("update", () => {
    if (!element.isConnected) return ending.abort();
    if (key() === known) return;
    known = key();
    const next = make();
    element.replaceWith(next);
    element = next;
  }, { signal: ending.signal });
  return element;
}

/**
 * Four pages: alarms, people, this device, help.
 * @param {App} app
 * @param {Watching|null} watching
 */
export function settingsScreen(app, watching) {
  const { settings } = app;
  const folded = (title, ...content) => h("details", { class: "card" }, h("summary", {}, h("h2", {}, title)), h("div", { class: "stack" }, content));
  const card = (title, ...content) => h("section", { class: "card stack" }, h("h2", {}, title), ...content);
  const name = h("input", { maxlength: "60", autocomplete: "off", onchange: () => app.set("name", name.value.trim() || settings.name || proposedName()) });
  name.value = settings.name || proposedName();
  const language = h("select", { onchange: () => chooseLanguage(language.value) },
    h("option", { value: "" }, t("language.own")), Object.entries(languages).map(([value, { name }]) => h("option", { value, lang: value }, name)));
  language.value = chosenLanguage();

  const check = (key, label, note, obstacle) => {
    const box = h("input", { type: "checkbox", "data-setting": key, onchange: () => app.set(key, box.checked) });
    box.checked = settings[key] && !obstacle;
    box.disabled = Boolean(obstacle);
    return h("label", { class: obstacle ? "check dim" : "check" }, box, h("span", {}, label, " ", (obstacle ?? note) && h("small", {}, obstacle ?? note)));
  };
  const loud = slider({ label: t("loud.level"), min: quietestDb, max: -5, text: (value) => (value === quietestDb ? t("off") : `${value} dB`),
    onchange: (value) => app.set("loudDb", value === quietestDb ? null : value) });
  loud.input.dataset.setting = "loud";
  loud.set(settings.loudDb ?? quietestDb);
  const test = h("button", { "data-do": "alarm", disabled: !watching, onclick: () => {
    watching.monitor.unlock();
    watching.monitor.test();
  } }, t("alarm.try"));
  const child = watching?.child;
  const forget = child && h("button", { class: "danger", "data-do": "forget", onclick: async () => {
    if (await confirmed(t("forget"), t("forget.sure", { name: watching.name }), t("forget"))) app.forget(child);
  } }, t("forget"));

  const pages = {
    alarms: [card(t("alarms"), h("p", { class: "dim" }, t("alarms.help")), watching?.screenTurnsOff && h("p", { class: "problem" }, screenHelp().join(" ")), check("pictureRings", t("alarms.picture")), check("microphoneRings", t("alarms.microphone")),
      check("startsLoud", t("alarms.loud")), test), watching && card(t("push"), pushSettings(app, watching)),
    card(t("loud.title"), loud.element, check("flash", t("loud.flash")), navigator.vibrate && check("vibrate", t("loud.vibrate")))],
    people: [watching ? renewed(watching, () => pairsObstacle(watching), () => pairedPeople(watching, card)) : card(t("pairs"), h("p", { class: "dim" }, t("why.offline")))],
    device: [card(t("phone"), labelled(t("phone.name"), name), labelled(t("language"), language)), card(t("steady"), check("steadySound", t("steady.on"), t("steady.help"), canWait() ? null : t("steady.no"))),
      card(t("more"), h("button", { "data-do": "add", onclick: () => app.go("opening") }, t("open.again")), forget)],
    help: [folded(t("certificate"), ...certificateHelp(app)), watching && renewed(watching, () => JSON.stringify(child.away), () => card(t("away"), ...awaySettings(watching, app))),
      watching && folded(t("diagnosis"), diagnosis(watching, app)), card(t("more"), h("button", { onclick: openKeys }, t("keys")))],
  };
  const sections = Object.entries(pages).map(([page, content]) => h("div", { "data-page": page }, content));
  const tabs = Object.keys(pages).map((page) => h("button", { "data-tab": page, onclick: () => show(page) }, t(`settings.${page}`)));
  function show(page) {
    app.settingsPage = page;
    sections.forEach((section) => (section.hidden = section.dataset.page !== page));
    tabs.forEach((tab) => setAttribute(tab, "aria-pressed", String(tab.dataset.tab === page)));
  }
  show(app.settingsPage ?? "alarms");
  return h("section", { class: "screen" },
    h("div", { class: "row" }, h("h1", { tabindex: "-1", class: "grow" }, t("settings")), h("button", { onclick: () => app.goBack() }, t("done"))),
    h("div", { class: "choices tabs" }, tabs), sections);
}
