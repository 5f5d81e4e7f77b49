import ArgumentParser
import Commands
internal import DeviceNames
import Devices
import Frames
import Glibc
import Parent
import Server
import Signaling
import Storage
import Synchronization
import Wire

/// `cradle-parent watch`
struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Live picture and sound of a child, or of any WHEP server.",
    discussion: """
      Reconnects whenever the link is lost, until Ctrl-C or the end of --duration. A paired child needs no other option. \
      The key of a WHEP server is remembered at the first connection; from then on, another key is refused.
      """)

  @OptionGroup var state: StateOptions

  @Argument(help: "The child's name, its id or host:port. (default: the only paired one)")
  var child: String?
  @Option(help: "Instead of a paired child: a WHEP endpoint, such as https://192.168.1.20:8443/whep.")
  var whep: String?
  @Option(help: "Bearer token for --whep. (default: $CRADLE_TOKEN)")
  var token: String?
  @Option(
    help: "With --whep: SHA-256 of the only public key to accept, 64 hexadecimal digits; a child's id is its first 16.")
  var fingerprint: String?
  @Flag(help: "With --whep: accept only certificates of known authorities.")
  var verify = false
  @Flag(
    name: .customLong("allow-plain-http"),
    help: "With --whep http://: send the token unencrypted, where nobody else can listen.")
  var allowPlainHTTP = false
  @Flag(help: "Sound only.")
  var audioOnly = false
  @Flag(help: "Do not play sound; its level is still shown.")
  var mute = false
  @Option(help: "auto, none, null, an ALSA PCM name or file:OUT.wav.")
  var speaker = "auto"
  @Option(help: "Record into this WebM file; it must not exist.")
  var record: String?
  @Option(help: "Save the last picture to this JPEG file at the end.")
  var snapshot: String?
  @Option(help: "Stop this many seconds after connecting.")
  var duration: Double?
  @Flag(help: "Print one JSON object a second.")
  var stats = false

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e8) { throw ValidationError("--duration is a number of seconds.") }
    if whep != nil, child != nil { throw ValidationError("Name a paired child or a WHEP endpoint, not both.") }
    if whep == nil, token != nil || fingerprint != nil || verify || allowPlainHTTP {
      throw ValidationError("--token, --fingerprint, --verify and --allow-plain-http are for --whep.")
    }
    if fingerprint != nil, verify { throw ValidationError("Give --fingerprint or --verify, not both.") }
  }

  func run() async throws {
    MemorySettings.apply()
    let signals = StopSignals()
    let screen = Screen(isLive: !stats && isatty(STDOUT_FILENO) == 1)
    let progress = Progress()
    let watcher: Watcher
    do {
      watcher = try await Watcher.start(
        await options(),
        notice: { notice in
          if notice.kind == .connected {
            progress.connected()
            // Memory that was only needed for connecting.
            Task {
              try? await Task.sleep(for: .seconds(5))
              MemorySettings.releaseUnused()
            }
          }
          screen.say(notice)
        },
        ended: { error in progress.end(error) })
    } catch let failure as Failure {
      throw failure
    } catch {
      throw Failure.failed("\(error)")
    }
    let following = Task { await follow(watcher, screen, progress) }
    progress.whenOver { following.cancel() }
    let stop = Task {
      await signals.first()
      progress.end(nil)
    }
    await following.value
    stop.cancel()
    let total = await watcher.stop()
    screen.close()
    if stats { print(total.json) }
    if let error = progress.error { throw Failure.failed("\(error)") }
  }

  /// Shows the state until the end, or until the task is cancelled.
  private func follow(_ watcher: Watcher, _ screen: Screen, _ progress: Progress) async {
    let interval: Duration = screen.isLive ? .milliseconds(250) : .seconds(1)
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
      guard stats || screen.isLive else { continue }
      let statistics = await watcher.statistics()
      if stats {
        print(statistics.json)
        fflush(nil)
      } else {
        screen.show(statistics)
      }
    }
  }

  private func options() async throws -> WatchOptions {
    var options = WatchOptions(try await source())
    options.wantsVideo = !audioOnly
    options.recording = record
    options.snapshot = snapshot
    guard let device = SpeakerDevice(speaker) else {
      throw Failure.badConfiguration("--speaker \(speaker): must be auto, none, null, an ALSA PCM name or file:OUT.wav")
    }
    options.speaker = mute || device == .off ? nil : device
    return options
  }

  private func source() async throws -> WatchOptions.Source {
    guard let whep else { return .child(try await state.finder().paired(child)) }
    let url: HTTPURL
    do throws(HTTPURLError) {
      url = try HTTPURL(whep)
    } catch {
      throw Failure.badConfiguration("--whep: \(error)")
    }
    let secret = token ?? getenv("CRADLE_TOKEN").map { String(cString: $0) }
    let source = WHEPSource(url: url, token: secret, trust: try trust(for: url.origin))
    if source.sendsTokenInClear, !allowPlainHTTP {
      throw Failure.badConfiguration(
        "--whep: http:// would show the token to everybody on the network. Use https://, or say --allow-plain-http.")
    }
    return .whep(source)
  }

  private func trust(for origin: HTTPOrigin) throws -> HTTPTrust {
    if verify || origin.scheme == .http { return .system }
    if let fingerprint {
      let digits = fingerprint.filter { $0 != ":" }
      let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { offset in
        UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
      }
      guard bytes.count == 32, digits.count == 64 else {
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
    var over: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  func connected() {
    state.withLock { if $0.connectedAt == nil { $0.connectedAt = MonotonicClock.now } }
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

  /// Calls `body` at the end, or at once if it has ended already.
  func whenOver(_ body: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      state.over = body
      return state.isOver
    }
    if isOver { body() }
  }

  var connectedAt: Instant? { state.withLock { $0.connectedAt } }
  var error: ParentError? { state.withLock { $0.error } }
}
