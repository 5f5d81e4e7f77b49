internal import Control
internal import Devices
internal import Discovery
internal import Frames
internal import Identity
public import Linux
public import Logging
internal import Messages
internal import NIOCore
internal import NIOPosix
internal import Server
public import Storage
internal import Wire

/// The camera node: capture, encoding, viewers, commands. One event loop; devices and encoders have their own threads.
public final class ChildNode: Sendable {
  /// Version of the program, for `--version`, DNS-SD and `hello`.
  public static var version: String { productVersion }

  public struct Options: Sendable {
    public var configuration: ChildConfiguration
    /// Holds identity, tokens and pair records; created if missing.
    public var stateDirectory: String
    /// Holds the socket for commands; created if missing.
    public var runtimeDirectory: String
    /// Told when the node is ready, that it is alive, and when it stops.
    public var serviceManager: ServiceManager?
    /// Where `configuration` comes from, for commands that look at it beside the node; nil: from nowhere.
    public var configurationFile: String?

    public init(
      configuration: ChildConfiguration, stateDirectory: String, runtimeDirectory: String,
      serviceManager: ServiceManager? = nil, configurationFile: String? = nil
    ) {
      self.configurationFile = configurationFile
      self.configuration = configuration
      self.stateDirectory = stateDirectory
      self.runtimeDirectory = runtimeDirectory
      self.serviceManager = serviceManager
    }
  }

  /// Where an encoder starts before a path has been measured, kbit/s.
  static let startKbps = 1500
  /// For goodbyes to arrive: a lost one is sent again after 400 ms (`SCTPConfiguration.minimumRetransmissionTimeout`) and once
  /// more after 800; browsers acknowledge after 200.
  private static let goodbyeLimit: Duration = .milliseconds(1500)

  private let group: MultiThreadedEventLoopGroup
  private let profile: NodeProfile
  private let media: NodeMedia
  private let viewers: Viewers
  private let tokens: TokenBook
  private let pairing: PairingService
  private let control: ControlService
  private let lights: LightBoard
  private let night: NightBoard
  private let notifiers: NotifierBoard
  private let pushes: PushService
  private let recording: RecordingService
  private let signal: SignalService
  private let rooms: WebSocketRooms
  private let listeners: NodeListeners
  private let certificate: ServerCertificate
  private let advertising: any Advertising
  private let service: ServiceReporter?
  private let health: HealthMonitor
  private let restarts: AsyncStream<String>
  /// Holds the lock on the state directory.
  private let state: StateDirectory
  private let files: FileWriter
  private let logger: Logger
  /// The TCP port in use.
  public var port: Int { listeners.http.port }

  /// Opens everything and starts serving. A missing device is not an error; the node waits for it.
  ///
  /// - Throws: `NodeError`, which says what to do.
  public static func start(_ options: Options, logger: Logger) async throws -> ChildNode {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    do {
      return try await ChildNode(options, group: group, logger: logger)
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
  }

  /// Assembles the node from the devices outwards: media, credentials, viewers, control, then the network; the devices start
  /// last.
  private init(_ options: Options, group: MultiThreadedEventLoopGroup, logger: Logger) async throws {
    let configuration = options.configuration
    let loop = group.next()
    let files = try NodeFiles.open(options.stateDirectory, logger: logger)
    for warning in files.directory.modeWarnings() { logger.warning("\(warning)") }
    let profile = try NodeProfile(files.identity, configuration)
    let media = NodeMedia(configuration, loop: loop, logger: logger)
    let lights = LightBoard(configuration.lights, loop: loop)
    let night = NightBoard(media.cameras, configuration.cameras, loop: loop)

    let clock = ExpiryClock(ClockStore(file: files.directory.clock), logger: logger)
    let certificate = try ServerCertificate(
      configuration, profile: profile, directory: files.directory, clock: clock, loop: loop, logger: logger)
    let tokens = TokenBook(files.tokens, clock: clock, logger: logger)
    let pairing = PairingService(
      responder: profile.pairingResponder(), store: files.pairs, clock: clock, loop: loop, logger: logger)

    let viewers = Viewers(
      settings: .init(
        childName: profile.name, childID: profile.id, version: Self.version,
        bitrateKbps: configuration.video.bitrateKbps, startKbps: media.startKbps),
      servers: ServerBook(configuration, logger: logger),
      hub: try profile.makeHub(on: loop), credentials: ViewerCredentials(tokens: tokens, pairing: pairing),
      cameras: media.cameras, audio: media.audio, converter: media.converter, logger: logger)
    let meetings = MeetingBoard(
      configuration, child: profile.id, loop: loop, logger: logger, prove: profile.hostProof)
    let notifiers = NotifierBoard(
      configuration.notifiers, child: profile.name, in: files.directory, logger: logger
    ) { other in
      loop.flatSubmit {
        guard !viewers.cameras.isEmpty else { return loop.makeSucceededFuture(nil) }
        let pipeline = viewers.cameras[viewers.activeCamera].pipeline
        return StillPictures.take(pipeline, quality: ControlDefaults.quality, on: loop).map(\.jpeg)
      }.hop(to: other)
    }
    let pushes = PushService(
      configuration.push, child: profile.name, pairing: pairing, house: viewers.hub.house, in: files.directory,
      loop: loop, logger: logger)
    let refused = RefusedPlayers(logger: logger)
    let report = StatusReporter(
      name: profile.name, id: profile.id, started: MonotonicClock.now, viewers: viewers, bridge: media.bridge,
      night: night, sound: media.sound, notifiers: notifiers, pushes: pushes, refused: refused,
      listenHost: configuration.listen.host)

    let rooms = WebSocketRooms(
      random: SystemRandomNumberGenerator(), eventLoop: loop, now: { MonotonicClock.now })
    let signal = SignalService(
      envelope: profile.signedEnvelope(), viewers: viewers, pairing: pairing, meetings: meetings, logger: logger)
    let recording = RecordingService(
      configuration.recording, cameras: configuration.cameras, microphone: configuration.microphone.device,
      viewers: viewers, in: files.directory, date: { clock.certain }, logger: logger)
    let lullaby = LullabyService(
      output: media.sound, library: LullabyLibrary(folder: configuration.lullabies), loop: loop
    ) { NodeLog.lullabies($0, surplus: $1, in: configuration.lullabies, logger) }
    lullaby.scan()
    let control = ControlService(
      viewers: viewers, pairing: pairing, lights: lights, night: night, sound: media.sound,
      lullaby: lullaby,
      report: report,
      events: PersistentEventLog(
        in: files.directory, loop: loop, date: { clock.certain }, logger: logger),
      notifiers: notifiers, pushes: pushes, recording: recording, meetings: meetings,
      watch: NightWatch(viewers: viewers, unheard: configuration.unheard),
      proofs: ProofKeeper(JSONStore(file: files.directory.proofs), logger: logger),
      cameraKeeper: CameraKeeper(JSONStore(file: files.directory.cameras), loop: loop, logger: logger),
      hearingTest: configuration.hearingTest, schedule: Schedule(configuration.schedule))
    viewers.recorded = { [weak recording] item in recording?.take(item) }
    let routes = Routes(
      loop: loop, viewers: viewers, tokens: tokens, pairing: pairing, configuration: configuration, report: report,
      certificate: certificate, refused: refused, logger: logger)
    let rtsp = RTSPService(viewers: viewers, tokens: tokens, certificate: certificate, refused: refused)
    let admin = AdminCommands(
      loop: loop, tokens: tokens, pairing: pairing, report: report, notifiers: notifiers, recording: recording,
      meetings: meetings, servers: viewers.servers, certificate: certificate,
      configurationFile: options.configurationFile, stateDirectory: options.stateDirectory)

    let resolver = HostResolver()
    try await loop.submit {
      viewers.hub.resolveName = { name, found in resolver.resolve(name, found: found) }
      viewers.hub.onEvent = { [weak viewers] peer, event in viewers?.handle(event, of: peer) }
      media.bridge.receiver = viewers
      viewers.servers.lent = { meetings.lentServers }
      viewers.hub.onAddressesChanged = { [weak viewers] in
        if let own = viewers?.hub.ownAddresses { meetings.addressesChanged(own) }
      }
      signal.open(in: rooms, id: profile.id)
      control.start()
      tokens.onEnded.append { [weak viewers] _ in viewers?.credentialsChanged() }
      pairing.observe { [weak viewers] change in
        if case .paired(_, isNew: false) = change { viewers?.credentialsChanged() }
      }
    }.get()

    let listeners = try await NodeListeners.open(
      configuration, runtimeDirectory: options.runtimeDirectory,
      tls: certificate.context, hub: viewers.hub, rtsp: rtsp, rooms: rooms, routes: routes, admin: admin, report: report
    )

    if LocalAddresses.areOnlyLinkLocalIPv6 {
      logger.warning(
        "this machine has only link-local IPv6 addresses (fe80::) so far; nobody can watch until it has an IPv4 address"
      )
    }
    let advertising = DNSServiceDiscovery().advertise(
      Advertisement(
        name: profile.name, id: profile.id, port: UInt16(listeners.http.port), version: Self.version, pairing: .closed)
    ) { state in NodeLog.advertising(state, logger) }
    let (restarts, needsRestart) = AsyncStream.makeStream(of: String.self)
    let service = options.serviceManager.map { manager in
      ServiceReporter(
        manager: manager, loops: media.watched,
        node: .init(
          state: { control.state }, devices: { media.standing }, outputs: { media.outputs },
          stuck: { name in control.note(.stuck, id: name, detail: "it does not go on") },
          needsRestart: { name in
            control.note(.stuck, id: name, detail: "it fails again and again")
            needsRestart.yield(name)
          }), logger: logger)
    }
    let health = HealthMonitor(
      HealthProbe(stateDirectory: options.stateDirectory, recording: configuration.recording), loop: loop
    ) { change in
      control.note(change)
      NodeLog.health(change, logger)
    }

    self.group = group
    self.profile = profile
    self.media = media
    self.viewers = viewers
    self.tokens = tokens
    self.pairing = pairing
    self.control = control
    self.lights = lights
    self.night = night
    self.notifiers = notifiers
    self.pushes = pushes
    self.recording = recording
    self.signal = signal
    self.rooms = rooms
    self.listeners = listeners
    self.certificate = certificate
    self.advertising = advertising
    self.service = service
    self.health = health
    self.restarts = restarts
    state = files.directory
    self.files = files.writer
    self.logger = logger

    media.start()
    try await loop.submit {
      admin.conditions = { health.current() }
      // The clock was set, or a disk takes no more.
      control.noted = { [weak health] kind in
        if kind == .clockSet || kind == .recordingPaused { health?.lookNow() }
      }
      pairing.observe { change in
        switch change {
        case .windowOpened: advertising.setPairing(.open)
        case .windowClosed: advertising.setPairing(.closed)
        case .paired, .revoked: break
        }
      }
      viewers.registry.observe { event in
        guard case .secondPassed = event else { return }
        refused.logRepeats()
        listeners.http.review { Credential(text: $0).flatMap(viewers.credentials.connection) }
      }
      viewers.start()
      notifiers.start()
      service?.start(on: loop)
      health.start()
      certificate.start(listeners.http)
    }.get()
    logger.info(
      "ready",
      metadata: [
        "name": "\(profile.name)", "id": "\(profile.id)", "https": "\(listeners.http.port)",
        "version": "\(Self.version)",
      ])
  }

  /// Returns when only a new process can help, with the name of what fails; never without a service manager, which
  /// starts one. Nil when the task is cancelled.
  public func waitUntilRestartNeeded() async -> String? {
    for await name in restarts { return name }
    return nil
  }

  /// Before the process ends by itself. Nobody gets a goodbye: it is no planned stop, and parents are to ring if the
  /// child does not come back.
  public func abandon() async {
    advertising.stop()
    try? await viewers.hub.eventLoop.submit {
      self.control.events.close()
      self.tokens.saveUses()
    }.get()
    files.stop(within: Self.filesLimit)
  }

  /// A card may take a second for each file.
  private static let filesLimit: Duration = .seconds(5)

  /// Says goodbye to every viewer, closes the devices and stops. Call once.
  ///
  /// - Parameter isRestarting: the program begins again in this process.
  public func stop(isRestarting: Bool = false) async {
    logger.info("stopping")
    advertising.stop()
    try? await viewers.hub.eventLoop.submit {
      self.service?.stop(isRestarting: isRestarting)
      self.health.stop()
      self.certificate.stop()
      self.control.stop()
    }.get()
    // A viewer that misses the goodbye rings.
    await viewers.hub.settle(within: Self.goodbyeLimit)
    let left = try? await viewers.hub.eventLoop.submit {
      self.viewers.stop()
      let left = self.signal.stop()
      self.rooms.shutDown()
      self.pairing.stop()
      self.control.events.saveNow()
      self.tokens.saveUses()
      return left
    }.get()
    await listeners.close()
    // Viewers that left only now are in the log, too.
    try? await viewers.hub.eventLoop.submit { self.control.events.close() }.get()
    await notifiers.stop()
    await pushes.stop()
    let recordings = (try? await viewers.hub.eventLoop.submit { self.recording.stop() }.get()) ?? []
    if !media.stop(and: lights.releases + night.releases + recordings) {
      logger.warning("a device hangs; stopping without it")
      RunningPrograms.kill()
    }
    files.stop(within: Self.filesLimit)
    // A server that does not answer is given up by then.
    try? await left?.get()
    try? await group.shutdownGracefully()
  }
}
