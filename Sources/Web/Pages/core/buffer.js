/** How long sound waits while packets are lost, so that repeated ones come in time, and over a path with blackouts, ms. */
const lossyTarget = 120;
const steadyTarget = 400;
/** More loss than this is worth waiting for, percent; less has to last so long before sound is prompt again, ms. */
const lossy = 2;
const calm = 10_000;

/** Whether this browser lets a page choose how long sound waits. W3C "WebRTC Extensions", `jitterBufferTarget`. */
export const canWait = () => "jitterBufferTarget" in (globalThis.RTCRtpReceiver?.prototype ?? {});

/** How long sound waits for late packets before it is played. */
export class SoundBuffer {
  #lossyAt = -Infinity;
  /** Whether sound is to be steady rather than prompt. */
  isSteady = false;

  /** What this page itself measured. @param {number|null} lossPercent @param {number} now ms of any clock that runs evenly */
  note(lossPercent, now) {
    if (lossPercent > lossy) this.#lossyAt = now;
  }

  /** @returns {number|null} at least so long, ms; null: as the browser finds right */
  target(now) {
    if (this.isSteady) return steadyTarget;
    return now - this.#lossyAt < calm ? lossyTarget : null;
  }

  /** @param {RTCPeerConnection|undefined} connection */
  apply(connection, now) {
    if (!canWait()) return;
    const target = this.target(now);
    for (const receiver of connection?.getReceivers() ?? []) {
      if (receiver.track.kind === "audio" && receiver.jitterBufferTarget !== target) receiver.jitterBufferTarget = target;
    }
  }
}
