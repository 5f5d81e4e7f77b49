import { canWait } from "../core/buffer.js";
import { chooseLanguage, chosenLanguage, languages, t } from "../texts/texts.js";
import { awaySettings } from "./away.js";
import { certificateHelp } from "./certificate.js";
import { diagnosis } from "./diagnosis.js";
import { h, labelled, slider } from "./dom.js";
import { openKeys } from "./keys.js";
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
 * This phone, alarms, who is paired, diagnosis, certificate.
 * @param {App} app
 * @param {Watching|null} watching
 */
export function settingsScreen(app, watching) {
  const { settings } = app;
  const card = (title, ...content) => h("section", { class: "card stack" }, h("h2", {}, title), ...content);
  const name = h("input", { maxlength: "60", autocomplete: "off", onchange: () => app.set("name", name.value.trim() || settings.name) });
  name.value = settings.name;
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

  return h("section", { class: "screen" },
    h("div", { class: "row" }, h("h1", { tabindex: "-1", class: "grow" }, t("settings")), h("button", { onclick: () => app.goBack() }, t("done"))),
    card(t("phone"), labelled(t("phone.name"), name), labelled(t("language"), language)),
    card(t("alarms"), h("p", { class: "dim" }, t("alarms.help")), watching?.screenTurnsOff && h("p", { class: "problem" }, screenHelp().join(" ")), check("pictureRings", t("alarms.picture")), check("microphoneRings", t("alarms.microphone")),
      check("startsLoud", t("alarms.loud")), test),
    watching && card(t("push"), pushSettings(app, watching)),
    card(t("loud.title"), loud.element, check("flash", t("loud.flash")), navigator.vibrate && check("vibrate", t("loud.vibrate"))),
    card(t("steady"), check("steadySound", t("steady.on"), t("steady.help"), canWait() ? null : t("steady.no"))),
    watching && renewed(watching, () => JSON.stringify(child.away), () => card(t("away"), ...awaySettings(watching, app))),
    watching && renewed(watching, () => pairsObstacle(watching), () => pairedPeople(watching, card)),
    watching && card(t("diagnosis"), diagnosis(watching, app)),
    card(t("certificate"), ...certificateHelp(app)),
    card(t("more"), h("button", { "data-do": "add", onclick: () => app.go("opening") }, t("open.again")), h("button", { onclick: openKeys }, t("keys")), forget));
}
