import { within } from "../core/within.js";
import { duration, moment, t } from "../texts/texts.js";
import { system } from "./certificate.js";
import { h, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";
import { notice } from "./notices.js";
import { Zoom } from "./zoom.js";

/** That the screen turns off, and how to keep it on. @returns {[string, string]} */
export const screenHelp = () => [t("awake.refused"), t(system() === "iphone" ? "awake.iphone" : "awake.help")];

/** For the browser to keep the screen on, ms. */
const lockPatience = 5000;

/**
 * Keeps the screen on until `signal`. W3C Screen Wake Lock. iPhones refuse it in pages of the home screen up to iOS 18.3, others when the battery is low.
 * @param {{screenTurnsOff: boolean}} shown gets whether the browser refuses
 */
export function keepAwake(shown, signal) {
  async function ask() {
    if (document.visibilityState !== "visible" || signal.aborted) return;
    const lock = await within(lockPatience, navigator.wakeLock?.request("screen"), keep).catch(() => null);
    if (lock) keep(lock);
    else refused();
  }

  function refused() {
    if (signal.aborted || document.visibilityState !== "visible" || shown.screenTurnsOff) return;
    shown.screenTurnsOff = true;
    notice(...screenHelp());
  }

  function keep(lock) {
    if (!lock) return;
    const release = () => void lock.release().catch(() => {});
    if (signal.aborted) return release();
    signal.addEventListener("abort", release);
    shown.screenTurnsOff = false;
    const since = performance.now();
    // One that is taken back at once would be asked for without end.
    lock.addEventListener("release", () => performance.now() - since < lockPatience ? refused() : ask(), { signal });
  }
  document.addEventListener("visibilitychange", ask, { signal });
  ask();
}

const corners = ["bottom-end", "top-end", "top-start", "bottom-start"];

/**
 * The picture: zoom, full screen, picture in picture, screen kept awake. An old picture is dimmed and says how old it is.
 * @param {Watching} watching
 * @param {{expand: () => void, shrink: () => void}} options how the page shows the stage large or small
 */
export class Stage {
  constructor(watching, { expand, shrink }) {
    this.watching = watching;
    this.expand = expand;
    this.shrink = shrink;
    const { video, child } = watching;
    this.word = h("div", { class: "word" }, h("span"));
    const { still } = child;
    this.stillURL = still ? URL.createObjectURL(still) : null;
    this.still = this.stillURL && h("img", { class: "still", src: this.stillURL, alt: "" });
    const open = h("button", { "aria-label": t("stage.expand"), onclick: expand }, icon("full"));
    // A tap anywhere starts the sound; this one asks for it.
    this.listen = h("button", { class: "listen" }, icon("sound"), t("hearing.tap"));
    const move = h("button", { "aria-label": t("stage.move"), onclick: () => this.#move(1) }, icon("move"));
    this.element = h("div", { class: "stage", role: "group", tabindex: "-1", "data-corner": corners[0] }, video, this.still, this.word, this.listen,
      h("div", { class: "small" }, move, open));
    this.zoom = new Zoom(this.element, video, () => !this.isSmall);
    this.#drag();
    this.ending = new AbortController();
    const { signal } = this.ending;
    watching.addEventListener("update", () => this.#update(), { signal });
    keepAwake(watching, signal);
    this.#update();
  }

  get isSmall() {
    return Boolean(this.element.closest(".behind"));
  }

  close() {
    this.ending.abort();
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    if (this.stillURL) URL.revokeObjectURL(this.stillURL);
  }

  #update() {
    const { watching } = this;
    const { watcher, pictureAt, isLive, hasNoCamera } = watching;
    const audioOnly = watcher.audioOnly;
    watching.video.hidden = audioOnly || hasNoCamera || !pictureAt;
    const { videoWidth, videoHeight } = watching.video;
    if (videoWidth) this.element.parentElement?.style.setProperty("--tall", Math.min(1, videoHeight / videoWidth));
    this.listen.hidden = watching.sound.verdict.reason !== "tap";
    if (this.still) this.still.hidden = audioOnly || hasNoCamera || Boolean(pictureAt);
    const isOld = !audioOnly && !isLive && !hasNoCamera && Boolean(pictureAt || this.still);
    this.element.classList.toggle("old", isOld);
    let text = "";
    if (audioOnly) text = t("stage.audio");
    else if (hasNoCamera) text = watching.cameraState === "off" ? `${t("privacy.now")}. ${t("privacy.help")}` : `${t("alarm.camera")}. ${t("alarm.camera.help")}`;
    else if (!isLive && pictureAt) text = t("stage.old", { age: duration((Date.now() - pictureAt) / 1000) });
    else if (!isLive && this.still) text = t("stage.still", { when: watching.child.lastSeenAt ? moment(watching.child.lastSeenAt) : "?" });
    else if (!isLive) text = t("stage.none");
    setText(this.word.firstChild, text);
    this.word.hidden = !text;
    setAttribute(this.element, "aria-label", isLive ? t("stage.label", { name: watching.name }) : text);
  }

  /** The whole screen, or back. */
  async toggleFull() {
    const root = document.documentElement;
    if (document.fullscreenElement) await document.exitFullscreen();
    else if (root.requestFullscreen) await root.requestFullscreen({ navigationUI: "hide" }).catch(() => notice(t("full.refused")));
    // iPhones give full screen to a video alone.
    else if (this.watching.video.webkitEnterFullscreen) this.watching.video.webkitEnterFullscreen();
    else notice(t("full.refused"));
  }

  /** The browser's floating window; where it has none, a small one inside the page. */
  async toggleSmall() {
    const { video } = this.watching;
    if (document.pictureInPictureElement) return document.exitPictureInPicture();
    if (this.isSmall) return this.expand();
    if (document.pictureInPictureEnabled && video.videoWidth) {
      const shown = await video.requestPictureInPicture().then(() => true, () => false);
      if (shown) return;
    }
    this.shrink();
  }

  #move(step) {
    const { dataset } = this.element;
    dataset.corner = corners[(corners.indexOf(dataset.corner) + step) % corners.length];
  }

  // Dragged with one finger, it snaps to the nearest corner; the button does the same without dragging (WCAG 2.5.7).
  #drag() {
    const { element } = this;
    let start = null;
    element.addEventListener("pointerdown", (event) => {
      if (!this.isSmall || event.target.closest("button")) return;
      start = { x: event.clientX, y: event.clientY, moved: false };
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [x, y] = [event.clientX - start.x, event.clientY - start.y];
      start.moved ||= Math.hypot(x, y) > 8;
      if (start.moved) element.style.translate = `${x}px ${y}px`;
    });
    const end = (event) => {
      if (!start) return;
      const { moved } = start;
      start = null;
      const box = element.getBoundingClientRect();
      element.style.translate = "";
      if (!moved) return event.type === "pointerup" && this.expand();
      const isLeft = box.left + box.width / 2 < innerWidth / 2;
      const isStart = isLeft !== (document.dir === "rtl");
      element.dataset.corner = `${box.top + box.height / 2 < innerHeight / 2 ? "top" : "bottom"}-${isStart ? "start" : "end"}`;
    };
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
  }
}
