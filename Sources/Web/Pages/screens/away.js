import { meetingObstacle, otherOrigins } from "../core/away.js";
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

const alike = { timeout: "unreachable", busy: "refused", "no-path": "media", "no-relay": "media", link: "media" };

/** What a meeting place said (`SessionEnd.said`), as a sentence. */
const saidText = ({ place, reason, text }) => t(`away.said.${alike[reason] ?? reason}`, { place, text });

/**
 * Why the child that is watched is not reached, in sentences, with what each meeting place said; empty if that is not the trouble.
 * @param {Watching} watching
 */
export function unreachedText({ watcher, child }) {
  const { reason, said = [] } = (watcher.phase === "live" ? null : watcher.refusal) ?? {};
  const isMeetable = (child.away?.meetings ?? []).some((meeting) => !meetingObstacle(meeting));
  const keys = {
    busy: "status.busy", unreachable: isMeetable ? "away.unreachable" : "pairing.unreachable", forged: "refused.forged", absent: "away.absent",
    "no-path": "away.no-path", "no-relay": "away.no-relay", socket: "away.socket",
  };
  return keys[reason] ? [t(keys[reason]), ...said.map(saidText)].join(" ") : "";
}

/**
 * Where the child is, when it is not at the address of its pairing: where it was reached, or else where it may be.
 * @param {Watching} watching
 * @returns {{text: string, origins: string[]}} `text` is empty if there is nothing to say
 */
export function movedTo({ watcher, child }) {
  if (watcher.phase === "live") {
    const { movedTo } = watcher;
    return movedTo ? { text: t("away.moved", { place: new URL(movedTo).host }), origins: [movedTo] } : { text: "", origins: [] };
  }
  const origins = watcher.refusal?.reason === "unreachable" ? otherOrigins(child) : [];
  return { text: origins.length ? t("away.elsewhere") : "", origins };
}
