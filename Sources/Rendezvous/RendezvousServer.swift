internal import Frames
internal import Identity
public import Logging
internal import Messages
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import SecureTransport
internal import Server
internal import Signaling
public import Storage
internal import Wire

/// The room server where families' children and parents meet when they are not in one house. It passes on signed messages and
/// keeps nothing: it sees who meets whom and when, and cannot see, hear, or pretend to be anybody.
public final class RendezvousServer: Sendable {
  public static var version: String { productVersion }

  public struct Options: Sendable {
    public var configuration: RendezvousConfiguration
    /// Holds the server's own key where it has no certificate; created if missing.
    public var stateDirectory: String
    /// Holds the socket for `status`; created if missing.
    public var runtimeDirectory: String

    public init(configuration: RendezvousConfiguration, stateDirectory: String, runtimeDirectory: String) {
      self.configuration = configuration
      self.stateDirectory = stateDirectory
      self.runtimeDirectory = runtimeDirectory
    }
  }

  /// The socket's name in the runtime directory.
  public static let socketName = "rendezvous.sock"
  /// Parents and strangers, beside the children.
  private static let moreConnections = 1000

  private let group: MultiThreadedEventLoopGroup
  private let loop: any EventLoop
  private let rooms: RoomBox
  private let http: HTTPServer
  private let commands: CommandSocket
  /// Nil without files of an authority's certificate.
  private let certificate: CertificateFileMonitor?
  public var port: Int { http.port }

  /// Confined to the event loop.
  private final class RoomBox: @unchecked Sendable {
    let rooms: WebSocketRooms

    init(_ rooms: WebSocketRooms) {
      self.rooms = rooms
    }
  }

  /// Opens everything and starts serving.
  ///
  /// - Throws: `RendezvousError`, which says what to do.
  public static func start(_ options: Options, logger: Logger) async throws -> RendezvousServer {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      return try await RendezvousServer(options, group: group, logger: logger)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private init(_ options: Options, group: MultiThreadedEventLoopGroup, logger: Logger) async throws {
    let configuration = options.configuration
    let loop = group.next()
    certificate = configuration.tls.map { files in
      CertificateFileMonitor(paths: [files.certificate, files.key], on: loop) { try RendezvousTLS.context(files) }
    }
    let (tls, key) = try RendezvousTLS.context(configuration, stateDirectory: options.stateDirectory)
    var limits = RoomLimits()
    limits.maximumRooms = configuration.maximumChildren
    limits.maximumConnections = configuration.maximumChildren + Self.moreConnections
    // The rest is for newcomers, also at the HTTP server, which keeps none of these from whoever has shown a credential.
    limits.maximumVouched = Self.moreConnections * 3 / 4
    // At 500 handshakes a second each of them has a second to be vouched for.
    limits.maximumClientsPerRoom = 512
    let hosts = RoomHosts(
      names: Set(configuration.names), children: configuration.children, verifier: PairingPrimitives(),
      hashes: CryptoHashes())
    let lender = ServerLender(configuration, logger: logger)
    for warning in RendezvousCheck.warnings(configuration) {
      logger.warning("look at the configuration", metadata: ["reason": "\(warning)"])
    }
    let server = RoomServer(
      limits: limits, hosts: hosts, random: SystemRandomNumberGenerator(), iceServers: lender.servers)
    let rooms = RoomBox(WebSocketRooms(server, eventLoop: loop, now: { MonotonicClock.now }))

    var connections = HTTPServer.Limits()
    connections.maximumConnections = limits.maximumConnections
    // The machine has nothing else to do: 500 handshakes a second, and children come back from where they have been whatever
    // strangers do.
    connections.strangers = 25
    connections.knownAddresses = limits.maximumConnections
    // Two of the longest messages.
    connections.socketBufferBytes = 64 * 1024
    // Children ask for a sign of life twice as often; this finds those that have gone without a word.
    var sockets = WebSocketLimits()
    sockets.pingInterval = .seconds(240)
    do {
      http = try await HTTPServer.start(
        host: configuration.listen.host, port: Int(configuration.listen.port), tls: tls, limits: connections,
        webSocket: WebSocketEndpoint(
          path: "/signal", limits: sockets, maximumConnections: limits.maximumConnections
        ) { socket in rooms.rooms.accept(socket) }, proxies: .header(configuration.proxies), on: loop,
        responder: { request in loop.makeSucceededFuture(Self.respond(to: request, rooms.rooms)) })
    } catch {
      throw RendezvousError("\(configuration.listen) (listen) cannot be used: \(error)")
    }
    let (http, certificate) = (http, certificate)
    try await loop.submit {
      certificate?.start { result in
        switch result {
        case .success(let context):
          http.use(context)
          logger.notice("the certificate has changed; new connections get it")
        case .failure(let error):
          logger.error(
            "the certificate has changed and cannot be used; the one before stays", metadata: ["reason": "\(error)"])
        }
      }
    }.get()
    let (names, ownKey, started) = (configuration.names, key, MonotonicClock.now)
    do {
      try StateDirectory.makeDirectory(options.runtimeDirectory)
      commands = try await CommandSocket.start(
        path: options.runtimeDirectory + "/" + Self.socketName, on: loop,
        responder: { _ in
          let now = rooms.rooms.occupancy
          let status = RendezvousStatus(
            names: names, version: Self.version, keySHA256: ownKey, children: now.hosts,
            connections: now.connections,
            uptimeSeconds: (MonotonicClock.now - started).inSeconds.rounded(.down))
          return loop.makeSucceededFuture(Array(status.json.utf8))
        })
    } catch {
      await http.stop()
      throw RendezvousError("the runtime directory \(options.runtimeDirectory) cannot be used: \(error)")
    }
    self.group = group
    self.loop = loop
    self.rooms = rooms
    var facts: Logger.Metadata = ["names": "\(names.joined(separator: ", "))", "port": "\(http.port)"]
    if let key { facts["key-sha256"] = "\(key)" }
    logger.info("ready", metadata: facts)
  }

  /// Closes all connections, so that children and parents know at once, and stops. Call once.
  public func stop() async {
    let (rooms, certificate) = (rooms, certificate)
    try? await loop.submit {
      certificate?.stop()
      rooms.rooms.shutDown()
    }.get()
    await http.stop()
    await commands.stop()
    try? await group.shutdownGracefully()
  }

  private static func respond(to request: HTTPRequest, _ rooms: WebSocketRooms) -> HTTPResponse {
    switch (request.method, request.path) {
    case (.GET, "/healthz"), (.HEAD, "/healthz"):
      return HTTPResponse(contentType: "text/plain; charset=utf-8", text: "ok\n")
    case (.GET, "/metrics") where request.isLocal:
      // Counts all rooms: not for every request of a stranger.
      let occupancy = rooms.occupancy
      return HTTPResponse(
        contentType: "text/plain; version=0.0.4; charset=utf-8",
        text: """
          # HELP cradle_rendezvous_children Children that can be met here.
          # TYPE cradle_rendezvous_children gauge
          cradle_rendezvous_children \(occupancy.hosts)
          # HELP cradle_rendezvous_connections Connections of children, parents and strangers.
          # TYPE cradle_rendezvous_connections gauge
          cradle_rendezvous_connections \(occupancy.connections)
          # HELP cradle_rendezvous_rooms Rooms of children, and of those who wait for one that is not here.
          # TYPE cradle_rendezvous_rooms gauge
          cradle_rendezvous_rooms \(occupancy.rooms)

          """)
    default:
      return HTTPResponse(
        Problem(404, "there is nothing at this path; Cradle's baby units and viewers meet at /signal"))
    }
  }
}

/// Why the server cannot start. For people.
public struct RendezvousError: Error, CustomStringConvertible {
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
