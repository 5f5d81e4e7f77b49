import { meetingObstacle } from "../core/away.js";
import { t } from "../texts/texts.js";
import { h, setText } from "./dom.js";
import { copy } from "./notices.js";

const rounded = (value, unit) => (Number.isFinite(value) ? `${Math.round(value * 10) / 10} ${unit}` : "?");

const obstacles = { pinned: "its key is pinned: browsers cannot", kind: "not for browsers" };

/** Figures for whoever helps, in English names so that they can be compared; no secret is among them. */
function figures({ watcher, control, child }, app) {
  const now = watcher.statistics ?? {};
  return {
    camera: `${control.hello?.name ?? child.name} ${child.id}`, version: control.hello?.version ?? "?", origin: child.origin,
    "remote access": (child.away?.meetings ?? []).map((meeting) => `${meeting.url} (${obstacles[meetingObstacle(meeting)] ?? "usable"})`).join(", ") || "none",
    phase: watcher.phase + (watcher.refusal ? ` (${[watcher.refusal.reason, watcher.refusal.text].filter(Boolean).join(": ")})` : ""),
    way: watcher.isMet ? "remote access server" : "own address",
    local: now.candidatePair?.local ?? "?", remote: now.candidatePair?.remote ?? "?", protocol: now.candidatePair?.protocol ?? "?",
    "round trip": rounded(now.roundTripMs, "ms"), delay: rounded(now.latencyMs, "ms"), "jitter buffer": rounded(now.jitterBufferMs, "ms"),
    loss: rounded(now.lossPercent, "%"), concealed: rounded(now.concealedPercent, "%"), freezes: String(now.freezeCount ?? "?"),
    video: `${now.codec ?? "?"} ${now.width ?? "?"}×${now.height ?? "?"} ${rounded(now.framesPerSecond, "/s")} ${rounded(now.videoKbps, "kbit/s")}`,
    audio: rounded(now.audioKbps, "kbit/s"), permissions: [...(control.permissions ?? [])].join(" "),
    "kept for good": String(app.store.isLasting), "service worker": navigator.serviceWorker?.controller ? "yes" : "no", browser: navigator.userAgent,
  };
}

/** The figures, renewed while they are shown, and a button that copies them. */
export function diagnosis(watching, app) {
  const values = new Map();
  const list = h("dl", {}, Object.keys(figures(watching, app)).map((name) => {
    const value = h("dd");
    values.set(name, value);
    return [h("dt", { lang: "en" }, name), value];
  }));
  const update = () => {
    if (element.isConnected) for (const [name, value] of Object.entries(figures(watching, app))) setText(values.get(name), value);
  };
  const element = h("div", { class: "stack" }, list, h("button", { onclick: () => copy(Object.entries(figures(watching, app)).map(([name, value]) => `${name}: ${value}`).join("\n")) }, t("copy")));
  watching.addEventListener("update", update);
  queueMicrotask(update);
  return element;
}
