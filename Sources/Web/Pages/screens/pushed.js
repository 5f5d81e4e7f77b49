import { canPush, closePushed, keepWords, pushedAlarm } from "../core/push.js";
import { language, moment, t } from "../texts/texts.js";
import { h, newID } from "./dom.js";
import { icon } from "./icons.js";
import { showAlarm } from "./sheet.js";

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
  showAlarm(dialog);
}
