import SDP
import TestSupport

/// The offers of real peers, and what they are called in the fixtures.
enum Offers {
  static let names = [
    "offer-chromium-recvonly", "offer-chromium-talkback", "offer-firefox-recvonly", "offer-firefox-talkback",
    "offer-safari", "offer-aiortc", "offer-webrtcbin-max-bundle",
  ]

  static func read(_ name: String) throws -> SessionDescription {
    try SessionDescription(parsing: Fixture.text(name + ".sdp"))
  }
}

/// What a child has to offer: one camera, one microphone that takes talk-back, the control channel.
func makeLocal(talk: MediaDirection = .sendOnly, setup: SetupRole = .active) -> LocalSession {
  let extensions = [
    RTPHeaderExtensionURI.mid, RTPHeaderExtensionURI.transportWideCC, RTPHeaderExtensionURI.absSendTime,
    RTPHeaderExtensionURI.absCaptureTime, RTPHeaderExtensionURI.playoutDelay,
  ]
  return LocalSession(
    iceUfrag: "Crdl", icePwd: "abcdefghijklmnopqrstuvwx",
    candidates: ["candidate:1 1 udp 2130706431 192.0.2.7 8443 typ host"], endOfCandidates: true,
    fingerprintSHA256: Array(0..<32), answerSetup: setup,
    media: [
      LocalMedia(
        kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: extensions, ssrc: 11, rtxSSRC: 12,
        cname: "cradle", streamID: "cot", trackID: "picture"),
      LocalMedia(
        kind: .audio, direction: talk, codecs: [.opus, .opusRED],
        headerExtensions: extensions, ssrc: 21, cname: "cradle", streamID: "cot", trackID: "sound"),
    ], sessionID: 4711)
}

/// A small offer to take apart: edit the text, then parse.
func smallOffer(_ edit: (inout String) -> Void = { _ in }) -> String {
  var text = """
    v=0
    o=- 1 1 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE v a d
    a=fingerprint:sha-256 \((0..<32).map { _ in "0A" }.joined(separator: ":"))
    a=ice-ufrag:abcd
    a=ice-pwd:0123456789012345678901
    m=video 9 UDP/TLS/RTP/SAVPF 100 101
    a=mid:v
    a=setup:actpass
    a=recvonly
    a=rtcp-mux
    a=rtpmap:100 VP8/90000
    a=rtcp-fb:100 nack
    a=rtpmap:101 rtx/90000
    a=fmtp:101 apt=100
    m=audio 9 UDP/TLS/RTP/SAVPF 96
    a=mid:a
    a=setup:actpass
    a=recvonly
    a=rtcp-mux
    a=rtpmap:96 opus/48000/2
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel
    a=mid:d
    a=setup:actpass
    a=sctp-port:5001

    """
  edit(&text)
  return text
}

extension String {
  /// With every `old` replaced.
  func replacing(_ old: String, with new: String) -> String {
    var result = ""
    var rest = self[...]
    while let range = rest.firstRange(of: old) {
      result += rest[..<range.lowerBound] + new
      rest = rest[range.upperBound...]
    }
    return result + rest
  }
}
