import { heardMinutes } from "../core/recent.js";
import { duration, has, moment, percent, t } from "../texts/texts.js";
import { drawn, h } from "./dom.js";
import { openSheet } from "./sheet.js";

const [evening, morning] = [18, 10];

/** The night that is under way at this time, else the last one: from 18:00 to 10:00 by this phone's clock. */
export function lastNight(now = new Date()) {
  const at = (days, hour) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour).getTime() / 1000;
  const back = at(0, evening) * 1000 <= now.getTime() ? 0 : -1;
  return { from: at(back, evening), to: at(back + 1, morning) };
}

/** Who listened in the last night, and when nobody did. */
export async function openNight(watching, button) {
  const { report } = await watching.order(button, "report.get", lastNight()) ?? {};
  if (!report) return;
  const rows = [[t("night.heard"), report.minutes ? percent(Math.floor(100 * report.monitoredMinutes / report.minutes)) : t("night.none")]];
  for (const { name, minutes } of report.parents ?? []) rows.push([name, duration(minutes * 60)]);
  if (report.longestGap) rows.push([t("night.gap"), gapText(report.longestGap)]);
  rows.push([t("night.noise"), duration((report.noise?.minutes ?? 0) * 60)]);
  for (const { device, id, from } of report.losses ?? []) rows.push([t("device.missing"), `${t(`night.${device}`)}${id ? ` ${id}` : ""}, ${moment(from * 1000)}`]);
  const proof = report.proofs?.at(-1);
  rows.push([t("night.proof"), proof ? moment(proof.time * 1000) : t("night.unproved")]);
  openSheet(t(report.to * 1000 > Date.now() ? "night.now" : "night"), [h("p", { class: "dim" }, `${moment(report.from * 1000)} – ${moment(report.to * 1000)}`), drawNight(report),
    h("dl", {}, rows.map(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]))].filter(Boolean), { name: "night" });
}

function gapText({ from, to, causes }) {
  const known = causes.filter((cause) => has(`night.cause.${cause}`)).map((cause) => t(`night.cause.${cause}`));
  return [duration(to - from), moment(from * 1000), ...known].join(", ");
}

/** One bar over the night: where somebody listened, nobody did, or the child was off. Null without a time line. */
function drawNight({ from, to, timeline, monitoredMinutes, minutes }) {
  if (!timeline?.levels?.length) return null;
  const whole = Math.max(1, Math.round((to - from) / 60));
  const states = timeline.levels.slice(0, whole).map((level) => level < -1 ? "off" : "unheard");
  heardMinutes(timeline).forEach((isHeard, minute) => { if (isHeard && minute < whole) states[minute] = "heard"; });
  return drawn("svg", { viewBox: `0 0 ${whole} 40`, class: "night", role: "img", preserveAspectRatio: "none", "aria-label": t("night.bar", { heard: monitoredMinutes, minutes }) },
    ...["off", "unheard", "heard"].map((name) => drawn("path", { class: name, d: states.map((state, minute) => state === name ? `M${minute} 0h1v40h-1z` : "").join("") })));
}
