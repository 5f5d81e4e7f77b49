import { within } from "../core/within.js";
import { t } from "../texts/texts.js";
import { h, setText } from "./dom.js";

const shownMilliseconds = 6000;
const most = 3;
/** For the browser to copy, ms. */
const patience = 5000;
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
  // Nothing lies over the question whether the words are the same.
  if (document.querySelector("[data-screen=words]")) return void setTimeout(notice, 1000, text, small);
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

/** Copies a text, and says whether that worked. @param {string} text */
export const copy = (text) => within(patience, navigator.clipboard.writeText(text)).then(() => notice(t("copied")), () => notice(t("error.other")));
