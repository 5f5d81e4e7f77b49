public import Wire

/// One player's connection, as a state machine: requests go in, responses and what to do come out. RFC 2326. The session lives as
/// long as its connection.
public struct RTSPServerSession: Sendable {
  public enum Effect: Hashable, Sendable {
    case respond(RTSPResponse)
    /// Describe what is asked for, then call `describe`.
    case describe
    /// Begin to send, then call `played`.
    case play([RTSPStream])
    /// Respond, then end the connection.
    case end(RTSPResponse)
  }

  /// What is known of the player's credential.
  public enum Access: Hashable, Sendable {
    case granted(user: String)
    /// It has sent none.
    case missing
    /// It is right, and signed for another connection.
    case stale
    case wrong(user: String)
  }

  private enum State: Sendable {
    case begun
    case ready([RTSPTrack], [RTSPStream])
    case playing
  }

  /// Seconds without a request or a report, after which a player of datagrams is ended.
  public static let timeout = 60
  private static let methods = "OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN"

  private let access: DigestAccess
  private let id: String
  /// Ports from which datagrams are sent; nil: there are none.
  private let ports: (rtp: UInt16, rtcp: UInt16)?
  private var state: State = .begun

  /// - Parameters:
  ///   - random: for the challenge and the session's id, 32 bytes at least.
  ///   - ports: from which datagrams are sent; nil: media go through the connection alone.
  public init(random: [UInt8], ports: (rtp: UInt16, rtcp: UInt16)? = nil) {
    id = random.prefix(8).hexadecimal()
    access = DigestAccess(random: Array(random.dropFirst(8)))
    self.ports = ports
  }

  /// Whether a request needs a credential: those that show or change nothing but the connection's own session do not.
  public static func needsCredential(_ request: RTSPRequest) -> Bool {
    !["OPTIONS", "GET_PARAMETER", "TEARDOWN"].contains(request.method)
  }

  /// Whether a request is signed with the secret of a user.
  ///
  /// - Parameter secrets: of a user; nil for one that does not exist.
  public func authorize(
    _ request: RTSPRequest, hashes: any Hashes, secrets: (_ user: String) -> DigestAccess.Secrets?
  ) -> Access {
    guard let parameters = request["authorization"].flatMap(DigestAccess.parameters),
      let user = parameters["username"]
    else { return .missing }
    guard let known = secrets(user) else { return .wrong(user: user) }
    switch access.verify(parameters, method: request.method, secrets: known, hashes: hashes) {
    case .right: return .granted(user: user)
    case .stale: return .stale
    case .wrong: return .wrong(user: user)
    }
  }

  /// A response that refuses.
  ///
  /// - Parameter reason: for a person, one line.
  public static func refusal(_ status: Int, _ reason: String? = nil) -> RTSPResponse {
    RTSPResponse(status, phrase: reason)
  }

  /// The response to what is not RTSP.
  public static func refusal(_ failure: RTSPReader.Failure) -> RTSPResponse {
    RTSPResponse(failure == .version ? 505 : 400)
  }

  /// The response to a request without a right credential.
  public func challenge(isStale: Bool = false, reason: String? = nil) -> RTSPResponse {
    var response = RTSPResponse(401, phrase: reason)
    response.headers = access.challenges(isStale: isStale)
    return response
  }

  /// - Returns: what to do about a request of an authorized player.
  public mutating func handle(_ request: RTSPRequest) -> Effect {
    if let named = request["session"], named.prefix(while: { $0 != ";" }) != id { return .respond(RTSPResponse(454)) }
    // Section 12.32: nothing is known that could be required.
    if let option = request["require"] { return .respond(RTSPResponse(551, "Unsupported: \(option)")) }
    switch request.method {
    case "OPTIONS": return .respond(RTSPResponse(200, "Public: \(Self.methods)"))
    case "GET_PARAMETER": return .respond(RTSPResponse(200, "Session: \(id)"))
    case "TEARDOWN": return .end(RTSPResponse(200, "Session: \(id)"))
    case "DESCRIBE":
      if case .playing = state { return .respond(RTSPResponse(455)) }
      return .describe
    case "SETUP": return .respond(setUp(request))
    case "PLAY":
      switch state {
      case .ready(_, let streams) where !streams.isEmpty: return .play(streams)
      case .playing: return .respond(playing)
      case .begun, .ready: return .respond(RTSPResponse(455))
      }
    default: return .respond(RTSPResponse(405, "Allow: \(Self.methods)"))
    }
  }

  /// - Parameters:
  ///   - tracks: what the player may have.
  ///   - title: of the stream, printable.
  public mutating func describe(_ request: RTSPRequest, tracks: [RTSPTrack], title: String) -> RTSPResponse {
    state = .ready(tracks, [])
    // Addresses of tracks are relative to it, so no query may be in it.
    let address = request.uri.prefix { $0 != "?" }
    let base = address.hasSuffix("/") ? String(address) : address + "/"
    let number = id.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) }
    var lines = ["v=0", "o=- \(number) 1 IN IP4 0.0.0.0", "s=\(title)", "c=IN IP4 0.0.0.0", "t=0 0", "a=control:*"]
    for (index, track) in tracks.enumerated() { lines += track.lines + ["a=control:trackID=\(index)"] }
    return RTSPResponse(
      200, "Content-Base: \(base)", "Content-Type: application/sdp", "Cache-Control: no-store",
      body: lines.joined(separator: "\r\n") + "\r\n")
  }

  /// The media come now.
  public mutating func played() -> RTSPResponse {
    state = .playing
    return playing
  }

  private var playing: RTSPResponse { RTSPResponse(200, session, "Range: npt=now-") }
  private var session: String { "Session: \(id);timeout=\(Self.timeout)" }

  private mutating func setUp(_ request: RTSPRequest) -> RTSPResponse {
    guard case .ready(let tracks, var streams) = state else { return RTSPResponse(455) }
    guard let track = Self.track(request.uri, tracks) else { return RTSPResponse(404) }
    streams.removeAll { $0.track == track }
    guard let transport = transport(request["transport"] ?? "", beside: streams) else { return RTSPResponse(461) }
    streams.append(RTSPStream(track: track, transport: transport))
    state = .ready(tracks, streams)
    let ssrc = String(track.ssrc, radix: 16, uppercase: true)
    let words =
      switch transport {
      case .interleaved(let channel): "RTP/AVP/TCP;unicast;interleaved=\(channel)-\(channel + 1)"
      case .datagrams(let rtp, let rtcp):
        "RTP/AVP;unicast;client_port=\(rtp)-\(rtcp)" + (ports.map { ";server_port=\($0.rtp)-\($0.rtcp)" } ?? "")
      }
    return RTSPResponse(200, "Transport: \(words);ssrc=\(ssrc)", session)
  }

  /// The address of one track alone may name the stream.
  private static func track(_ uri: String, _ tracks: [RTSPTrack]) -> RTSPTrack? {
    guard let name = uri.ranges(of: "trackID=").last else { return tracks.count == 1 ? tracks[0] : nil }
    let digits = uri[name.upperBound...].prefix { $0 != "/" && $0 != "?" }
    guard let index = Int(digits), tracks.indices.contains(index) else { return nil }
    return tracks[index]
  }

  /// The first transport that can be. Section 12.39.
  private func transport(_ header: String, beside streams: [RTSPStream]) -> RTSPStream.Transport? {
    // One session has its media one way.
    let isInterleaved = streams.first.map { if case .interleaved = $0.transport { true } else { false } }
    for offer in header.split(separator: ",") {
      let parameters = offer.split(separator: ";").map { $0.trimmed().lowercased() }
      guard !parameters.contains("multicast") else { continue }
      switch parameters.first {
      case "rtp/avp/tcp" where isInterleaved != false:
        if let channel = Self.channel(parameters, beside: streams) { return .interleaved(channel: channel) }
      case "rtp/avp" where ports != nil && isInterleaved != true,
        "rtp/avp/udp" where ports != nil && isInterleaved != true:
        if let pair = Self.pair("client_port=", parameters), pair.0 > 0, pair.1 > 0, pair.0 != pair.1 {
          return .datagrams(rtp: pair.0, rtcp: pair.1)
        }
      default: continue
      }
    }
    return nil
  }

  /// The player names it, or takes the next free one.
  private static func channel(_ parameters: [String], beside streams: [RTSPStream]) -> UInt8? {
    let taken = Set(
      streams.flatMap { stream -> [UInt8] in
        if case .interleaved(let channel) = stream.transport { [channel, channel + 1] } else { [] }
      })
    guard parameters.contains(where: { $0.hasPrefix("interleaved=") }) else {
      return (0..<127).map { UInt8($0 * 2) }.first { !taken.contains($0) }
    }
    guard let (named, _) = pair("interleaved=", parameters), let channel = UInt8(exactly: named), channel < 255,
      taken.isDisjoint(with: [channel, channel + 1])
    else { return nil }
    return channel
  }

  /// `NAME=4-5`; with one number alone the second is the next one.
  private static func pair(_ name: String, _ parameters: [String]) -> (UInt16, UInt16)? {
    guard let found = parameters.first(where: { $0.hasPrefix(name) }) else { return nil }
    let numbers = found.dropFirst(name.count).split(separator: "-").prefix(2).map { UInt16($0) }
    guard let first = numbers.first ?? nil, first < .max, let second = numbers.count == 2 ? numbers[1] : first + 1
    else { return nil }
    return (first, second)
  }
}
