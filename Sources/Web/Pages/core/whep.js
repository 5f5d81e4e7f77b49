import { SessionEnd } from "./connector.js";

/** How long the child may take to answer an offer, ms. */
const answerPatience = 8000;

const reasons = { 401: "token", 403: "token", 406: "not-acceptable", 429: "busy", 503: "busy" };

/**
 * Signalling with a bearer token over WHEP (draft-ietf-wish-whep): the small second way, for a browser that is not
 * paired. The answer is as authentic as the TLS certificate. The same calls as PairedSignaling.
 */
export class WHEPSignaling {
  #child;
  #resource = null;
  #abort = new AbortController();
  oncandidate = () => {};
  onservers = () => {};
  onend = () => {};

  constructor(child) {
    this.#child = child;
  }

  #headers = () => ({ Authorization: `Bearer ${this.#child.token}` });

  async start(makeOffer, accept) {
    const body = await makeOffer(false);
    const timer = setTimeout(() => this.#abort.abort(), answerPatience);
    const url = `${this.#child.origin}/whep`;
    let response, text;
    try {
      response = await fetch(url, {
        method: "POST", headers: { "Content-Type": "application/sdp", ...this.#headers() }, body, cache: "no-store",
        credentials: "omit", redirect: "error", referrerPolicy: "no-referrer", signal: this.#abort.signal,
      });
      text = await response.text();
    } catch (error) {
      throw new SessionEnd("unreachable", String(error?.message ?? error));
    } finally {
      clearTimeout(timer);
    }
    if (response.status !== 201) throw new SessionEnd(reasons[response.status] ?? "unreachable", `status ${response.status}`);
    try {
      const resource = new URL(response.headers.get("Location"), url);
      // The token goes nowhere else.
      if (resource.href.startsWith(`${this.#child.origin}/`)) this.#resource = resource.href;
    } catch {
      // Without a resource the session ends by itself.
    }
    return accept(text);
  }

  // The child answers with its candidates, and finds ours by their checks (RFC 8445 section 7.3.1.3).
  addCandidate() {}

  leave() {
    this.#abort.abort();
    if (!this.#resource) return;
    fetch(this.#resource, { method: "DELETE", headers: this.#headers(), keepalive: true, credentials: "omit" }).catch(() => {});
    this.#resource = null;
  }
}
