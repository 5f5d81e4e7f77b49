import { here } from "../core/away.js";
import { canPush, keepContact, pushContact, pushState, startPush, stopPush } from "../core/push.js";
import { NoAnswer } from "../core/within.js";
import { t } from "../texts/texts.js";
import { ownPage, system } from "./certificate.js";
import { h, setText } from "./dom.js";
import { notice } from "./notices.js";
import { problemText } from "./problems.js";

/**
 * Why alarms cannot be pushed to this browser, as a sentence; null if they can.
 * @param {App} app @param {Watching} watching
 */
function obstacle(app, watching) {
  const { child, control } = watching;
  if (!canPush()) return t(system() === "iphone" ? "push.iphone" : "push.unsupported");
  if (app.isTrusted === false) return t("push.untrusted");
  if (child.token) return t("push.token");
  if (child.origin !== here) return t("push.elsewhere");
  if (Notification.permission === "denied") return t("push.denied");
  return watching.obstacle({}) ?? (control.capabilities.has("push.key") ? null : t("error.unknown-command"));
}

/**
 * The settings' card: a switch with the reason where it cannot be switched, and a test.
 * @param {App} app
 * @param {Watching} watching
 * @returns {Node[]}
 */
export function pushSettings(app, watching) {
  const box = h("input", { type: "checkbox", "data-setting": "push", disabled: true, onchange: change });
  const why = h("small", {});
  const test = h("button", { "data-do": "push-test", hidden: true, onclick: async () => {
    const reply = await watching.order(test, "push.test");
    if (reply) notice(t(reply.delivered ? "push.sent" : "push.refused"), reply.delivered ? undefined : String(reply.detail ?? ""));
  } }, t("push.test"));
  const label = h("label", { class: "check" }, box, h("span", {}, t("push.on"), " ", why));
  const address = h("input", { type: "email", "data-setting": "push-contact", autocomplete: "email", value: pushContact(), onchange: () => keepContact(address.value.trim()) });
  const contact = h("label", { hidden: true }, h("span", {}, t("push.contact")), address);
  const closing = new AbortController();
  // Shown once the switch has been touched: nothing below it moves while a finger aims at something.
  let known, isBusy = false, needsContact = false, failure = "";
  watching.addEventListener("update", () => {
    if (label.isConnected) update();
    else if (known !== undefined) closing.abort();
  }, { signal: closing.signal });
  update();
  const { child } = watching;
  return [h("p", { class: "dim" }, t("push.help")), contact, label, test, child.origin !== here && ownPage(child.origin), h("small", {}, t("push.never-alone"))];

  /** Looks only when something has changed. */
  async function update() {
    const reason = obstacle(app, watching);
    const now = `${reason} ${watching.control.hello?.viewer}`;
    if (isBusy || now === known) return;
    known = now;
    label.classList.toggle("dim", Boolean(reason));
    const state = reason ? {} : await pushState(watching.control).catch(() => ({}));
    if (now !== known) return;
    const on = Boolean(state.isOn);
    setText(why, reason ?? (on ? state.problem ? t("push.last", { problem: String(state.problem) }) : "" : failure));
    needsContact = Boolean(state.needsContact);
    box.checked = on;
    box.disabled = Boolean(reason);
    test.hidden = !on;
  }

  async function change() {
    contact.hidden = !needsContact;
    if (box.checked && needsContact && !(address.value.trim() && address.checkValidity())) {
      box.checked = false;
      notice(t("push.contact-first"));
      address.focus();
      return;
    }
    keepContact(address.value.trim());
    isBusy = box.disabled = true;
    failure = "";
    let awaited = "";
    try {
      await (box.checked ? startPush : stopPush)(watching.control, (what) => {
        awaited = what;
        setText(why, t(`push.waiting.${what}`));
      });
    } catch (error) {
      failure = error instanceof NoAnswer ? t(`push.no-answer.${awaited}`) : "";
      // What the browser says when its user, or its push service, refuses.
      if (failure) notice(failure);
      else if (error instanceof DOMException) notice(t(Notification.permission === "granted" ? "push.refused" : "push.denied"), error.message);
      else notice(...problemText(error));
    }
    isBusy = false;
    known = "";
    update();
  }
}
