import { here } from "../core/away.js";
import { pair, parseCode, parseLink } from "../core/pairing.js";
import { moment, t } from "../texts/texts.js";
import { ownPage, system } from "./certificate.js";
import { h, labelled, setText } from "./dom.js";
import { pairingProblemText } from "./problems.js";

/** What this device is called until somebody has a better name: by its system, in the page's language. */
export const proposedName = () => ({ iphone: /iPhone/.test(navigator.userAgent) ? "iPhone" : "iPad", android: t("phone.android") })[system()] ?? t("phone.computer");

/** The question for the name, with its answer, which is kept whatever becomes of the pairing. */
function nameQuestion(app, label) {
  const name = h("input", { maxlength: "60", autocomplete: "off" });
  name.value = proposedName();
  return { element: h("div", {}, labelled(label, name), h("small", {}, t("phone.help"))), keep: () => app.set("name", name.value.trim() || proposedName()) };
}

/**
 * Before the first pairing by a link.
 * @param {App} app
 * @param {() => void} done
 */
export function nameScreen(app, done) {
  const { element, keep } = nameQuestion(app, t("phone.name"));
  return h("section", { class: "screen" }, h("h1", { tabindex: "-1" }, t("phone.ask")), h("form", { class: "stack card", onsubmit: async (event) => {
    event.preventDefault();
    await keep();
    done();
  } }, element, h("button", { class: "main" }, t("pair"))));
}

/**
 * Adding a child: by link, by code, or with a token.
 * @param {App} app
 * @param {{problem?: string, unreached?: string}} options `problem`: a sentence on what went wrong before; `unreached`: a child's origin
 * @returns {HTMLElement}
 */
export function openingScreen(app, { problem = "", unreached } = {}) {
  const said = h("p", { class: "problem", role: "alert" }, problem);
  const way = h("div", {}, unreached && ownPage(unreached));
  const working = (text, origin) => {
    setText(said, text);
    way.replaceChildren(...[origin && ownPage(origin)].filter(Boolean));
  };
  const link = h("input", { type: "url", autocomplete: "off", spellcheck: "false", placeholder: "https://…/#pair=…" });
  const code = h("input", { inputmode: "numeric", autocomplete: "one-time-code", placeholder: "1234-5678" });
  const token = h("input", { type: "password", autocomplete: "current-password", spellcheck: "false" });

  const question = app.settings.name ? null : nameQuestion(app, t("phone.ask"));
  const form = (content, label, submit) => h("form", { class: "stack card", novalidate: true, onsubmit: async (event) => {
    event.preventDefault();
    const button = event.currentTarget.querySelector("button");
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    working("");
    try {
      await question?.keep();
      await submit();
    } finally {
      button.removeAttribute("aria-busy");
    }
  } }, content, h("button", { class: "main" }, label));

  const byCode = form([h("h2", {}, t("open.code")), labelled(t("open.code.label"), code)], t("pair"), () => {
    const digits = parseCode(code.value);
    if (!digits) return working(t("open.code.bad"));
    return app.pair({ origin: here, code: digits }, working);
  });
  const byLink = form([h("h2", {}, t("open.link")), labelled(t("open.link.label"), link)], t("pair"), () => {
    const parsed = parseLink(link.value.trim());
    if (!parsed) return working(t("pairing.wrong-link"));
    return app.pair(parsed, working);
  });
  const byToken = h("details", {}, h("summary", {}, t("open.token")), form([h("p", { class: "dim" }, t("open.token.help")), labelled(t("open.token.label"), token)],
    t("watch"), async () => token.value.trim() && app.addToken(token.value.trim())));
  return h("section", { class: "screen" }, h("h1", { tabindex: "-1" }, t("open.title")), h("p", {}, t("open.how")), h("pre", { class: "dim" }, "sudo cradle-child pair"),
    app.store.hasLostPairs && h("p", { class: "problem" }, t("open.lost")),
    !app.store.isLasting && h("p", { class: "problem" }, t("open.private")), said, way, question && h("div", { class: "card" }, question.element), byCode, byLink, byToken, app.hasChildren && h("button", { onclick: () => app.goBack() }, t("cancel")));
}

/**
 * While both ends prove themselves.
 * @param {App} app
 * @param {{origin: string, secret?: string, code?: string}} way
 * @returns {Promise<{child: Child, words: string[]}|{problem: string, unreached: string|undefined}>}
 */
export async function runPairing(app, way) {
  try {
    return await pair(way, { identity: app.identity, name: app.settings.name });
  } catch (error) {
    return { problem: pairingProblemText(error), unreached: error.reason === "unreachable" ? way.origin : undefined };
  }
}

/** @returns {HTMLElement} shown while pairing runs */
export const pairingScreen = () => h("section", { class: "screen" }, h("h1", { tabindex: "-1" }, t("pairing.now")), h("p", { role: "status" }, t("talk.starting")));

/**
 * The four words that both ends show, for who wants to check.
 * @param {string[]} words
 * @param {() => Promise<void>} differ
 */
export const wordsCheck = (words, differ) => h("details", {}, h("summary", {}, t("words.check")), h("p", {}, t("words.help")),
  h("ol", { class: "words" }, words.map((word) => h("li", { lang: "en" }, word))), h("button", { class: "danger", onclick: async ({ currentTarget }) => {
    if (currentTarget.getAttribute("aria-busy")) return;
    currentTarget.setAttribute("aria-busy", "true");
    await differ();
    currentTarget.removeAttribute("aria-busy");
  } }, t("words.differ")));

/**
 * Paired: to the picture.
 * @param {{child: Child, words: string[], granted: string}} paired `granted`: this phone's name at the camera
 * @param {{match: () => void, differ: () => Promise<void>, note: string|false}} options `note`: what else there is to know
 */
export const wordsScreen = ({ child, words, granted }, { match, differ, note }) => h("section", { class: "screen" },
  h("h1", { tabindex: "-1" }, "✓ ", t("words.title", { name: child.name })), note && h("p", { class: "problem" }, note),
  h("p", {}, t("words.name", { name: granted })), h("div", { class: "stack" }, h("button", { class: "main", onclick: match }, t("watch"))), wordsCheck(words, differ));

/**
 * After "They differ": whether the child has removed this phone, and what that may mean.
 * @param {App} app
 * @param {{child: Child, isRemoved: boolean}} outcome
 */
export const cancelledScreen = (app, { child, isRemoved }) => h("section", { class: "screen" }, h("h1", { tabindex: "-1" }, t("cancelled")),
  h("p", { role: "alert", class: isRemoved ? "" : "problem" }, t(isRemoved ? "cancelled.removed" : "cancelled.left", { name: app.settings.name })),
  !isRemoved && h("pre", { class: "dim" }, `sudo cradle-child unpair "${app.settings.name}"`),
  h("p", {}, t("cancelled.help", { name: child.name })), h("button", { class: "main", onclick: () => app.goBack() }, t("done")));

/**
 * A link was opened, and this phone is paired with that child already.
 * @param {{child: Child, watch: () => void, pair: () => void}} options
 */
export const againScreen = ({ child, watch, pair }) => h("section", { class: "screen" },
  h("h1", { tabindex: "-1" }, t("paired", { name: child.name || new URL(child.origin).host })),
  h("p", {}, t("paired.may", { may: child.permissions.map((name) => t(`may.${name}`)).join(", ") })), h("p", {}, t("paired.help")),
  h("div", { class: "stack" }, h("button", { class: "main", "data-do": "watch", onclick: watch }, t("watch")),
    h("button", { "data-do": "again", onclick: pair }, t("paired.again"))));

/**
 * A pair that ended, or a child that cannot be watched: why, and what to do.
 * @param {App} app
 * @param {Watching} watching
 */
export function refusedScreen(app, { name, watcher, child }) {
  const { reason, text } = watcher.refusal;
  return h("section", { class: "screen", "data-refused": reason }, h("h1", { tabindex: "-1" }, name), h("p", { class: "problem", role: "alert" }, t(`refused.${reason}`, { when: moment(child.expiresAt ?? Date.now()) })),
    text && h("p", {}, h("small", {}, text)),
    h("div", { class: "stack" }, h("button", { class: "main", onclick: () => app.go("opening") }, t("open.again")),
      h("button", { onclick: () => app.watch(child) }, t("again")), app.rooms && h("button", { onclick: () => app.go("children") }, t("children")), h("button", { class: "danger", onclick: () => app.forget(child) }, t("forget"))));
}
