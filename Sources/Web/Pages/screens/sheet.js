import { t } from "../texts/texts.js";
import { h, newID } from "./dom.js";
import { icon } from "./icons.js";

/** The one that is open. There is never a second one: it is replaced. */
let shown = null;

/**
 * Opens a modal sheet in place of the one that is open; focus stays in it and returns to where it was (HTML, dialog). While an alarm rings none opens.
 * @param {string} title
 * @param {(Node|string)[]} content
 * @param {{onclose?: () => void, name?: string, asks?: boolean}} options `asks`: with the answer the sheet before is back
 * @returns {HTMLDialogElement}
 */
export function openSheet(title, content, { onclose, name, asks } = {}) {
  const id = newID();
  const close = h("button", { class: "plain", "aria-label": t("close"), onclick: () => sheet.close() }, icon("close"));
  const sheet = h("dialog", { class: "sheet", "aria-labelledby": id, "data-sheet": name },
    h("header", {}, h("h2", { id }, title), close), h("div", { class: "stack" }, content));
  // A tap beside the sheet closes it.
  sheet.addEventListener("click", (event) => event.target === sheet && !inside(sheet, event) && sheet.close());
  const before = asks ? shown : null;
  sheet.addEventListener("close", () => {
    // One that waits for the answer is not over.
    if (sheet.inert) return;
    if (shown === sheet) {
      shown = null;
      if (before) show(before);
    }
    sheet.remove();
    onclose?.();
  });
  if (before) {
    before.inert = true;
    before.close();
  } else closeSheets();
  document.body.append(sheet);
  if (document.querySelector("dialog.alarm[open]")) queueMicrotask(() => sheet.dispatchEvent(new Event("close")));
  else show(sheet);
  return sheet;
}

function show(sheet) {
  shown = sheet;
  sheet.inert = false;
  sheet.showModal();
}

/** Closes what is open, and what waits below a question. */
export function closeSheets() {
  shown = null;
  for (const sheet of document.querySelectorAll("dialog.sheet")) {
    if (sheet.inert) {
      sheet.inert = false;
      sheet.dispatchEvent(new Event("close"));
    } else sheet.close();
  }
}

/** Shows an alarm in place of whatever is open. */
export function showAlarm(dialog) {
  closeSheets();
  if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
  dialog.showModal();
  dialog.querySelector("button").focus();
}

function inside(element, { clientX, clientY }) {
  const box = element.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
}

/** Asks before something that cannot be undone. @returns {Promise<boolean>} */
export function confirmed(title, text, yes) {
  return new Promise((resolve) => {
    let answer = false;
    const answered = () => {
      answer = true;
      sheet.close();
    };
    const sheet = openSheet(title, [
      h("p", {}, text),
      h("button", { class: "danger", onclick: answered }, yes),
      h("button", { autofocus: true, onclick: () => sheet.close() }, t("cancel")),
    ], { name: "confirm", asks: true, onclose: () => resolve(answer) });
  });
}
