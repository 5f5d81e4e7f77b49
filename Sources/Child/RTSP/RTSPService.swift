internal import DeviceNames
internal import Frames
internal import NIOCore
internal import Pairing
internal import Pipelines
internal import RTSP
internal import SecureTransport
internal import Server
internal import Signaling
internal import Storage
internal import VideoFormats
internal import Wire

/// RTSP for players and recorders that speak nothing else: each is a viewer with a token that was made for it. docs/PLAYERS.md.
///
/// `@unchecked Sendable` because it is confined to the event loop, but for `open` and `close`.
final class RTSPService: @unchecked Sendable {
  enum Authorization {
    case granted(TokenRecord)
    case refused(RTSPResponse)
  }

  /// Connections at once. Those that play have places of their own (`ViewerAdmission`), so there is always one that does not.
  private static let maximumConnections = 48
  private static let maximumPerClient = 16
  /// A second or two of a good picture, and half of that in the kernel.
  private static let limits = StreamServer.Limits(sendBufferBytes: 128 * 1024, unread: 64 * 1024...256 * 1024)

  private let viewers: Viewers
  private let tokens: TokenBook
  private let certificate: ServerCertificate
  private let refused: RefusedPlayers
  private let hashes = CryptoHashes()
  private var wrongTokens = WrongTokenLimiter()
  private var server: StreamServer?
  private var datagrams: RTSPDatagrams?
  private var connections: [ObjectIdentifier: RTSPConnection] = [:]

  init(viewers: Viewers, tokens: TokenBook, certificate: ServerCertificate, refused: RefusedPlayers) {
    self.viewers = viewers
    self.tokens = tokens
    self.certificate = certificate
    self.refused = refused
  }

  var title: String { viewers.settings.childName }
  /// What a path carries that was never too slow: the best picture, with sound and headers.
  var maximumKbps: Int { viewers.settings.bitrateKbps.upperBound * 5 / 4 + 200 }

  /// Binds the port.
  ///
  /// - Returns: the port.
  /// - Throws: `IOError`.
  func open(_ address: ListenAddress) async throws -> Int {
    let loop = viewers.hub.eventLoop
    let server = try await StreamServer.start(
      host: address.host, port: Int(address.port), limits: Self.limits, on: loop,
      tls: { [certificate] in certificate.context },
      handler: { [weak self] client in self?.admit(client) })
    let datagrams: RTSPDatagrams
    do {
      datagrams = try await RTSPDatagrams.open(host: server.host, on: loop) { [weak self] address in
        _ = self?.connections.values.contains { $0.hear(from: address) }
      }
    } catch {
      await server.stop()
      throw error
    }
    try await loop.submit { [self] in
      self.server = server
      self.datagrams = datagrams
      viewers.registry.observe { [weak self] event in
        guard case .secondPassed = event, let self else { return }
        for connection in connections.values { connection.beat(now: MonotonicClock.now) }
      }
    }.get()
    return server.port
  }

  /// Ends all connections.
  func close() async {
    await server?.stop()
    try? await viewers.hub.eventLoop.submit { [self] in connections.values.forEach { $0.close() } }.get()
    await datagrams?.close()
  }

  /// At the limit, the oldest that does not play makes room.
  private func admit(_ client: IPAddress?) -> RTSPConnection? {
    let ofClient = connections.values.filter { $0.client == client }
    let crowded = ofClient.count >= Self.maximumPerClient ? ofClient : Array(connections.values)
    if ofClient.count >= Self.maximumPerClient || connections.count >= Self.maximumConnections {
      guard let oldest = crowded.filter({ $0.viewer == nil }).min(by: { $0.since < $1.since }) else { return nil }
      oldest.close()
      ended(oldest)
    }
    let connection = RTSPConnection(self, client: client, ports: datagrams?.ports)
    connections[ObjectIdentifier(connection)] = connection
    return connection
  }

  func ended(_ connection: RTSPConnection) {
    connections[ObjectIdentifier(connection)] = nil
    if let viewer = connection.viewer { viewers.outletEnded(viewer) }
  }

  func send(_ packets: [[UInt8]], to address: SocketAddress, areReports: Bool = false) {
    datagrams?.send(packets, to: address, areReports: areReports)
  }

  static func random() -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  // MARK: Requests

  /// The token with which a request is signed.
  func authorize(_ request: RTSPRequest, of session: RTSPServerSession, from client: IPAddress?) -> Authorization {
    let access = session.authorize(request, hashes: hashes) { tokens.recordForRTSP(named: $0)?.rtsp }
    switch access {
    case .missing: return .refused(session.challenge())
    case .stale: return .refused(session.challenge(isStale: true))
    case .granted(let user):
      guard let record = tokens.recordForRTSP(named: user) else { return .refused(session.challenge()) }
      tokens.recordUse(of: record)
      return .granted(record)
    case .wrong(let user):
      let verdict = wrongTokens.count(.invalid, of: client.map { "\($0)" } ?? "", now: MonotonicClock.now)
      let problem = tokens.problemOverRTSP(named: user)
      guard case .limited = verdict else {
        record(client, token: problem.name, status: 401, reason: problem.reason)
        return .refused(session.challenge())
      }
      record(client, token: problem.name, status: 429, reason: "too many wrong tokens")
      return .refused(RTSPServerSession.refusal(429, "Too many wrong tokens"))
    }
  }

  /// The response for a problem, which is also in the log and in `status`.
  func refuse(_ client: IPAddress?, _ token: TokenRecord, _ problem: Problem) -> RTSPResponse {
    record(client, token: token.name, status: problem.status, reason: problem.detail)
    return RTSPServerSession.refusal(problem.status, problem.detail)
  }

  private func record(_ client: IPAddress?, token: String?, status: Int, reason: String) {
    refused.record(
      .init(address: client.map { "\($0)" } ?? "", token: token, status: status, reason: "RTSP: " + reason))
  }

  /// What the token may have of what is asked for.
  func tracks(for token: TokenRecord, path: String, query: String) throws(Problem) -> (RTSPWish, [RTSPTrack]) {
    guard ["", "/"].contains(path) else {
      throw Problem(404, "there is nothing at this path; a camera is chosen by ?camera=ID")
    }
    let query = URLQuery(query)
    var wish = try RTSPWish(query)
    var tracks: [RTSPTrack] = []
    if let picture = wish.picture, token.allow.contains(.view), !viewers.cameras.isEmpty {
      wish.camera = try viewers.camera(named: try query.value(of: "camera"))
      tracks.append(RTSPTrack(picture, ssrc: .random(in: 1...UInt32.max)))
    }
    if let sound = wish.sound, token.allow.contains(.listen), viewers.audio.device != .off {
      tracks.append(RTSPTrack(sound, ssrc: .random(in: 1...UInt32.max)))
    }
    guard !tracks.isEmpty else { throw Problem(403, "this token allows nothing of what is asked for") }
    return (wish, tracks)
  }

  /// Makes a viewer of a connection.
  func begin(
    _ connection: RTSPConnection, token: TokenRecord, camera: Int?, codec: VideoCodec, hasSound: Bool
  ) throws(Problem) -> ViewerSession {
    do throws(ViewerAdmission.Refusal) {
      return try viewers.admit(
        connection, token: token, camera: camera, codec: codec, hasSound: hasSound, kbps: maximumKbps)
    } catch {
      throw Problem(error)
    }
  }
}
