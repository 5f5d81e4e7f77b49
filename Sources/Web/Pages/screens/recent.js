import { loudDb, Recent, span } from "../core/recent.js";
import { duration, t, timeOfDay } from "../texts/texts.js";
import { drawn, h, newID, setAttribute, setText } from "./dom.js";
import { levelShare } from "./hearing.js";

/** Between two reports, ms. */
const interval = 120_000;
/** A minute that was touched is shown for so long, ms. */
const shownMilliseconds = 6000;
const height = 24;
/** Between two drawings, s. */
const redraw = 5;
const mostEvents = 100;

/**
 * "Quiet for 42 min · last loud 01:12", and below it the last hours; touching them shows the minute.
 * @param {Watching} watching
 * @param {AbortSignal} signal ends it
 */
export function recentHours(watching, signal) {
  const recent = new Recent();
  const text = h("p", { class: "answer" });
  const paths = Object.fromEntries(["off", "quiet", "loud", "unheard", "light", "lullaby"].map((name) => [name, drawn("path", { class: name })]));
  const chart = drawn("svg", { viewBox: `0 0 ${span} ${height}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...Object.values(paths));
  const id = newID();
  // A slider: fingers, keys and screen readers know it.
  const place = h("input", { id, type: "range", min: 1 - span, max: 0, oninput: touched });
  place.value = 0;
  const hours = h("div", { class: "hours", "aria-hidden": "true" });
  const strip = h("div", { class: "strip" }, chart, h("label", { for: id, class: "unseen" }, t("recent")), place);
  const element = h("div", { class: "recent" }, text, strip, hours);
  let drawnAt = 0;
  let askedAt = -Infinity;
  let touchedAt = -Infinity;

  const now = () => Date.now() / 1000;

  function note(levelDb) {
    recent.note(now(), { levelDb, isHearing: watching.sound.verdict.hearing, state: watching.state });
  }

  async function ask() {
    const { control } = watching;
    if (document.visibilityState !== "visible" || performance.now() - askedAt < interval || !control.isOpen || !control.capabilities.has("report.get")) return;
    askedAt = performance.now();
    const to = Math.floor(now() / 60 + 1) * 60;
    try {
      const [{ report }, { events }] = await Promise.all([control.request("report.get", { from: to - span * 60, to }), control.request("events.get", { limit: mostEvents })]);
      recent.merge(report, Array.isArray(events) ? events : [], now());
      drawnAt = 0;
      update();
    } catch { /* The next time. What this page hears itself is there. */ }
  }

  function update() {
    const isLive = watching.watcher.phase === "live";
    if (isLive) ask();
    const answer = isLive ? recent.answer(now()) : null;
    element.hidden = !answer && !recent.minutes(now()).some(Boolean);
    element.classList.toggle("loud", Boolean(answer?.isLoud) && !isTouched());
    if (!isTouched()) {
      if (Number(place.value)) place.value = 0;
      setText(text, answer ? answerText(answer) : "");
    }
    if (now() - drawnAt >= redraw) draw();
    setAttribute(place, "aria-valuetext", minuteText());
  }

  const isTouched = () => performance.now() - touchedAt < shownMilliseconds;

  function touched() {
    touchedAt = performance.now();
    setText(text, minuteText());
    update();
  }

  function minuteText() {
    const ago = -Number(place.value);
    const minute = recent.minutes(now())[span - 1 - ago];
    const { level } = minute ?? {};
    const heard = typeof level === "number";
    const parts = [heard ? level > loudDb ? t("recent.loud") : t("recent.still") : t(`recent.${level ?? "unknown"}`), minute?.light && t("recent.light"),
      minute?.lullaby && t("lullaby"), heard && !minute.heard && t("recent.unheard")];
    return [timeOfDay((Math.floor(now() / 60) - ago) * 60_000), ...parts.filter(Boolean)].join(" · ");
  }

  function draw() {
    drawnAt = now();
    const lines = Object.fromEntries(Object.keys(paths).map((name) => [name, ""]));
    recent.minutes(now()).forEach((minute, x) => {
      if (!minute) return;
      const bar = (name, y, tall) => (lines[name] += `M${x} ${y}h1v${tall}h-1z`);
      if (typeof minute.level === "number") {
        const tall = Math.max(1.5, levelShare(minute.level) * (height - 7));
        bar(minute.level > loudDb ? "loud" : "quiet", height - 3 - tall, tall);
        if (!minute.heard) bar("unheard", height - 3, 3);
      } else if (minute.level) bar("off", height - 3, 3);
      if (minute.light) bar("light", 0, 2);
      if (minute.lullaby) bar("lullaby", 2, 2);
    });
    for (const [name, path] of Object.entries(paths)) path.setAttribute("d", lines[name]);
    hours.replaceChildren(...[span, span / 2, 0].map((ago) => h("span", {}, timeOfDay((Math.floor(now() / 60) - ago) * 60_000))));
  }

  watching.addEventListener("level", () => note(watching.control.level?.levelDb), { signal });
  watching.addEventListener("update", () => {
    if (watching.watcher.phase === "live") note();
    update();
  }, { signal });
  update();
  return element;
}

function answerText({ isLoud, quietFor, loudAt, isWhole }) {
  if (isLoud) return t("recent.now");
  const quiet = t(isWhole ? "recent.long" : "recent.quiet", { age: duration(quietFor) });
  return loudAt === null ? quiet : `${quiet} · ${t("recent.last", { time: timeOfDay(loudAt * 1000) })}`;
}
