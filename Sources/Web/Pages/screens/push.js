import { here } from "../core/away.js";
import { canPush, closePushed, keepContact, keepWords, pushContact, pushedAlarm, pushState, startPush, stopPush } from "../core/push.js";
import { NoAnswer } from "../core/within.js";
import { language, moment, t } from "../texts/texts.js";
import { ownPage, system } from "./certificate.js";
import { h, newID, setText } from "./dom.js";
import { icon } from "./icons.js";
import { notice } from "./notices.js";
import { problemText } from "./problems.js";

/** The words for pushed alarms; other kinds come with the child's own. */
const words = () => ({
  lang: language, "camera-lost": t("alarm.camera"), "microphone-lost": t("alarm.microphone"), stuck: t("push.stuck"), unheard: t("push.unheard"),
  test: t("push.tested"),
});

/** Tells the worker this page's language, and shows the alarm that was tapped, or is still shown. */
export async function followPush(app) {
  if (!canPush()) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => data === "alarm" && showPushed(app));
  await keepWords(words());
  await showPushed(app);
}

/** The pushed alarm over everything, with the same button as any. */
async function showPushed(app) {
  const alarm = await pushedAlarm();
  if (!alarm || alarm.kind === "test" || document.querySelector("dialog.pushed")) return;
  const [title, text] = [newID(), newID()];
  const button = h("button", { class: "acknowledge", onclick: () => {
    closePushed();
    app.watching?.monitor.acknowledge();
    dialog.remove();
  } }, t("alarm.acknowledge"));
  const dialog = h("dialog", { class: "alarm pushed", role: "alertdialog", "aria-labelledby": title, "aria-describedby": text, "data-kind": alarm.kind },
    h("div", { class: "what" }, icon("bell"), h("h2", { id: title }, String(alarm.title)), h("p", { id: text }, [alarm.id, alarm.detail].filter(Boolean).join(" · ")),
      h("p", { class: "since" }, moment(alarm.time * 1000))), button);
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  document.body.append(dialog);
  dialog.showModal();
  button.focus();
}

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
