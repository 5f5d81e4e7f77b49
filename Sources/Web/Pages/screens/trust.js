import { t } from "../texts/texts.js";
import { system, systems } from "./certificate.js";
import { h } from "./dom.js";

/**
 * How to get rid of the browser's warning: the child's own small root certificate, limited to its names and addresses.
 * @param {App} app `app.isTrusted`: false when the browser refused the service worker
 * @returns {Node[]}
 */
export function certificateHelp(app) {
  const own = system();
  return [
    h("p", { class: app.isTrusted === false ? "problem" : "dim" }, t(app.isTrusted === false ? "certificate.untrusted" : "certificate.help")),
    ...Object.entries(systems).map(([name, title]) => h("details", { open: name === own }, h("summary", {}, title),
      h("a", { class: "button", href: name === "iphone" || name === "macos" ? "./certificate.mobileconfig" : "./certificate.crt" }, t("certificate.get")),
      h("ol", {}, t(`certificate.${name}`).split("|").map((step) => h("li", {}, step))))),
    h("small", {}, t("certificate.own")),
  ];
}
