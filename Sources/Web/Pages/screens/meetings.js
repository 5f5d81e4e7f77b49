import { meetingObstacle } from "../core/away.js";
import { t } from "../texts/texts.js";
import { h } from "./dom.js";

/**
 * Where this page finds the child when it is not at home, and what stands in the way.
 * @param {Watching} watching @param {App} app
 * @returns {HTMLElement[]}
 */
export function awaySettings({ child }, app) {
  const meetings = child.away?.meetings ?? [];
  const list = meetings.map((meeting) => {
    const obstacle = meetingObstacle(meeting);
    return h("li", { "data-meeting": obstacle ?? "usable" }, h("div", {}, meeting.url), h("small", {}, t(`away.${obstacle ?? "usable"}`)));
  });
  return [
    h("p", { class: "dim" }, t(meetings.length ? "away.help" : "away.none")), list.length > 0 && h("ul", { class: "list" }, list),
    app.isTrusted === false && h("p", { class: "problem" }, t("away.untrusted")),
  ].filter(Boolean);
}
