import { duration, moment, percent, t } from "../texts/texts.js";
import { h, setText } from "./dom.js";
import { notice } from "./notices.js";
import { problemText } from "./problems.js";
import { openSheet } from "./sheet.js";

/** More is neither kept in a phone's memory nor watched at once; `cradle-parent recordings fetch` gets it. */
const largest = 512 << 20;

/** What the child has recorded, the newest first. A part is fetched whole and then played. */
export async function openRecordings(watching, button) {
  const { recordings } = await watching.order(button, "recordings.list") ?? {};
  if (!recordings) return;
  let fetching = new AbortController();
  let url;
  const now = h("p", { role: "status" });
  const video = h("video", { class: "shot", controls: true, playsinline: true, hidden: true });
  const save = h("a", { class: "button", hidden: true }, t("save"));
  const parts = (recordings.parts ?? []).toReversed();
  const list = h("ul", { class: "list" }, parts.map((part) => h("li", {}, h("button", { class: "grow", "data-part": part.id, onclick: () => play(part) },
    `${moment(part.time * 1000)}, ${duration(Math.round(part.seconds))}`))));
  const isRecording = recordings.state === "recording";
  const record = recordings.mode !== "always" && h("button", { "data-do": "record", onclick: async () => {
    if (await watching.order(record, isRecording ? "recordings.stop" : "recordings.start")) sheet.close();
  } }, t(isRecording ? "recordings.stop" : "recordings.start"));
  setText(now, recordings.reason || t(isRecording ? "recordings.now" : parts.length ? "recordings.help" : "recordings.none"));
  const sheet = openSheet(t("recordings"), [now, video, save, list, record].filter(Boolean), { name: "recordings", onclose: forget });

  function forget() {
    fetching.abort();
    video.removeAttribute("src");
    video.load();
    if (url) URL.revokeObjectURL(url);
    url = undefined;
  }

  async function play({ id, bytes }) {
    forget();
    const { signal } = fetching = new AbortController();
    video.hidden = save.hidden = true;
    try {
      if (bytes > largest) throw new Error(t("recordings.large"));
      const pieces = [];
      for (let offset = 0, total = bytes; offset < total;) {
        setText(now, t("recordings.loading", { part: percent(Math.floor(100 * offset / total)) }));
        const piece = await watching.control.recording(id, offset);
        if (signal.aborted) return;
        pieces.push(piece.blob);
        offset += piece.blob.size;
        total = piece.total;
      }
      url = URL.createObjectURL(new Blob(pieces, { type: "video/webm" }));
      Object.assign(video, { src: url, hidden: false });
      Object.assign(save, { href: url, download: `${String(id).replace(/[^\w.-]+/g, "-")}.webm`, hidden: false });
      setText(now, "");
      await video.play();
    } catch (error) {
      // A browser that wants a tap first has its controls.
      if (!signal.aborted && error.name !== "NotAllowedError") notice(...problemText(error));
    }
  }
}
