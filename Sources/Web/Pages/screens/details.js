import { moment, t } from "../texts/texts.js";
import { h, setText } from "./dom.js";
import { openSheet } from "./sheet.js";
import { liveText } from "./status.js";

/** Everything behind the status line: audio only, who watches, what is missing, the last night. */
export function openDetails(watching) {
  const ending = new AbortController();
  const { watcher } = watching;
  const line = h("p", { class: "big", role: "status" });
  const missing = h("p", { class: "problem" });
  const audioOnly = h("input", { type: "checkbox", onchange: () => {
    watcher.audioOnly = audioOnly.checked;
    watching.update();
  } });
  const people = h("ul", { class: "list" });
  openSheet(t("details"), [line, missing, h("label", { class: "check" }, audioOnly, h("span", {}, t("audioOnly"), " ", h("small", {}, t("audioOnly.help")))),
    h("h3", {}, t("viewers")), people], { name: "details", onclose: () => ending.abort() });
  watching.addEventListener("update", update, { signal: ending.signal });
  update();

  function update() {
    const { cameras = [], microphone, speaker, viewers = [] } = watching.state;
    setText(line, liveText(watching));
    audioOnly.checked = watcher.audioOnly;
    const lacking = [...cameras, microphone, speaker].filter((device) => device?.state === "missing").map(({ name }) => name);
    missing.hidden = !lacking.length;
    setText(missing, lacking.length ? `${t("device.missing")}: ${lacking.join(", ")}` : "");
    // Replaced only when it differs, so that a screen reader can read on.
    const key = viewers.map(({ id }) => id).join();
    if (people.dataset.key === key) return;
    people.dataset.key = key;
    const own = watching.control.hello?.viewer;
    people.replaceChildren(...viewers.map(({ id, name, since }) => h("li", {}, h("div", {}, name + (id === own ? ` (${t("you")})` : "")), h("small", {}, moment(since * 1000)))));
  }
}
