/** The address of the page's own child, as `child.origin`: with the path that a proxy has put it under, without a slash at the end. */
export const here = new URL(".", document.baseURI).href.replace(/\/$/, "");

const mostServers = 8;
const mostMeetings = 8;
const longest = 512;

const isText = (value) => typeof value === "string" && value.length > 0 && value.length <= longest;
const list = (value, most) => (Array.isArray(value) ? value.slice(0, most).filter((one) => one !== null && typeof one === "object") : []);

/**
 * STUN and TURN servers as RTCPeerConnection takes them; what it would refuse is left out (W3C WebRTC 1.0, "RTCIceServer").
 * @returns {RTCIceServer[]}
 */
export function readServers(told) {
  const servers = list(told, mostServers).map(({ urls, username, credential }) => {
    const isUser = isText(username) && isText(credential);
    const usable = [urls].flat().slice(0, mostServers).filter((url) => isText(url) && (isUser ? /^(stun|turn)s?:/ : /^stuns?:/).test(url));
    return isUser ? { urls: usable, username, credential } : { urls: usable };
  });
  return servers.filter(({ urls }) => urls.length > 0);
}

/**
 * How a child is reached from elsewhere, as its `hello` has it. interfaces/wire.md, "From elsewhere".
 * @returns {{iceServers: RTCIceServer[], meetings: {kind: string, url: string, keySHA256?: string}[]}}
 */
export function readAway(told) {
  const meetings = list(told?.meetings, mostMeetings).filter(({ kind, url }) => isText(kind) && isText(url));
  return {
    iceServers: readServers(told?.iceServers),
    meetings: meetings.map(({ kind, url, keySHA256 }) => (isText(keySHA256) ? { kind, url, keySHA256 } : { kind, url })),
  };
}

/**
 * Addresses at which the child is reached in its home now, the best first, as its `hello` has them.
 * @returns {string[]} origins, `https://HOST:PORT`
 */
export function readOrigins(told) {
  const texts = Array.isArray(told) ? told.slice(0, mostServers).filter(isText) : [];
  return texts.flatMap((text) => {
    try {
      const url = new URL(text);
      return url.protocol === "https:" && !url.username && !url.password ? [url.origin] : [];
    } catch {
      return [];
    }
  });
}

/** Where else the child may be reached in its home than at the address that it was paired at. @param {Child} child @returns {string[]} */
export const otherOrigins = (child) => (child.origins ?? []).filter((origin) => origin !== child.origin);

/** The socket of a room server, from `wss://HOST` or `wss://HOST/PATH`; null if it is none. */
function socketURL(text) {
  try {
    const url = new URL(text);
    if (url.protocol !== "wss:" || url.username || url.password || url.hash) return null;
    if (url.pathname === "/") url.pathname = "/signal";
    return url.href;
  } catch {
    return null;
  }
}

/** Why this page cannot use a meeting place: "pinned" (only its key is known, and browsers ask for a certificate), "kind"; null if it can. */
export function meetingObstacle({ kind, url, keySHA256 }) {
  if (kind !== "rendezvous" || !socketURL(url)) return "kind";
  return keySHA256 ? "pinned" : null;
}

/** The sockets of the meeting places that a browser can use. @param {Child} child @returns {string[]} */
export const meetingSockets = (child) =>
  (child.away?.meetings ?? []).filter((meeting) => !meetingObstacle(meeting)).map(({ url }) => socketURL(url));
