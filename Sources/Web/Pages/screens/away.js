import { meetingObstacle, otherOrigins } from "../core/away.js";
import { t } from "../texts/texts.js";

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
