import RTSP

/// What a player sends on its RTSP connection: requests and packets. Its hashes are all alike, so that the parts behind Digest
/// access are reached.
enum RTSPFuzz: FuzzBody {
  static let name = "RTSP"

  private static let authorization =
    #"Authorization: Digest username="a", realm="cradle", nonce="\#(String(repeating: "00", count: 24))", uri="u", "#
    + #"response="\#(String(repeating: "07", count: 16))""#
  private static let secrets = DigestAccess.Secrets(user: "a", secret: "b", hashes: BlindHashes())

  static var seeds: [[UInt8]] {
    let requests = [
      "OPTIONS rtsp://a:8554/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: GStreamer/1.22.0\r\n\r\n",
      "DESCRIBE rtsp://a:8554/?camera=cot RTSP/1.0\r\nCSeq: 2\r\nAccept: application/sdp\r\n\(authorization)\r\n\r\n",
      "SETUP rtsp://a:8554/trackID=0 RTSP/1.0\r\nCSeq: 3\r\n"
        + "Transport: RTP/AVP;unicast;client_port=5000-5001,RTP/AVP/TCP;unicast;interleaved=0-1\r\n\(authorization)\r\n\r\n",
      "SETUP rtsp://a:8554/trackID=1 RTSP/1.0\r\nCSeq: 4\r\nTransport: RTP/AVP/TCP;interleaved=2-3\r\n"
        + "Session: 0000000000000000;timeout=60\r\n\(authorization)\r\n\r\n",
      "PLAY rtsp://a:8554/ RTSP/1.0\r\nCSeq: 5\r\nRange: npt=0.000-\r\n\(authorization), qop=auth, nc=1, cnonce=\"x\\\"\"\r\n\r\n",
      "GET_PARAMETER * RTSP/1.0\r\nCSeq: 6\r\nContent-Length: 3\r\n\r\nabc",
      "TEARDOWN * RTSP/1.0\r\nCSeq: 7\r\n\r\n",
    ].map { Array($0.utf8) }
    return [requests.flatMap { $0 }, requests[1] + requests[2] + [0x24, 1, 0, 2, 0x80, 201] + requests[4]]
  }

  private static func items(_ input: [UInt8], pieces: Int) -> ([RTSPReader.Item], RTSPReader.Failure?) {
    var reader = RTSPReader()
    var items: [RTSPReader.Item] = []
    var rest = input[...]
    do throws(RTSPReader.Failure) {
      while !rest.isEmpty {
        reader.append(rest.prefix(pieces))
        rest = rest.dropFirst(pieces)
        while let item = try reader.next() { items.append(item) }
        precondition(reader.waitingBytes <= 65_539, "what waits is bounded")
      }
      return (items, nil)
    } catch {
      return (items, error)
    }
  }

  static func run(_ input: [UInt8]) {
    let (items, failure) = items(input, pieces: 2048)
    // Where it ends does not depend on the pieces but for a head that is too long, of which more may have come at once.
    let (others, _) = self.items(input, pieces: 7)
    precondition(others == items || failure != nil, "the same, however it comes")
    let ports: (rtp: UInt16, rtcp: UInt16)? = (input.first ?? 0) & 1 == 0 ? nil : (5000, 5001)
    var session = RTSPServerSession(random: Array(repeating: 0, count: 32), ports: ports)
    let tracks = [RTSPTrack(.vp8, ssrc: 1), RTSPTrack(.opus, ssrc: 2)]
    for case .request(let request) in items {
      _ = session.authorize(request, hashes: BlindHashes()) { $0 == "a" ? secrets : nil }
      check(session.challenge(), request)
      switch session.handle(request) {
      case .respond(let response), .end(let response): check(response, request)
      case .describe: check(session.describe(request, tracks: tracks, title: "Nursery"), request)
      case .play(let streams):
        precondition(!streams.isEmpty && Set(streams.map(\.track)).count == streams.count, "each track once")
        let channels = streams.flatMap { stream -> [UInt8] in
          if case .interleaved(let channel) = stream.transport { [channel, channel + 1] } else { [] }
        }
        precondition(Set(channels).count == channels.count, "a channel has one track")
        precondition(channels.isEmpty || channels.count == streams.count * 2, "one way for all")
        check(session.played(), request)
      }
    }
  }

  /// Nothing that a request has in it can add a line to the response.
  private static func check(_ response: RTSPResponse, _ request: RTSPRequest) {
    let bytes = response.bytes(sequence: request["cseq"])
    let text = String(decoding: bytes, as: UTF8.self)
    guard let end = text.utf8.firstRange(of: "\r\n\r\n".utf8) else { preconditionFailure("a head has an end") }
    let head = text[..<end.lowerBound]
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    precondition(lines.count <= 8 && lines.dropFirst().allSatisfy { $0.contains(": ") }, "\(head)")
  }
}
