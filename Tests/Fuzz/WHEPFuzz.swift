import Pairing
import SDP
import Signaling
import TestSupport
import Wire

/// Requests from anybody against an endpoint with one open session. The input is lines: method, path, query, content
/// type, If-Match, Accept; the rest is the body. `$` in the path and `#` in If-Match stand for the session's own.
enum WHEPFuzz: FuzzBody {
  static let name = "WHEP"

  private static let offer = Fixture.text("offer-aiortc.sdp")

  static var seeds: [[UInt8]] {
    let candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:0\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\n"
    let credentials = "a=ice-ufrag:Neww\na=ice-pwd:newnewnewnewnewnewnewnew\n"
    let fragmentType = "application/trickle-ice-sdpfrag"
    return [
      "POST\n/whep\ncamera=c%6ft\napplication/sdp\n\n*/*;q=0.1, application/sdp\n" + offer,
      "PATCH\n/whep/$\n\n\(fragmentType)\n#\n\n" + candidate + "a=end-of-candidates\n",
      "PATCH\n/whep/$\n\n\(fragmentType)\n*\n\n" + credentials + candidate,
      "PATCH\n/whep/$\n\n\(fragmentType)\n\"a\", #\n\na=ice-lite\na=group:BUNDLE 0 1\n" + credentials,
      "DELETE\n/whep/$\n\n\n\n\n", "OPTIONS\n/whep/x\n\n\n\n\n", "GET\n/whep\n\n\n\n\n",
    ].map { Array($0.utf8) }
  }

  /// An endpoint with one session, its path and its entity tag.
  private static let opened: (endpoint: WHEPEndpoint, path: String, tag: String) = {
    var endpoint = WHEPEndpoint(configuration: WHEPConfiguration(), random: SeededGenerator(seed: 1))
    let first = WHEPRequest(
      method: "POST", path: "/whep", headers: ["Content-Type": "application/sdp"], body: Array(offer.utf8))
    let response = perform(first, on: &endpoint)
    guard let path = response.headers["Location"].map({ "/" + $0 }), let tag = response.headers["ETag"] else {
      preconditionFailure("a good offer opens a session")
    }
    return (endpoint, path, tag)
  }()

  static func run(_ input: [UInt8]) {
    var (endpoint, path, tag) = opened
    let parts = input.split(separator: 10, maxSplits: 6, omittingEmptySubsequences: false)
    let lines = (0..<6).map { $0 < parts.count ? String(decoding: parts[$0], as: UTF8.self) : "" }
    let ownPath = lines[1] == "/whep/$" ? path : lines[1]
    var headers: HTTPFields = ["Content-Type": lines[3], "Accept": lines[5]]
    if !lines[4].isEmpty {
      headers.add("If-Match", lines[4].split(separator: "#", omittingEmptySubsequences: false).joined(separator: tag))
    }
    let request = WHEPRequest(
      method: lines[0], path: ownPath, query: lines[2], headers: headers, body: parts.count > 6 ? Array(parts[6]) : [])
    for _ in 0..<2 {
      let response = perform(request, on: &endpoint)
      precondition((200..<600).contains(response.status), "every request gets a status")
    }
    if let text = String(validating: request.body, as: UTF8.self), let fragment = try? TrickleFragment(parsing: text) {
      let again = try? TrickleFragment(parsing: fragment.description)
      precondition(again?.candidates == fragment.candidates, "what was written reads back the same")
    }
  }

  private static func perform(_ request: WHEPRequest, on endpoint: inout WHEPEndpoint) -> WHEPResponse {
    switch endpoint.handle(request, authorization: .granted([.view, .listen, .talk]), now: .zero) {
    case .respond(let response), .addCandidates(_, _, let response), .endSession(_, let response):
      return response
    case .createSession(let creation):
      return endpoint.completeCreate(creation.session, .success(creation.offer))
    case .restart(let id, let ufrag, let pwd, let fragment):
      return endpoint.completeRestart(
        id, .success(WHEPRestartedICE(ufrag: ufrag, pwd: pwd, candidates: fragment.candidates)))
    }
  }
}
