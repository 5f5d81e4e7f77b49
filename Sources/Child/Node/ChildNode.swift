internal import Control
internal import Devices
internal import Discovery
internal import Frames
internal import Identity
public import Logging
internal import Messages
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Pairing
internal import PeerConnection
internal import Pipelines
internal import SDP
internal import SecureTransport
internal import Server
internal import Signaling
public import Storage
internal import Synchronization
internal import Wire

/// The camera node: capture, encode, viewers, commands. One event loop; devices and encoders have threads of their own.
public final class ChildNode: Sendable {
  /// The program's version, as `--version`, DNS-SD and `hello` give it.
  public static var version: String { productVersion }

  public struct Options: Sendable {
    public var configuration: ChildConfiguration
    /// Identity, tokens; made when missing.
    public var stateDirectory: String
    /// The commands' socket; made when missing.
    public var runtimeDirectory: String
    /// Told when the node serves, that it lives and when it stops.
    public var serviceManager: ServiceManager?

    public init(
      configuration: ChildConfiguration, stateDirectory: String, runtimeDirectory: String,
      serviceManager: ServiceManager? = nil
    ) {
      self.configuration = configuration
      self.stateDirectory = stateDirectory
      self.runtimeDirectory = runtimeDirectory
      self.serviceManager = serviceManager
    }
  }

  /// Viewers at a time; a home has fewer, and each costs about a megabyte.
  static let maximumViewers = 32
  /// Where the encoder starts before a path has been measured, kbit/s.
  static let startKbps = 1500

  private let group: MultiThreadedEventLoopGroup
  private let hub: PeerHub
  private let viewers: Viewers
  private let cameras: [VideoPipeline]
  private let audio: AudioPipeline
  private let http: HTTPServer
  private let commands: CommandSocket
  /// Holds the lock on the state directory.
  private let state: StateDirectory
  private let tokens: TokenBook
  private let pairing: PairingService
  private let control: ControlService
  private let sound: SoundOutput
  private let signal: SignalService
  private let rooms: WebSocketRooms
  private let advertising: any Advertising
  private let service: ServiceReporter?
  private let logger: Logger
  /// 16 hexadecimal digits.
  public let id: String
  /// What the family calls it.
  public let name: String
  /// The TCP port in use.
  public var port: Int { http.port }

  /// Opens everything and begins to serve. Devices that are missing are waited for, not errors.
  ///
  /// - Throws: `NodeError` with what to do next.
  public static func start(_ options: Options, logger: Logger) async throws -> ChildNode {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      return try await ChildNode(options, group: group, logger: logger)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  private init(_ options: Options, group: MultiThreadedEventLoopGroup, logger: Logger) async throws {
    let configuration = options.configuration
    let state = try NodeFiles.open(options.stateDirectory)
    let identity = state.identity
    let clock = ExpiryClock(ClockStore(file: state.directory.clock), logger: logger)
    let tokens = TokenBook(state.tokens, clock: clock, logger: logger)
    for warning in state.directory.modeWarnings() { logger.warning("\(warning)") }
    let name = configuration.name ?? ChildConfiguration.defaultName(id: identity.id)
    let certificate = try Certificate(
      key: identity.key, addresses: LocalAddresses.current(includingLoopback: true))
    OpenSSLTransports.prepare()
    let transports = try OpenSSLTransports(key: identity.key, certificate: certificate)
    let loop = group.next()

    let hub = PeerHub(eventLoop: loop, limit: Self.maximumViewers, now: { MonotonicClock.now }) { configuration in
      PeerConnection(
        configuration: configuration, secure: transports, hashes: CryptoHashes(), random: SystemRandomNumberGenerator(),
        wallClock: MonotonicClock.wallClockReference)
    }
    let relay = MediaRelay(loop: loop)
    let range = configuration.video.bitrateKbps
    let startKbps = min(max(Self.startKbps, range.lowerBound), range.upperBound)
    let cameras = configuration.cameras.enumerated().map { index, camera in
      VideoPipeline(
        settings: .init(
          cameraID: camera.id, device: .init(camera.device),
          request: VideoRequest(
            width: camera.width, height: camera.height, framesPerSecond: Double(camera.framerate)),
          startKbps: startKbps),
        deliver: { frame in relay.video(frame, camera: index) },
        cameraChanged: { state in NodeLog.camera(camera.id, state, logger) })
    }
    let sound = SoundOutput(
      speaker: .init(configuration.speaker.device), maximumVolume: configuration.speaker.maximumVolume
    ) { event in NodeLog.sound(event, logger) }
    let audio = AudioPipeline(
      device: .init(configuration.microphone.device), echo: sound.echo, deliver: { packet in relay.audio(packet) },
      levelMeasured: { relay.level() },
      microphoneChanged: { state in NodeLog.microphone(state, logger) })
    let viewers = Viewers(
      settings: .init(
        childName: name, childID: identity.id, version: Self.version, bitrateKbps: range, startKbps: startKbps),
      hub: hub, cameras: cameras, audio: audio, logger: logger)
    let resolver = HostResolver()
    try await loop.submit {
      hub.resolveName = { name, found in resolver.resolve(name, found: found) }
      hub.onEvent = { [weak viewers] peer, event in viewers?.handle(event, of: peer) }
      relay.viewers = viewers
    }.get()

    let report = StatusReporter(
      name: name, id: identity.id, started: MonotonicClock.now, hub: hub, viewers: viewers, audio: audio,
      listenHost: configuration.listen.host)
    let primitives = PairingPrimitives()
    let pairing = PairingService(
      responder: PairingResponder(
        identity: identity, name: name, crypto: primitives, random: SystemRandomNumberGenerator()),
      store: state.pairs, clock: clock, loop: loop, logger: logger)
    let signal = SignalService(
      envelope: SignedEnvelope(
        id: identity.id, signer: identity, verifier: primitives, format: SignedMessageJSON()),
      viewers: viewers, pairing: pairing, logger: logger)
    let rooms = WebSocketRooms(
      random: SystemRandomNumberGenerator(), eventLoop: loop, now: { MonotonicClock.now })
    let control = try await loop.submit {
      signal.open(in: rooms, id: identity.id)
      let control = ControlService(
        viewers: viewers, pairing: pairing, lights: LightBoard(configuration.lights, loop: loop), sound: sound,
        lullaby: LullabyService(
          output: sound, library: LullabyLibrary(folder: configuration.lullabies), loop: loop),
        report: report, events: PersistentEventLog(in: state.directory, logger: logger))
      control.start()
      tokens.onEnded.append { [weak viewers] record in
        viewers?.end { $0.pair == nil && $0.name == record.name }
      }
      viewers.onSecond = { [weak signal, weak control] in
        tokens.endExpired()
        pairing.endExpired()
        signal?.endExpired()
        control?.beat()
      }
      return control
    }.get()
    let routes = Routes(
      loop: loop, hub: hub, viewers: viewers, tokens: tokens, pairing: pairing, configuration: configuration,
      report: report, logger: logger)
    let ports = configuration.mediaPorts ?? 0...0
    do {
      try await hub.bind(ports: ports)
    } catch {
      throw NodeError.cannotBind(
        what: "the UDP ports \(ports.lowerBound) to \(ports.upperBound) (media-ports)", reason: "\(error)")
    }
    let tls = try NodeTLS.context(configuration.tls, identity: identity, certificate: certificate)
    let http: HTTPServer
    do {
      http = try await HTTPServer.start(
        host: configuration.listen.host, port: Int(configuration.listen.port), tls: tls,
        webSocket: WebSocketEndpoint(path: "/signal") { socket in rooms.accept(socket) }, on: loop,
        responder: { request in routes.respond(to: request) })
    } catch {
      await hub.shutDown()
      throw NodeError.cannotBind(what: "\(configuration.listen) (listen)", reason: "\(error)")
    }
    report.setPort(http.port)
    let admin = AdminCommands(
      loop: loop, tokens: tokens, pairing: pairing, report: report, logger: logger)
    do {
      try NodeFiles.makeRuntimeDirectory(options.runtimeDirectory)
      commands = try await CommandSocket.start(
        path: options.runtimeDirectory + "/" + AdminProtocol.socketName, on: loop,
        responder: { line in admin.respond(to: line) })
    } catch {
      await http.stop()
      await hub.shutDown()
      throw NodeError.runtimeDirectory(path: options.runtimeDirectory, reason: "\(error)")
    }
    self.group = group
    self.hub = hub
    self.viewers = viewers
    self.cameras = cameras
    self.audio = audio
    self.http = http
    self.logger = logger
    self.name = name
    id = identity.id
    self.state = state.directory
    self.tokens = tokens
    self.pairing = pairing
    self.control = control
    self.sound = sound
    self.signal = signal
    self.rooms = rooms
    let advertising = DNSServiceDiscovery().advertise(
      Advertisement(
        name: name, id: identity.id, port: UInt16(http.port), version: Self.version, pairing: .closed)
    ) { state in NodeLog.advertising(state, logger) }
    self.advertising = advertising
    let service = options.serviceManager.map { manager in
      ServiceReporter(manager: manager, loops: Self.watched(cameras, audio), state: { control.state }, logger: logger)
    }
    self.service = service
    cameras.forEach { $0.start() }
    sound.start()
    audio.start()
    try await loop.submit {
      pairing.onWindow.append { closing in advertising.setPairing(closing == nil ? .open : .closed) }
      viewers.start()
      service?.start(on: loop)
    }.get()
    logger.info(
      "ready", metadata: ["name": "\(name)", "id": "\(id)", "https": "\(http.port)", "version": "\(Self.version)"])
  }

  /// How long devices may take to be let go. They take milliseconds; one that hangs does not keep the process.
  private static let devicePatience: Duration = .milliseconds(500)

  private func stopDevices() {
    var stops: [@Sendable () -> Void] = [{ self.audio.stop() }, { self.sound.stop() }]
    for camera in cameras { stops.append { camera.stop() } }
    let stopped = Mailbox<Bool>(capacity: stops.count)
    for stop in stops {
      _ = WorkerThread(name: "stop") {
        stop()
        stopped.put(true)
      }
    }
    let deadline = MonotonicClock.now + Self.devicePatience
    if !stops.allSatisfy({ _ in stopped.take(until: deadline) != nil }) {
      logger.warning("a device hangs; it is left as it is")
    }
  }

  /// What must not stand still.
  private static func watched(_ cameras: [VideoPipeline], _ audio: AudioPipeline) -> [Watchdog.Loop] {
    cameras.flatMap { camera in
      let id = camera.settings.cameraID
      return [
        Watchdog.Loop(name: "camera \(id)", pulse: camera.capturePulse, patience: Watchdog.devicePatience),
        Watchdog.Loop(
          name: "the encoder of camera \(id)", pulse: camera.encoderPulse, patience: Watchdog.encoderPatience),
      ]
    } + [Watchdog.Loop(name: "the microphone", pulse: audio.pulse, patience: Watchdog.devicePatience)]
  }

  /// Says goodbye to every viewer, lets the devices go and ends. Call once.
  public func stop() async {
    logger.info("stopping")
    advertising.stop()
    try? await hub.eventLoop.submit {
      self.service?.stop()
      self.control.stop()
      self.viewers.stop()
      self.signal.stop()
      self.rooms.shutDown()
      self.pairing.stop()
      self.control.events.saveNow()
      self.tokens.saveUses()
    }.get()
    await http.stop()
    await hub.shutDown()
    await commands.stop()
    stopDevices()
    try? await group.shutdownGracefully()
  }
}

/// Why the node could not start. Each says what to do.
public enum NodeError: Error, CustomStringConvertible, Sendable {
  case cannotBind(what: String, reason: String)
  case runtimeDirectory(path: String, reason: String)
  case identity(path: String, reason: String)
  case tls(String)

  public var description: String {
    switch self {
    case .cannotBind(let what, let reason):
      "cannot listen on \(what): \(reason). Is another cradle-child running, or the address wrong?"
    case .runtimeDirectory(let path, let reason):
      "cannot use the runtime directory \(path): \(reason). Choose another with --runtime-directory."
    case .identity(let path, let reason):
      "cannot use the identity key \(path): \(reason). It is kept as it is; restore it from a backup, or move it away "
        + "to begin with a new identity (every parent must pair again then)."
    case .tls(let reason):
      "cannot use the configured certificate (tls): \(reason)"
    }
  }
}

/// Brings frames from the pipelines' threads onto the event loop, one hop each.
///
/// `@unchecked Sendable` because `viewers` is touched on the loop alone.
private final class MediaRelay: @unchecked Sendable {
  private let loop: any EventLoop
  weak var viewers: Viewers?
  /// Frames on their way to the loop. A loop that is stuck must not gather them.
  private let underway = Atomic<Int>(0)
  private static let maximumUnderway = 64

  init(loop: any EventLoop) {
    self.loop = loop
  }

  func video(_ frame: EncodedVideoFrame, camera: Int) {
    hop { $0.send(frame, fromCamera: camera) }
  }

  func audio(_ packet: EncodedAudioPacket) {
    hop { $0.send(packet) }
  }

  func level() {
    hop { $0.onLevel() }
  }

  private func hop(_ body: @escaping @Sendable (Viewers) -> Void) {
    guard underway.load(ordering: .relaxed) < Self.maximumUnderway else { return }
    underway.wrappingAdd(1, ordering: .relaxed)
    loop.execute {
      self.underway.wrappingSubtract(1, ordering: .relaxed)
      if let viewers = self.viewers { body(viewers) }
    }
  }
}
