import Foundation
import RTSP
import SecureTransport
import Testing

@Suite struct RTSPServerSessionTests {
  private static let address = "rtsp://nursery.local:8554/"
  private static let secrets = DigestAccess.Secrets(user: "frigate", secret: "cradle_secret", hashes: CryptoHashes())
  private static let tracks = [RTSPTrack(.vp8, ssrc: 0xab), RTSPTrack(.opus, ssrc: 0x12)]

  private var session = RTSPServerSession(
    random: Array(repeating: 0, count: 32), ports: (rtp: 5000, rtcp: 5001))

  private func text(_ response: RTSPResponse) -> String {
    String(decoding: response.bytes(sequence: "7"), as: UTF8.self)
  }

  private mutating func send(_ method: String, _ uri: String = address, _ headers: [String: String] = [:]) -> String {
    let headers = headers.map { RTSPRequest.Header(name: $0.key, value: $0.value) }
    switch session.handle(RTSPRequest(method: method, uri: uri, headers: headers)) {
    case .respond(let response): return text(response)
    case .describe:
      return text(session.describe(RTSPRequest(method: method, uri: uri), tracks: Self.tracks, title: "Nursery"))
    case .play: return text(session.played())
    case .end(let response): return "end " + text(response)
    }
  }

  private mutating func setUp(_ track: Int, _ transport: String) -> String {
    send("SETUP", Self.address + "trackID=\(track)", ["transport": transport])
  }

  @Test mutating func aPlayerIsToldEverythingAndPlays() {
    #expect(send("OPTIONS").contains("Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN\r\n"))
    let description = send("DESCRIBE", "rtsp://nursery.local:8554?camera=door")
    #expect(description.hasPrefix("RTSP/1.0 200 OK\r\nCSeq: 7\r\n"))
    #expect(description.contains("Content-Base: rtsp://nursery.local:8554/\r\n"))
    let body = description.components(separatedBy: "\r\n\r\n")[1]
    #expect(description.contains("Content-Length: \(body.utf8.count)\r\n"))
    #expect(
      body.hasSuffix(
        """
        s=Nursery\r
        c=IN IP4 0.0.0.0\r
        t=0 0\r
        a=control:*\r
        m=video 0 RTP/AVP 96\r
        a=rtpmap:96 VP8/90000\r
        a=control:trackID=0\r
        m=audio 0 RTP/AVP 97\r
        a=rtpmap:97 opus/48000/2\r
        a=fmtp:97 sprop-stereo=0\r
        a=control:trackID=1\r

        """))
    let first = setUp(0, "RTP/AVP/TCP;unicast;interleaved=0-1")
    #expect(
      first.contains(
        "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=AB\r\nSession: 0000000000000000;timeout=60\r\n"))
    #expect(setUp(1, "RTP/AVP/TCP;unicast;interleaved=2-3").contains("interleaved=2-3;ssrc=12\r\n"))
    let play = session.handle(
      RTSPRequest(
        method: "PLAY", uri: Self.address, headers: [.init(name: "session", value: "0000000000000000")]))
    #expect(
      play
        == .play([
          RTSPStream(track: Self.tracks[0], transport: .interleaved(channel: 0)),
          RTSPStream(track: Self.tracks[1], transport: .interleaved(channel: 2)),
        ]))
    #expect(text(session.played()).contains("Range: npt=now-\r\n"))
    // Once more, as some players do to keep the session.
    #expect(send("PLAY").hasPrefix("RTSP/1.0 200"))
    #expect(send("GET_PARAMETER").hasPrefix("RTSP/1.0 200"))
    #expect(setUp(0, "RTP/AVP/TCP").hasPrefix("RTSP/1.0 455") && send("DESCRIBE").hasPrefix("RTSP/1.0 455"))
    #expect(send("TEARDOWN").hasPrefix("end RTSP/1.0 200"))
  }

  @Test mutating func whatCannotBeIsRefused() {
    #expect(send("PLAY").hasPrefix("RTSP/1.0 455"))
    #expect(setUp(0, "RTP/AVP/TCP").hasPrefix("RTSP/1.0 455"))
    _ = send("DESCRIBE")
    #expect(send("PLAY").hasPrefix("RTSP/1.0 455"))
    for track in ["trackID=2", "trackID=-1", "trackID=", "trackID=99999999999999999999", "audio", ""] {
      #expect(
        send("SETUP", Self.address + track, ["transport": "RTP/AVP/TCP"]).hasPrefix("RTSP/1.0 404"), "\(track)")
    }
    for transport in [
      "", "RTP/AVP;multicast;client_port=4-5", "RTP/SAVP;unicast;client_port=4-5", "RTP/AVP;unicast",
      "RTP/AVP;unicast;client_port=0-1", "RTP/AVP;unicast;client_port=65536-65537",
      "RTP/AVP;unicast;client_port=65535", "RTP/AVP;unicast;client_port=4-4", "RTP/AVP;unicast;client_port=-",
      "RTP/AVP/TCP;interleaved=255-256", "RTP/AVP/TCP;interleaved=256", "RTP/AVP/TCP;interleaved=x",
    ] { #expect(setUp(0, transport).hasPrefix("RTSP/1.0 461"), "\(transport)") }
    for method in ["RECORD", "ANNOUNCE", "PAUSE", "describe", "REDIRECT"] {
      #expect(send(method).hasPrefix("RTSP/1.0 405 Method Not Allowed\r\nCSeq: 7\r\nServer: Cradle\r\nAllow: OPTIONS"))
    }
    #expect(send("PLAY", Self.address, ["session": "1"]).hasPrefix("RTSP/1.0 454"))
    #expect(send("PLAY", Self.address, ["require": "funky"]).contains("Unsupported: funky\r\n"))
  }

  @Test mutating func aTransportIsChosen() {
    _ = send("DESCRIBE")
    #expect(setUp(0, "RTP/AVP/TCP;interleaved=4-5").contains("interleaved=4-5"))
    // Its channels are taken, by the other track only.
    #expect(setUp(1, "RTP/AVP/TCP;interleaved=5-6").hasPrefix("RTSP/1.0 461"))
    #expect(setUp(0, "RTP/AVP/TCP;interleaved=5-6").contains("interleaved=5-6"))
    #expect(setUp(1, "RTP/AVP/TCP").contains("interleaved=0-1"))
    // One session has one way.
    #expect(setUp(1, "RTP/AVP;client_port=4-5").hasPrefix("RTSP/1.0 461"))
    _ = send("DESCRIBE")
    let datagrams = setUp(0, "RTP/AVP;multicast,RTP/AVP/UDP;unicast;client_port=4000-4001,RTP/AVP/TCP")
    #expect(datagrams.contains("Transport: RTP/AVP;unicast;client_port=4000-4001;server_port=5000-5001;ssrc=AB"))
    #expect(setUp(1, "RTP/AVP;client_port=4002").contains("client_port=4002-4003"))
    session = RTSPServerSession(random: Array(repeating: 0, count: 32))
    _ = send("DESCRIBE")
    #expect(setUp(0, "RTP/AVP;client_port=4-5").hasPrefix("RTSP/1.0 461"))
    #expect(setUp(0, "RTP/AVP;client_port=4-5,RTP/AVP/TCP").contains("interleaved=0-1"))
  }

  // MARK: Digest

  private static let nonce = String(repeating: "00", count: 24)

  private func access(_ header: String?, method: String = "DESCRIBE") -> RTSPServerSession.Access {
    let headers = header.map { [RTSPRequest.Header(name: "authorization", value: $0)] } ?? []
    return session.authorize(
      RTSPRequest(method: method, uri: Self.address, headers: headers), hashes: CryptoHashes()
    ) { $0 == "frigate" ? Self.secrets : nil }
  }

  /// The responses were computed by Python's hashlib after RFC 7616 and 2069.
  @Test func aTokenIsProvenWithBothHashes() {
    let challenge = text(session.challenge())
    #expect(challenge.hasPrefix("RTSP/1.0 401 Unauthorized\r\n") && challenge.contains(#"nonce="\#(Self.nonce)""#))
    #expect(challenge.contains("algorithm=SHA-256\r\n") && challenge.contains("algorithm=MD5\r\n"))
    let common = #"Digest username="frigate", realm="cradle", nonce="\#(Self.nonce)", uri="\#(Self.address)""#
    let md5 = common + #", response="1e437ab91102b2a44b6cb75657c7e453""#
    #expect(access(md5) == .granted(user: "frigate"))
    // Some name what they were offered first.
    #expect(access(md5 + ", algorithm=SHA-256") == .granted(user: "frigate"))
    let sha256 =
      common
      + #", algorithm=SHA-256, qop=auth, nc=00000001, cnonce="f2/wE4q74E6zIJEt", response="627243267bcb6300c2d8658f6075a13ba4e895b6ee486ab9c534efa10d68265a""#
    #expect(access(sha256) == .granted(user: "frigate"))
    #expect(access(sha256.replacing("qop=auth,", with: "qop=auth-int,")) == .wrong(user: "frigate"))
    #expect(access(sha256.replacing("nc=00000001", with: "nc=00000002")) == .wrong(user: "frigate"))
    #expect(access(md5, method: "PLAY") == .wrong(user: "frigate"))
    #expect(access(md5.replacing("cradle\"", with: "other\"")) == .wrong(user: "frigate"))
    #expect(access(md5.replacing("frigate", with: "other")) == .wrong(user: "other"))
    // Signed right, for a connection before this one.
    let stale = md5.replacing(Self.nonce, with: String(repeating: "11", count: 24))
    #expect(access(stale) == .wrong(user: "frigate"))
    #expect(
      access(stale.replacing("1e437ab91102b2a44b6cb75657c7e453", with: "aba90cdf6f561a7fd34c9a73e548da7b")) == .stale)
    #expect(text(session.challenge(isStale: true)).contains("stale=true"))
    for none in [nil, "Basic Zm9vOmJhcg==", "Digest", "Digest realm=\"cradle\"", ""] {
      #expect(access(none) == .missing)
    }
  }

  /// What looks at or ends a connection's own session needs no credential; what shows the room does.
  @Test func whatShowsTheRoomNeedsACredential() {
    for method in ["DESCRIBE", "SETUP", "PLAY", "RECORD", "options"] {
      #expect(RTSPServerSession.needsCredential(RTSPRequest(method: method, uri: "*")))
    }
    for method in ["OPTIONS", "GET_PARAMETER", "TEARDOWN"] {
      #expect(!RTSPServerSession.needsCredential(RTSPRequest(method: method, uri: "*")))
    }
  }
}
