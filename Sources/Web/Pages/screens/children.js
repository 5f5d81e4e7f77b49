import { moment, t } from "../texts/texts.js";
import { h } from "./dom.js";

/**
 * The paired children, a still each: an old picture, and called so.
 * @param {App} app
 * @param {Child[]} children
 * @returns {HTMLElement}
 */
export function childrenScreen(app, children) {
  const urls = [];
  const still = (child) => {
    if (!child.still) return h("span", { class: "none dim" }, t("stage.none"));
    urls.push(URL.createObjectURL(child.still));
    return h("img", { src: urls.at(-1), alt: "" });
  };
  const element = h("section", { class: "screen" }, h("h1", { tabindex: "-1" }, t("children")), h("ul", { class: "children" }, children.map((child) =>
    h("li", {}, h("button", { "data-child": child.id, onclick: () => app.watch(child) }, still(child), h("b", {}, child.name || new URL(child.origin).host),
      h("small", {}, app.watching?.child.id === child.id ? t("viewers") : child.lastSeenAt ? t("children.seen", { when: moment(child.lastSeenAt) }) : t("children.never")))))),
    h("div", { class: "stack" }, h("button", { onclick: () => app.go("opening") }, t("open.again")), h("button", { onclick: () => app.go("settings") }, t("settings"))));
  // The pictures are loaded once they are shown.
  setTimeout(() => urls.forEach((url) => URL.revokeObjectURL(url)), 60_000);
  return element;
}
