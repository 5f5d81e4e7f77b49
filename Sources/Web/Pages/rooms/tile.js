import { isFresh } from "../core/arrivals.js";
import { unreachedText } from "../screens/away.js";
import { ownPage } from "../screens/certificate.js";
import { h, setAttribute, setText } from "../screens/dom.js";
import { levelShare, toggleSound, whyNot } from "../screens/hearing.js";
import { icon } from "../screens/icons.js";
import { liveText } from "../screens/status.js";
import { moment, t } from "../texts/texts.js";

/** So many rooms have a picture; more are heard, and ring. */
export const mostPictures = 8;

/** One room of the list: its picture, how loud it is, and what is wrong. Beside a large picture it is a strip. */
export class Tile {
  #still;
  #bar = h("i");
  #name = h("b");
  #state = h("span", { class: "state" });
  #hearing = h("small");
  #trouble = h("span");
  #picture = h("span", { class: "picture" });
  #shown = 0;
  #ending = new AbortController();
  /** @type {Watching|null} null: left out */
  watching = null;
  /** Its picture is shown large, or it has none beside so many others. */
  isLarge = false;
  hasPicture = true;

  /**
   * @param {Child} child
   * @param {{open: () => void, leave: () => void, listen: () => void, mute: () => void}} actions
   */
  constructor(child, { open, leave, listen, mute }) {
    this.child = child;
    this.#still = child.still && h("img", { alt: "", src: URL.createObjectURL(child.still) });
    this.#picture.append(this.#still ?? "");
    this.open = h("button", { class: "open", "data-child": child.id, onclick: open }, this.#picture, h("span", { class: "words" }, this.#name, this.#state, this.#hearing), h("span", { class: "meter", role: "presentation" }, this.#bar));
    this.mute = h("button", { class: "plain", "data-do": "mute", onclick: () => {
      toggleSound(this.watching);
      mute();
    } });
    this.leave = h("button", { "data-do": "leave", onclick: leave });
    this.listen = h("button", { class: "main", "data-do": "listen", onclick: listen });
    this.trouble = h("div", { class: "problem", role: "status" }, this.#trouble, ownPage(child.origin));
    this.element = h("li", { "data-room": child.id }, this.open, this.trouble, h("div", { class: "row" }, this.mute, this.leave, this.listen));
    this.update();
  }

  get name() {
    return this.watching?.name ?? (this.child.name || new URL(this.child.origin).host);
  }

  /** Shows this one from now on; null: it is left out. */
  show(watching, update) {
    this.#ending.abort();
    this.#ending = new AbortController();
    const { signal } = this.#ending;
    if (!this.isLarge) this.watching?.video.remove();
    if (this.#still) this.#still.hidden = false;
    this.watching = watching;
    watching?.addEventListener("update", update, { signal });
    watching?.addEventListener("level", () => this.level(), { signal });
    this.place();
  }

  /** The picture is here unless it is large. */
  place() {
    const video = this.watching?.video;
    if (video && !this.isLarge && video.parentNode !== this.#picture) this.#picture.append(video);
    this.update();
  }

  close() {
    this.#ending.abort();
    this.watching?.stop();
    this.element.remove();
    if (this.#still) URL.revokeObjectURL(this.#still.src);
  }

  level() {
    const { watching } = this;
    const share = watching && isFresh(watching.watcher, Date.now()) ? levelShare(watching.control.level?.levelDb) : 0;
    if (Math.abs(share - this.#shown) < 0.01) return;
    this.#shown = share;
    this.#bar.style.transform = `scaleX(${share})`;
  }

  update() {
    const { watching, name } = this;
    const isLive = Boolean(watching?.isLive);
    setText(this.#name, name);
    setText(this.#state, watching ? this.#wrong() ?? liveText(watching) : t("rooms.left"));
    this.#state.classList.toggle("live", isLive && !this.#wrong());
    setText(this.#hearing, this.#heard());
    this.element.classList.toggle("bad", !watching || Boolean(this.#wrong()));
    this.element.classList.toggle("large", this.isLarge);
    if (watching) this.#showPicture(watching, isLive);
    setAttribute(this.open, "aria-label", `${name}. ${this.#state.textContent}. ${this.#hearing.textContent}`);
    const trouble = watching ? unreachedText(watching) : "";
    setText(this.#trouble, trouble);
    this.trouble.hidden = !trouble;
    for (const [button, isShown] of [[this.mute, watching], [this.leave, watching], [this.listen, !watching]]) button.hidden = !isShown;
    setText(this.listen, t("rooms.listen"));
    setText(this.leave, t("rooms.leave"));
    for (const button of [this.listen, this.leave]) setAttribute(button, "aria-label", `${button.textContent}: ${name}`);
    const isMuted = Boolean(watching?.sound.muted);
    setAttribute(this.mute, "aria-label", t(isMuted ? "rooms.unmute" : "rooms.mute", { name }));
    if (this.mute.dataset.is !== String(isMuted)) {
      this.mute.dataset.is = isMuted;
      this.mute.replaceChildren(icon(isMuted ? "mute" : "sound"));
    }
    this.level();
  }

  #showPicture({ watcher, video, hasNoCamera, pictureAt }, isLive) {
    if (!this.isLarge) video.hidden = watcher.audioOnly || hasNoCamera || !pictureAt;
    if (this.#still) this.#still.hidden = !video.hidden || this.isLarge;
    this.#picture.classList.toggle("old", !isLive);
  }

  /** What rings, or would if nobody had acknowledged it. */
  #wrong() {
    const { monitor, watcher } = this.watching;
    if (monitor.alarm && monitor.alarm.level !== "notice") return t(`alarm.${monitor.alarm.kind}`);
    if (watcher.phase === "refused") return t(`refused.${watcher.refusal?.reason}`, { when: moment(this.child.expiresAt ?? Date.now()) });
    return null;
  }

  #heard() {
    const { watching } = this;
    if (!watching) return this.child.lastSeenAt ? t("children.seen", { when: moment(this.child.lastSeenAt) }) : "";
    const { hearing } = watching.sound.verdict;
    const without = this.hasPicture ? "" : ` ${t("rooms.picture", { n: mostPictures })}`;
    if (hearing && watching.watcher.phase === "live") return t("hearing.yes") + without;
    return `${t("hearing.no")}. ${whyNot(watching.sound)}${without}`;
  }
}
