/**
 * When a page stops and runs again: hidden, frozen, kept in the back/forward cache, without a network.
 * WICG Page Lifecycle; HTML Standard, "pagehide".
 */
export class Wakes {
  #listening = null;
  #calls;

  /** @param {{online: function(), wake: function(), hide: function()}} calls `hide`: the page is being left */
  constructor(calls) {
    this.#calls = calls;
  }

  begin() {
    if (this.#listening) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    const { online, wake, hide } = this.#calls;
    const hear = (target, name, action) => target.addEventListener(name, action, { signal });
    hear(window, "online", online);
    hear(window, "pageshow", wake);
    hear(window, "pagehide", hide);
    hear(document, "resume", wake);
    hear(document, "visibilitychange", () => document.visibilityState === "visible" && wake());
  }

  end() {
    this.#listening?.abort();
    this.#listening = null;
  }
}
