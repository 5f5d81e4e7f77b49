import { t } from "../texts/texts.js";
import { h } from "./dom.js";
import { notice } from "./notices.js";
import { problemText } from "./problems.js";
import { openSheet } from "./sheet.js";

/** Why no still can be taken, as a sentence; null if it can. */
export const screenshotObstacle = (watching) => watching.obstacle({ permissions: ["view", "control"], command: "screenshot.take" });

/** Takes a still at the camera's own resolution; shows it, to be saved or shared. */
export async function takeScreenshot(watching, button) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    const { blob, width, height } = await watching.control.screenshot();
    show(watching, blob, width, height);
  } catch (error) {
    notice(...problemText(error));
  } finally {
    button.removeAttribute("aria-busy");
  }
}

function show(watching, blob, width, height) {
  const url = URL.createObjectURL(blob);
  const time = new Date(Date.now() - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace(/[T:]/g, "-");
  const name = `${watching.name.replace(/[^\p{L}\p{N}]+/gu, "-")}-${time}.jpg`;
  const file = new File([blob], name, { type: blob.type || "image/jpeg" });
  const share = async () => {
    try {
      await navigator.share({ files: [file], title: watching.name });
    } catch (error) {
      if (error.name !== "AbortError") notice(...problemText(error));
    }
  };
  openSheet(t("shot"), [
    h("img", { class: "shot", src: url, alt: t("shot.alt", { name: watching.name, width, height }) }),
    h("div", { class: "row" },
      h("a", { class: "button grow", href: url, download: name }, t("save")),
      navigator.canShare?.({ files: [file] }) && h("button", { class: "grow", onclick: share }, t("share"))),
    h("small", {}, `${width} × ${height}`),
  ], { name: "shot", onclose: () => URL.revokeObjectURL(url) });
}
