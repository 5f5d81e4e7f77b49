import { h, setText } from "./dom.js";

const shownMilliseconds = 6000;
const most = 3;
const box = h("div", { class: "notices", popover: "manual" });
const polite = h("div", { class: "unseen", role: "status" });
document.body.append(box, polite);

/** Tells screen readers what changed, without showing it. */
export function announce(text) {
  setText(polite, text);
}

/**
 * Shows a sentence for some seconds; screen readers hear it.
 * @param {string} text
 * @param {string} [small] the child's own words, in small print
 */
export function notice(text, small) {
  const last = box.lastElementChild;
  if (last?.firstChild?.textContent === text) last.remove();
  const shown = h("div", { class: "notice", role: "status" }, h("span", {}, text), small && h("small", {}, small));
  box.append(shown);
  while (box.childElementCount > most) box.firstElementChild.remove();
  // Above dialogs, which are in the top layer: a popover shown last is above them.
  if (box.showPopover) {
    if (box.matches(":popover-open")) box.hidePopover();
    box.showPopover();
  }
  setTimeout(() => {
    shown.remove();
    if (!box.childElementCount && box.hidePopover && box.matches(":popover-open")) box.hidePopover();
  }, shownMilliseconds);
}
