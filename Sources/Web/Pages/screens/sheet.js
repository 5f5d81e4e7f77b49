import { t } from "../texts/texts.js";
import { h, newID } from "./dom.js";
import { icon } from "./icons.js";

/**
 * Opens a modal sheet; focus stays in it and returns to where it was (HTML, dialog).
 * @param {string} title
 * @param {(Node|string)[]} content
 * @param {{onclose?: () => void, class?: string}} options
 * @returns {HTMLDialogElement}
 */
export function openSheet(title, content, { onclose, name } = {}) {
  const id = newID();
  const close = h("button", { class: "plain", "aria-label": t("close"), onclick: () => sheet.close() }, icon("close"));
  const sheet = h("dialog", { class: "sheet", "aria-labelledby": id, "data-sheet": name },
    h("header", {}, h("h2", { id }, title), close), h("div", { class: "stack" }, content));
  // A tap beside the sheet closes it.
  sheet.addEventListener("click", (event) => event.target === sheet && !inside(sheet, event) && sheet.close());
  sheet.addEventListener("close", () => {
    sheet.remove();
    onclose?.();
  });
  document.body.append(sheet);
  sheet.showModal();
  return sheet;
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
    ], { name: "confirm", onclose: () => resolve(answer) });
  });
}
