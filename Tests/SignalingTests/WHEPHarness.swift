import Pairing
import SDP
import Signaling
import TestSupport
import Wire

/// A WHEP endpoint with a shell around it that does what it is told.
struct WHEPHarness {
  var endpoint: WHEPEndpoint
  var now = Instant.zero
  var effects: [WHEPEffect] = []
  var createResult: Result<Void, Problem> = .success(())
  var restartResult: Result<WHEPRestartedICE, Problem> = .success(
    WHEPRestartedICE(
      ufrag: "Ours", pwd: "oursoursoursoursoursours", candidates: ["candidate:1 1 udp 1 192.0.2.7 8443 typ host"]))

  init(_ configuration: WHEPConfiguration = WHEPConfiguration()) {
    endpoint = WHEPEndpoint(configuration: configuration, random: SeededGenerator(seed: 7))
  }

  mutating func send(
    _ method: String, _ path: String = "/whep", query: String = "", _ headers: HTTPFields = [:], body: [UInt8] = [],
    as authorization: Authorization = .granted([.view, .listen]), credential: String = ""
  ) -> WHEPResponse {
    let request = WHEPRequest(
      method: method, path: path, query: query, headers: headers, body: body, client: "192.0.2.50",
      credential: credential)
    let effect = endpoint.handle(request, authorization: authorization, now: now)
    effects.append(effect)
    switch effect {
    case .respond(let response), .addCandidates(_, _, let response), .endSession(_, let response):
      return response
    case .createSession(let creation):
      return endpoint.completeCreate(creation.session, createResult.map { Self.answer(creation.offer) })
    case .restart(let id, _, _, _):
      return endpoint.completeRestart(id, restartResult)
    }
  }

  mutating func post(
    _ offer: String = Self.offer, query: String = "", _ headers: HTTPFields = ["content-type": "application/sdp"],
    as authorization: Authorization = .granted([.view, .listen])
  ) -> WHEPResponse {
    send("POST", query: query, headers, body: Array(offer.utf8), as: authorization)
  }

  mutating func patch(_ path: String, _ body: String, tag: String?, type: String? = nil) -> WHEPResponse {
    var headers: HTTPFields = ["Content-Type": type ?? "application/trickle-ice-sdpfrag"]
    if let tag { headers.add("If-Match", tag) }
    return send("PATCH", path, headers, body: Array(body.utf8))
  }

  static let offer = Fixture.text("offer-chromium-recvonly.sdp")

  static func answer(_ offer: SessionDescription) -> SessionDescription {
    let local = LocalSession(
      iceUfrag: "Crdl", icePwd: "abcdefghijklmnopqrstuvwx", fingerprintSHA256: Array(0..<32),
      media: [
        LocalMedia(
          kind: .video, direction: .sendOnly, codecs: [.vp8, .rtx], headerExtensions: [], ssrc: 1, cname: "c",
          streamID: "s", trackID: "t")
      ], sessionID: 1)
    guard let result = try? OfferAnswer.answer(offer, with: local) else { preconditionFailure("a usable offer") }
    return result.answer
  }

  /// Credentials that the offer carries, as a fragment's lines.
  static var knownCredentials: String {
    let video = try? SessionDescription(parsing: offer).media[0]
    return "a=ice-ufrag:\(video?.iceUfrag ?? "")\r\na=ice-pwd:\(video?.icePwd ?? "")\r\n"
  }
}

extension WHEPResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
