// An ICE restart over signalling: credentials and candidates without the rest of the descriptions, which stays. RFC 8840
// section 9, as TrickleFragment.swift.

const attribute = (text, name) => new RegExp(`^a=${name}:(.+?)\\r?$`, "m").exec(text)?.[1];

/** The fragment of an offer that restarts ICE; its candidates follow. All sections share one transport. */
export const fragment = (sdp) =>
  `a=ice-ufrag:${attribute(sdp, "ice-ufrag")}\r\na=ice-pwd:${attribute(sdp, "ice-pwd")}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:${attribute(sdp, "mid")}\r\n`;

/**
 * The answer to the restart: the session's answer with the fragment's credentials and candidates in place of its own.
 * @param {string} answer SDP @param {string} theirs
 */
export function restarted(answer, theirs) {
  const candidates = theirs.split(/\r?\n/).filter((line) => line.startsWith("a=candidate:"));
  const lines = answer.split(/\r?\n/).filter((line) => !/^a=(candidate:|end-of-candidates)/.test(line));
  const renewed = lines.map((line) => line.replace(/^a=(ice-ufrag|ice-pwd):.*/, (_, name) => `a=${name}:${attribute(theirs, name)}`));
  renewed.splice(renewed.findIndex((line) => line.startsWith("a=mid:")) + 1, 0, ...candidates);
  return renewed.join("\r\n");
}
