import ArgumentParser
import Commands
import Desktop
internal import DeviceNames
import Frames
import Glibc
import Pairing
import Parent
import Server
import Signaling
import Storage
import Synchronization
import Wire

/// `cradle-parent watch`
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Live picture and sound of paired cameras, or of any WHEP server.",
    discussion: """
      Reconnects whenever the connection is lost, until Ctrl-C or the end of --duration. A paired camera needs no other option. \
      The key of a WHEP server is remembered at the first connection; from then on, another key is refused.

      Opens a window on a desktop. In the window and on a terminal, ? shows the keys: light, lullaby, talk, pictures and so \
      on. When the connection is lost, nothing arrives for some seconds, the picture freezes or the microphone is missing, an alarm \
      rings until it is over or somebody presses a.

      Several cameras are watched at once, each with an alarm of its own and the sound of all together: one that fails rings while \
      the others go on. Then a camera that cannot be reached is tried again from the beginning on.
      """)

  @OptionGroup var state: StateOptions

  @Argument(
    help: ArgumentHelp(
      "The cameras' names, ids (the first four digits do) or host:port. (default: the only paired one)",
      valueName: "child"))
  var children: [String] = []
  @Flag(help: "Watch all paired cameras.")
  var all = false
  @Option(help: "Instead of a paired camera: a WHEP endpoint, such as https://192.168.1.20:8443/whep.")
  var whep: String?
  @Option(help: "Bearer token for --whep; other users of this machine can see it. (default: $CRADLE_TOKEN)")
  var token: String?
  @Option(help: "The token from \(SecretOption.help)", completion: .file())
  var tokenFile: String?
  @Option(
    help: "With --whep: SHA-256 of the only public key to accept, 64 hexadecimal digits; a camera's id is its first 16."
  )
  var fingerprint: String?
  @Flag(help: "With --whep: accept only certificates of known authorities.")
  var verify = false
  @Flag(
    name: .customLong("allow-plain-http"),
    help: "With --whep http://: send the token unencrypted, where nobody else can listen.")
  var allowPlainHTTP = false
  @Flag(help: "Sound only, without a window.")
  var audioOnly = false
  @Option(
    help: ArgumentHelp(
      "With --audio-only: play only what is louder than this many dB, such as -45, with the 3 s before it.",
      valueName: "dB"))
  var vox: Double?
  @Flag(help: "Do not play sound; its level is still shown.")
  var mute = false
  @Flag(help: "Smoother sound (0.4 s later): short gaps in the network are heard less.")
  var steadySound = false
  @Option(help: "auto, none, null, an ALSA PCM name or file:OUT.wav.")
  var speaker = "auto"
  @Option(
    help:
      "Record into this WebM file, which must not exist; or through a FIFO, or - for standard output, as a live stream.",
    completion: .file(extensions: ["webm"]))
  var record: String?
  @Option(
    help: "Save the last picture to this JPEG file, a FIFO, or - for standard output, at the end.",
    completion: .file(extensions: ["jpg"]))
  var snapshot: String?
  @Option(help: "Stop this many seconds after connecting.")
  var duration: Double?
  @Option(help: "From elsewhere, the path that picture and sound may take: any, direct, or relay (a TURN server).")
  var path = "any"
  @Flag(help: "Print one JSON object a second.")
  var stats = false
  @Flag(
    inversion: .prefixedNo,
    help: "Open a window. (default: where there is a desktop, unless --audio-only or --stats is given)")
  var window: Bool?
  @Flag(name: .customLong("fullscreen"), help: "Begin with the full screen.")
  var fullScreen = false
  @Option(help: "For talking: auto, none, test, an ALSA PCM name or file:IN.wav.")
  var microphone = "auto"
  @Flag(help: "Do not mark the packets for Wi-Fi's queue for video (DSCP AF42).")
  var unmarked = false

  func validate() throws {
    try Bounds.check(duration, below: 100_000_000, "--duration")
    if whep != nil, all || !children.isEmpty {
      throw ValidationError("Name a paired child or a WHEP endpoint, not both.")
    }
    if all, !children.isEmpty { throw ValidationError("Name cameras or give --all, not both.") }
    for (value, option) in [(record, "--record"), (snapshot, "--snapshot")]
    where value != nil && (all || children.count > 1) {
      throw ValidationError("\(option) is for one camera; start another cradle-parent watch for each.")
    }
    if token != nil, tokenFile != nil { throw ValidationError("Give --token or --token-file, not both.") }
    if whep == nil, token != nil || tokenFile != nil || fingerprint != nil || verify || allowPlainHTTP {
      throw ValidationError("--token, --token-file, --fingerprint, --verify and --allow-plain-http are for --whep.")
    }
    if let vox, !(vox <= 0 && vox >= -90) { throw ValidationError("--vox is a level of -90 to 0 dB, such as -45.") }
    if stats {
      try OutputOption.refuse(record, "--record", beside: "--stats")
      try OutputOption.refuse(snapshot, "--snapshot", beside: "--stats")
    } else if let record, OutputPath(record).isStandardOutput {
      try OutputOption.refuse(snapshot, "--snapshot", beside: "--record \(record)")
    }
    if audioOnly, snapshot != nil { throw ValidationError("--audio-only has no picture for --snapshot.") }
    if vox != nil, !audioOnly { throw ValidationError("--vox is for --audio-only.") }
    if audioOnly, window == true || fullScreen { throw ValidationError("--audio-only has no window.") }
    if window == false, fullScreen { throw ValidationError("--fullscreen is for a window.") }
    if fingerprint != nil, verify { throw ValidationError("Give --fingerprint or --verify, not both.") }
  }

  func run() async throws {
    MemorySettings.apply()
    let signals = StopSignals()
    let rooms = try await rooms()
    let areSeveral = rooms.count > 1
    let views = rooms.map { room in
      var view = WatchView(name: room.name, isOneOfSeveral: areSeveral)
      view.isMuted = mute
      view.isSteady = steadySound
      view.vox = vox
      return view
    }
    let screen = Screen(views, isLive: !stats && isatty(STDOUT_FILENO) == 1)
    let progress = Progress(rooms: rooms.count)
    let leftOut = areSeveral ? leftOut(rooms) : []
    let hasWindow = window ?? (WatchWindow.isPossible && !audioOnly && !stats)
    let keys = Mutex<TerminalKeys?>(nil)
    let house = WatchHouse(views, leftOut: leftOut, screen: screen, hasWindow: hasWindow) { progress.end(nil) }
    if screen.isLive {
      let terminal = TerminalKeys { house.press($0, isHeld: false) }
      keys.withLock { $0 = terminal }
    }
    defer { keys.withLock { $0 }?.close() }
    let isInteractive = hasWindow || keys.withLock { $0 != nil }
    var shown: WatchWindow?
    if let inbox = house.inbox {
      shown = WatchWindow(
        inbox, store: WindowMemoryStore(directory: try state.directory(), name: areSeveral ? "rooms" : rooms[0].id),
        isFullScreen: fullScreen, house: house,
        closed: { progress.end(nil) }, failed: { house.desks[0].say("no window: \($0)") })
    }
    let stop = Task {
      await signals.first()
      progress.end(nil)
    }
    if !leftOut.isEmpty { screen.say("nobody listens here to: \(leftOut.joined(separator: ", "))") }
    var watchers: [Watcher] = []
    var totals: [WatchStatistics] = []
    do {
      var speaker: WatchSpeaker?
      var following: [Task<Void, Never>] = []
      for (room, desk) in zip(rooms, house.desks) {
        var options = try options(room.source, isInteractive: isInteractive)
        options.isPatient = areSeveral
        if areSeveral, let device = options.speaker {
          speaker = speaker ?? WatchSpeaker(device)
          options.sharedSpeaker = speaker
        }
        let watcher = try await start(options, desk, house, progress, isInteractive)
        watchers.append(watcher)
        desk.begin(watcher)
        following.append(Task { await follow(watcher, desk, house, progress) })
      }
      let tasks = following
      progress.whenOver { for task in tasks { task.cancel() } }
      for task in tasks { await task.value }
      house.close()
      totals = await Self.stop(watchers)
    } catch {
      house.close()
      _ = await Self.stop(watchers)
      await shown?.whenClosed()
      screen.close()
      throw error as? Failure ?? Failure.failed("\(error)")
    }
    stop.cancel()
    await shown?.whenClosed()
    screen.close()
    if stats { for total in totals { print(total.json) } }
    if let error = progress.error { throw Failure.failed("\(error)") }
    if areSeveral {
      let missed = rooms.indices.filter { !progress.hasReached($0) }.map { rooms[$0].name }
      if !missed.isEmpty { throw Failure.failed("never reached: \(missed.joined(separator: ", "))") }
    }
    // It has been said already.
    if progress.hasFailed { throw ExitCode(1) }
  }

  /// In their order; each takes a moment to say goodbye.
  private static func stop(_ watchers: [Watcher]) async -> [WatchStatistics] {
    await withTaskGroup(of: (Int, WatchStatistics).self) { group in
      for (room, watcher) in watchers.enumerated() { group.addTask { (room, await watcher.stop()) } }
      var totals: [(Int, WatchStatistics)] = []
      for await total in group { totals.append(total) }
      return totals.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// The names of those that are paired and not watched.
  private func leftOut(_ rooms: [Room]) -> [String] {
    let records = (try? state.parent().pairs())?.records ?? []
    return records.filter { record in !rooms.contains { $0.id == record.id } }.map(\.name)
  }

  private func start(
    _ options: WatchOptions, _ desk: WatchDesk, _ house: WatchHouse, _ progress: Progress, _ isInteractive: Bool
  ) async throws -> Watcher {
    let isPiped = try record.map { try OutputPath($0).isStream() } ?? false
    var show: (@Sendable (VideoFrame) -> Void)?
    if let inbox = house.inbox { show = { [room = desk.room] picture in inbox.show(picture, room: room) } }
    return try await Watcher.start(
      options,
      notice: { notice in
        if notice.kind == .connected {
          progress.connected(desk.room)
          // Memory that was only needed for connecting.
          Task {
            try? await Task.sleep(for: .seconds(5))
            MemorySettings.releaseUnused()
          }
        }
        if notice.kind == .failed {
          progress.fail()
          // What is recorded for another program has no reader any more, and nobody looks on.
          if isPiped, !isInteractive { progress.end(nil) }
        }
        desk.line(notice.text)
        if notice.kind == .information { desk.remark(notice.text) }
      },
      show: show,
      event: { desk.note($0) },
      ended: { error in
        if desk.view.isOneOfSeveral {
          progress.fail()
          desk.end("\(error)")
          // The others go on.
          if progress.giveUp(desk.room), !isInteractive { progress.end(nil) }
          return
        }
        // Somebody is there to read it, and the alarm rings until then.
        guard isInteractive, progress.connectedAt != nil || isatty(STDERR_FILENO) == 0 else {
          return progress.end(error)
        }
        progress.keep(error)
        desk.end("\(error)")
      })
  }

  /// Shows the state until the end, or until the task is cancelled.
  private func follow(_ watcher: Watcher, _ desk: WatchDesk, _ house: WatchHouse, _ progress: Progress) async {
    let isShown = house.screen.isLive || house.inbox != nil
    let interval: Duration = isShown && !stats ? .milliseconds(250) : .seconds(1)
    var next = MonotonicClock.now + interval
    while !Task.isCancelled {
      // The time of the end is known only after connecting; look often until then.
      var wake =
        duration == nil || progress.connectedAt != nil ? next : min(next, MonotonicClock.now + .milliseconds(100))
      if let duration, let connectedAt = progress.connectedAt {
        let end = connectedAt + .seconds(saturating: duration)
        if MonotonicClock.now >= end { return }
        wake = min(wake, end)
      }
      try? await Task.sleep(for: max(.zero, wake - MonotonicClock.now))
      guard !Task.isCancelled, MonotonicClock.now >= next else { continue }
      next += interval
      // It was suspended: what was due meanwhile is past.
      if next < MonotonicClock.now { next = MonotonicClock.now + interval }
      guard stats || isShown else { continue }
      var statistics = await watcher.statistics()
      if let delay = house.inbox?.delay { statistics.shownMs = .init(p50: delay.p50, p95: delay.p95) }
      desk.show(statistics)
      guard stats else { continue }
      do throws(Failure) {
        try StandardOutput.line(statistics.json)
      } catch {
        return progress.end(ParentError(error.message))
      }
    }
  }

  /// - Parameter isInteractive: somebody may talk, and switch the sound on and off.
  private func options(_ source: WatchOptions.Source, isInteractive: Bool) throws -> WatchOptions {
    var options = WatchOptions(source)
    options.wantsVideo = !audioOnly
    options.vox = vox
    options.recording = record
    options.snapshot = snapshot
    if unmarked { options.marking = .none }
    guard let device = SpeakerDevice(speaker) else {
      throw Failure.badConfiguration("--speaker \(speaker): must be auto, none, null, an ALSA PCM name or file:OUT.wav")
    }
    options.speaker = device == .off || (mute && !isInteractive) ? nil : device
    options.isMuted = mute
    options.isSteady = steadySound
    guard let paths = PathChoice(rawValue: path) else {
      throw Failure.badConfiguration("--path \(path): must be any, direct or relay")
    }
    options.paths = paths
    guard let voice = AudioDevice(microphone) else {
      throw Failure.badConfiguration(
        "--microphone \(microphone): must be auto, none, test, an ALSA PCM name or file:IN.wav")
    }
    if isInteractive, case .child = source, voice != .off { options.microphone = voice }
    return options
  }

  private struct Room {
    var source: WatchOptions.Source
    var name: String
    /// Fit for a file's name.
    var id: String

    init(_ child: PairedChild) {
      (source, name, id) = (.child(child), child.record.name, child.record.id)
    }

    init(_ source: WHEPSource) {
      (self.source, name, id) = (.whep(source), "\(source.url.origin.host)", "whep")
    }
  }

  /// What is watched.
  private func rooms() async throws -> [Room] {
    guard let whep else {
      return try await failing { try await pairedRooms() }
    }
    let url: HTTPURL
    do throws(HTTPURLError) {
      url = try HTTPURL(whep)
    } catch {
      throw Failure.badConfiguration("--whep: \(error)")
    }
    let secret =
      try token ?? SecretOption.read(tokenFile, "--token-file") ?? getenv("CRADLE_TOKEN").map { String(cString: $0) }
    let source = WHEPSource(url: url, token: secret, trust: try trust(for: url.origin))
    if source.sendsTokenInClear, !allowPlainHTTP {
      throw Failure.badConfiguration(
        "--whep: http:// would show the token to everybody on the network. Use https://, or say --allow-plain-http.")
    }
    return [Room(source)]
  }

  private func pairedRooms() async throws -> [Room] {
    let finder = try state.finder()
    let names: [String?] = all ? try state.parent().pairs().records.map(\.id) : children
    var rooms: [Room] = []
    for name in names.isEmpty ? [nil] : names {
      let room = Room(try await finder.paired(name))
      if let name, rooms.contains(where: { $0.id == room.id }) {
        throw Failure.badConfiguration(
          room.name == name ? "“\(name)” is named twice" : "“\(name)” is “\(room.name)”, which is named already")
      }
      rooms.append(room)
    }
    return rooms
  }

  private func trust(for origin: HTTPOrigin) throws -> HTTPTrust {
    if verify || origin.scheme == .http { return .system }
    if let fingerprint {
      guard let bytes = [UInt8](hexadecimal: fingerprint.filter { $0 != ":" }), bytes.count == 32 else {
        throw Failure.badConfiguration("--fingerprint has 64 hexadecimal digits")
      }
      return .pinnedKey(sha256: bytes)
    }
    return TrustOnFirstUse(origin: origin, known: try state.knownServers()).trust
  }
}

/// When the connection was made and whether watching has ended, for the loop of the command.
private final class Progress: Sendable {
  private struct State {
    var connectedAt: Instant?
    var isOver = false
    var error: ParentError?
    var kept: ParentError?
    var hasFailed = false
    var over: (@Sendable () -> Void)?
    var reached: Set<Int> = []
    var givenUp: Set<Int> = []
  }

  private let state = Mutex(State())
  private let rooms: Int

  init(rooms: Int) {
    self.rooms = rooms
  }

  func connected(_ room: Int) {
    state.withLock { state in
      state.reached.insert(room)
      if state.connectedAt == nil { state.connectedAt = MonotonicClock.now }
    }
  }

  func hasReached(_ room: Int) -> Bool { state.withLock { $0.reached.contains(room) } }

  /// Trying again would not help. True when no room is left.
  func giveUp(_ room: Int) -> Bool {
    state.withLock { state in
      state.givenUp.insert(room)
      return state.givenUp.count == rooms
    }
  }

  /// The first end counts.
  func end(_ error: ParentError?) {
    let over = state.withLock { state in
      if !state.isOver { state.error = error }
      state.isOver = true
      return state.over
    }
    over?()
  }

  /// What the command will end with, later.
  func keep(_ error: ParentError) {
    state.withLock { $0.kept = $0.kept ?? error }
  }

  /// Something that was asked for was not done; watching goes on.
  func fail() {
    state.withLock { $0.hasFailed = true }
  }

  var hasFailed: Bool { state.withLock { $0.hasFailed } }

  /// Calls `body` at the end, or at once if it has ended already.
  func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.over = body
      return state.isOver
    }
    if isOver { body() }
  }

  var connectedAt: Instant? { state.withLock { $0.connectedAt } }
  var error: ParentError? { state.withLock { $0.error ?? $0.kept } }
}
