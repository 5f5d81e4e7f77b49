import { useAudioSession } from "../core/sound.js";
import { NoAnswer, within } from "../core/within.js";
import { t } from "../texts/texts.js";
import { system } from "./certificate.js";
import { h, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";
import { notice } from "./notices.js";

/**
 * The microphone stays ready for a while after talking, so that the next word is not cut off; then its sign goes out. On iPhones all
 * sound is quieter while it is open, so there it closes at once.
 */
const readyMilliseconds = () => (navigator.audioSession || system() === "iphone" ? 0 : 30_000);
/** For a browser that asks its user for the microphone, ms; after so long the page says that it waits for that. */
const questionPatience = 30_000, quietly = 1500;
const order = { permissions: ["talk"], command: "talk.acquire" };

/** Hold to talk, and a second button that keeps talking. "Talking" is shown when the child says that we have the floor. */
export class Talk {
  #wanted = false;
  #latched = false;
  #track = null;
  #sleep = 0;
  #busy = false;
  #isAsking = false;

  /** @param {Watching} watching */
  constructor(watching) {
    this.watching = watching;
    this.label = h("span");
    this.button = h("button", { class: "talk" }, icon("talk"), this.label);
    this.latchLabel = h("span", {}, t("talk.latch"));
    this.latch = h("button", { class: "latch", "aria-pressed": "false", onclick: () => this.#toggleLatch() }, icon("lock"), this.latchLabel);
    const { button } = this;
    button.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      button.setPointerCapture(event.pointerId);
      this.hold();
    });
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) button.addEventListener(name, () => this.release());
    button.addEventListener("contextmenu", (event) => event.preventDefault());
    button.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) this.hold();
    });
    button.addEventListener("keyup", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      this.release();
    });
    button.addEventListener("blur", () => this.release());
    watching.addEventListener("update", () => this.#update());
    this.#update();
  }

  get #obstacle() {
    const { watching } = this;
    if (!isSecureContext || !navigator.mediaDevices) return t("why.microphone");
    const obstacle = watching.obstacle(order);
    if (obstacle) return obstacle;
    if (watching.state.speaker?.state === "missing") return t("why.missing.speaker");
    const { holder, isGuest } = watching.state.talk ?? {};
    // A guest gives way to a parent; to another guest the child says that it is busy.
    return holder && !isGuest && !watching.isTalking ? t("talk.other", { name: holder }) : null;
  }

  hold() {
    this.watching.monitor.unlock();
    const obstacle = this.#obstacle;
    if (obstacle) return notice(obstacle);
    this.#wanted = true;
    this.#follow();
  }

  release() {
    if (!this.#wanted || this.#latched) return;
    this.#wanted = false;
    this.#follow();
  }

  #toggleLatch() {
    if (this.#latched) {
      this.#latched = false;
      this.release();
    } else {
      this.hold();
      this.#latched = this.#wanted;
    }
    this.#update();
  }

  // One order at a time; what is wanted may change meanwhile.
  async #follow() {
    if (this.#busy) return;
    this.#busy = true;
    this.#update();
    try {
      for (let talks = this.watching.isTalking; talks !== this.#wanted;) {
        if (this.#wanted) await this.#start();
        else await this.#stop();
        talks = !talks;
      }
    } catch { // Told already.
    } finally {
      this.#busy = false;
      this.#update();
    }
  }

  async #start() {
    try {
      clearTimeout(this.#sleep);
      // While the browser asks for it nobody talks, and others may. A finger that presses "Allow" has let go of the button.
      const track = await this.#microphone();
      if (!this.#wanted) return;
      await this.watching.control.request("talk.acquire");
      await this.watching.watcher.setMicrophone(track);
    } catch (error) {
      this.#wanted = this.#latched = false;
      const isRefused = ["NotAllowedError", "NotFoundError", "NotReadableError"].includes(error.name);
      if (error instanceof NoAnswer) notice(t("microphone.no-answer"));
      else notice(t(isRefused ? `microphone.${error.name}` : error.code === "busy" ? "talk.busy" : "error.other"), error.message);
      await this.#stop();
      throw error;
    }
  }

  async #stop() {
    const { watcher, control } = this.watching;
    await watcher.setMicrophone(null);
    this.#rest();
    await control.request("talk.release").catch(() => {});
  }

  #rest() {
    clearTimeout(this.#sleep);
    this.#sleep = setTimeout(() => this.close(), readyMilliseconds());
  }

  async #microphone() {
    if (this.#track?.readyState === "live") return this.#track;
    useAudioSession("play-and-record");
    const asking = setTimeout(() => {
      this.#isAsking = true;
      this.#update();
    }, quietly);
    try {
      const stream = await within(questionPatience, navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } }),
        (late) => late.getTracks().forEach((track) => track.stop()));
      [this.#track] = stream.getAudioTracks();
      return this.#track;
    } finally {
      clearTimeout(asking);
      this.#isAsking = false;
    }
  }

  /** Lets go of the microphone. */
  close() {
    if (this.#wanted) return;
    this.#track?.stop();
    this.#track = null;
    useAudioSession("playback");
  }

  #update() {
    const { isTalking } = this.watching;
    const obstacle = this.#obstacle;
    if (this.watching.watcher.phase !== "live" && this.#wanted && !this.#busy) this.#wanted = this.#latched = false;
    const text = obstacle ?? t(isTalking ? "talk.now" : this.#isAsking ? "microphone.waiting" : this.#wanted ? "talk.starting" : "talk");
    setText(this.label, text);
    this.button.classList.toggle("on", isTalking);
    setAttribute(this.button, "aria-busy", this.#busy && "true");
    for (const button of [this.button, this.latch]) {
      setAttribute(button, "aria-disabled", obstacle && "true");
      button.hidden = !this.watching.can("talk");
    }
    setAttribute(this.latch, "aria-pressed", String(this.#latched && isTalking));
    setText(this.latchLabel, t(this.#latched ? "talk.end" : "talk.latch"));
  }
}
