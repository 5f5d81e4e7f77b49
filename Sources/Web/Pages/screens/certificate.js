import { here } from "../core/away.js";
import { t } from "../texts/texts.js";
import { h } from "./dom.js";

/** Names that are the same in every language. */
export const systems = { iphone: "iPhone", android: "Android", windows: "Windows", macos: "macOS", linux: "Linux" };

/** The system that the page runs on, a key of `systems`; null if it is none of them. */
export function system(agent = navigator.userAgent, touchPoints = navigator.maxTouchPoints) {
  if (/iPhone|iPad/.test(agent) || (/Macintosh/.test(agent) && touchPoints > 1)) return "iphone";
  return [[/Android/, "android"], [/Windows/, "windows"], [/Macintosh/, "macos"], [/Linux|X11/, "linux"]].find(([name]) => name.test(agent))?.[1] ?? null;
}

/**
 * A way to the page of a child at another address, where the browser's question about its certificate can be answered: from
 * here it only says that the child is not reached.
 * @param {string} origin
 * @returns {HTMLElement|null} null for the page's own child
 */
export const ownPage = (origin) => origin === here ? null
  : h("p", { class: "own" }, t("certificate.other"), " ", h("a", { href: `${origin}/`, target: "_blank", rel: "noopener" }, t("certificate.page")));
