import { moment, t } from "../texts/texts.js";
import { h, setText } from "./dom.js";
import { confirmed, openSheet } from "./sheet.js";

/** "Would I hear my child now?", answered by a test; and whether everybody's alarm rings. */
export function openProofs(watching) {
  const ending = new AbortController();
  const [heard, drilled] = [h("p", { role: "status", "data-proof": "hearing" }), h("div", { role: "status", "data-proof": "drill" })];
  const test = h("button", { "data-do": "test", onclick: () => watching.order(test, "hearing.test", {}, isLent(watching.child) ? { busy: "proofs.checked" } : {}) }, t("proofs.test"));
  const drill = h("button", { "data-do": "drill", onclick: async () => {
    if (watching.state.drill?.state === "running") await watching.order(drill, "drill.stop");
    else if (await confirmed(t("proofs.drill"), t("proofs.sure"), t("proofs.start"))) {
      await watching.order(drill, "drill.start", {}, { "not-permitted": "proofs.lent", busy: "proofs.soon" });
    }
  } });
  const lent = h("p", { class: "dim", hidden: !isLent(watching.child) }, t("proofs.lent"));
  openSheet(t("proofs"), [h("p", { class: "dim" }, t("proofs.help")), heard, test, h("h3", {}, t("proofs.drill")), drilled, drill, lent],
    { name: "proofs", onclose: () => ending.abort() });
  watching.addEventListener("update", update, { signal: ending.signal });
  update();

  function update() {
    const { hearing, drill: last } = watching.state;
    setText(heard, hearingText(hearing));
    const lines = drillLines(last);
    if (drilled.dataset.lines !== lines.join()) drilled.replaceChildren(...lines.map((line) => h("p", {}, line)));
    drilled.dataset.lines = lines.join();
    setText(drill, t(last?.state === "running" ? "proofs.stop" : "proofs.start"));
    const why = watching.obstacle({ permissions: ["listen", "control"] });
    test.setAttribute("aria-disabled", String(Boolean(why) || hearing?.state === "running"));
    // Whoever is paired may end one.
    const whyNoDrill = last?.state === "running" && !watching.child.token ? watching.obstacle({})
      : isLent(watching.child) ? t("proofs.lent") : watching.obstacle({ permissions: ["control"] });
    drill.setAttribute("aria-disabled", String(Boolean(whyNoDrill)));
    test.title = why ?? "";
    drill.title = whyNoDrill ?? "";
  }
}

/** A guest's access, or a player's token. */
const isLent = ({ token, expiresAt }) => Boolean(token || expiresAt);

const when = ({ time }) => ({ when: moment(time * 1000) });

function hearingText(hearing) {
  if (!hearing) return t("proofs.never");
  if (hearing.state === "running") return t("proofs.running");
  const names = (hearing.parents ?? []).join(", ");
  return [t(hearing.state === "heard" ? "proofs.heard" : "proofs.not-heard", when(hearing)), names,
    hearing.unanswered?.length && t("proofs.unanswered", { names: hearing.unanswered.join(", ") }), hearing.microphone === false && t("proofs.deaf"), hearing.way !== "chirp" && t(hearing.speaker === "missing" ? "proofs.speaker" : "proofs.weaker")].filter(Boolean).join(" · ");
}

function drillLines(drill) {
  if (!drill) return [t("proofs.never")];
  const people = (drill.parents ?? []).map((parent) => `${parent.name}: ${["link", "camera", "microphone"].filter((stage) => parent[stage])
    .map((stage) => `${t(`proofs.stage.${stage}`)} ${t(`proofs.${parent[stage]}`)}`).join(", ") || "…"}`);
  return [t(`proofs.state.${drill.state}`, when(drill)), ...people];
}
