const most = 6;
const doubleTap = { milliseconds: 300, pixels: 30, scale: 2.5 };
const step = 1.4;

/**
 * Zoom of the picture: pinch, drag, wheel, double tap; while zoomed, a single tap brings that place to the middle, so that
 * one finger without dragging does it all (WCAG 2.5.1, 2.5.7). Keys: see keys.js.
 */
export class Zoom {
  #scale = 1;
  #x = 0;
  #y = 0;
  #fingers = new Map();
  #tap = null;
  #last = null;
  /** (scale) with each change. */
  onchange = () => {};

  /**
   * @param {HTMLElement} frame takes the fingers
   * @param {HTMLElement} picture is transformed
   * @param {() => boolean} isOn
   */
  constructor(frame, picture, isOn) {
    this.frame = frame;
    this.picture = picture;
    frame.addEventListener("pointerdown", (event) => {
      if (!isOn() || event.button) return;
      frame.setPointerCapture(event.pointerId);
      this.#fingers.set(event.pointerId, event);
      this.#tap = this.#fingers.size === 1 ? event : null;
    });
    frame.addEventListener("pointermove", (event) => this.#fingers.has(event.pointerId) && this.#move(event));
    frame.addEventListener("pointerup", (event) => this.#lift(event));
    frame.addEventListener("pointercancel", (event) => this.#fingers.delete(event.pointerId));
    frame.addEventListener("wheel", (event) => {
      if (!isOn()) return;
      event.preventDefault();
      this.#zoom(event.deltaY < 0 ? step : 1 / step, ...this.#place(event));
    }, { passive: false });
  }

  get isZoomed() {
    return this.#scale > 1;
  }

  /** One step larger (1) or smaller (-1); 0: the whole picture. */
  step(direction) {
    if (direction === 0) this.#zoom(1 / this.#scale, 0, 0);
    else this.#zoom(direction > 0 ? step : 1 / step, 0, 0);
  }

  /** Moves the picture by a share of the frame. */
  pan(x, y) {
    this.#x -= x * this.frame.clientWidth;
    this.#y -= y * this.frame.clientHeight;
    this.#apply();
  }

  // From the middle of the frame.
  #place({ clientX, clientY }) {
    const box = this.frame.getBoundingClientRect();
    return [clientX - box.left - box.width / 2, clientY - box.top - box.height / 2];
  }

  // The place under the fingers stays under them.
  #zoom(factor, x, y) {
    const scale = Math.min(most, Math.max(1, this.#scale * factor));
    const change = scale / this.#scale;
    this.#x = x - (x - this.#x) * change;
    this.#y = y - (y - this.#y) * change;
    this.#scale = scale;
    this.#apply();
  }

  #apply() {
    const [width, height] = [this.frame.clientWidth, this.frame.clientHeight];
    const limit = (value, size) => Math.min(1, Math.max(-1, value / ((this.#scale - 1) * size / 2 || 1))) * (this.#scale - 1) * size / 2;
    this.#x = limit(this.#x, width);
    this.#y = limit(this.#y, height);
    this.onchange(this.#scale);
    this.picture.style.transform = this.isZoomed ? `translate(${this.#x}px, ${this.#y}px) scale(${this.#scale})` : "";
  }

  #move(event) {
    const before = this.#fingers.get(event.pointerId);
    const other = [...this.#fingers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
    if (this.#tap && Math.hypot(event.clientX - this.#tap.clientX, event.clientY - this.#tap.clientY) > 10) this.#tap = null;
    if (other) {
      const distance = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
      const [x1, y1] = this.#place(event);
      const [x2, y2] = this.#place(other);
      this.#x += (event.clientX - before.clientX) / 2;
      this.#y += (event.clientY - before.clientY) / 2;
      if (distance(before) > 0) this.#zoom(distance(event) / distance(before), (x1 + x2) / 2, (y1 + y2) / 2);
    } else if (this.isZoomed && !this.#tap) {
      this.#x += event.clientX - before.clientX;
      this.#y += event.clientY - before.clientY;
      this.#apply();
    }
    this.#fingers.set(event.pointerId, event);
  }

  #lift(event) {
    if (!this.#fingers.delete(event.pointerId) || !this.#tap) return;
    this.#tap = null;
    const [x, y] = this.#place(event);
    const last = this.#last;
    const isDouble = last && event.timeStamp - last.at < doubleTap.milliseconds && Math.hypot(x - last.x, y - last.y) < doubleTap.pixels;
    this.#last = isDouble ? null : { at: event.timeStamp, x, y };
    if (isDouble) this.#zoom(last.wasZoomed ? 1 / this.#scale : doubleTap.scale / this.#scale, x, y);
    else {
      this.#last.wasZoomed = this.isZoomed;
      if (this.isZoomed) this.pan(x / this.frame.clientWidth, y / this.frame.clientHeight);
    }
  }
}
