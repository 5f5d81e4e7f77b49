internal import Control
internal import DeviceNames
internal import Devices
internal import Discovery
internal import Frames
internal import Glibc
public import Health
internal import Linux
public import Pairing
internal import Wire

/// `cradle-parent doctor`: checks this machine, the way to the child, and the link.
public struct ParentDoctor: Sendable {
  /// The result apart from the findings.
  public struct Result: Sendable {
    /// The child, once it is known which one is meant.
    public var child: PairRecord?
    /// Nil when it could not be measured.
    public var figures: LinkFigures?
    public var quality: LinkQuality?
  }

  private let state: ParentState
  private let discovery: any Discovery
  private let files = SystemFiles()

  public init(state: ParentState) {
    self.init(state: state, discovery: DNSServiceDiscovery())
  }

  init(state: ParentState, discovery: any Discovery) {
    self.state = state
    self.discovery = discovery
  }

  /// The longest label that a finding will have, for the width of the column.
  public static let labels = ["state directory", "from elsewhere"]

  /// Milliseconds. Clocks in a house differ by less, unless one is wrong.
  private static let clockLimit: Double = 2000
  private static let answering: Duration = .seconds(2)

  /// - Parameters:
  ///   - child: its name, id or address; nil for the only paired one.
  ///   - seconds: how long the link is measured.
  ///   - saying: called with what is being done, for progress lines.
  public func run(
    _ child: String?, seconds: Int, saying: @escaping @Sendable (String) -> Void, found: (Finding) -> Void
  ) async -> Result {
    machine().forEach(found)
    var result = Result()
    guard let paired = await find(child, saying, found) else { return result }
    result.child = paired.record
    await AwayProbe(child: paired).run(saying, found: found)
    let permissions = paired.record.permissions
    found(Self.finding(permissions, expiresAt: paired.record.expiresAt))
    saying("Connecting to “\(paired.record.name)” …")
    let session: ControlSession
    let began = MonotonicClock.now
    do {
      session = try await ControlSession.open(paired)
    } catch {
      found(await trouble(error, paired))
      return result
    }
    found(Finding("connection", .ok, "made in \(Int(saturating: (MonotonicClock.now - began).inMilliseconds)) ms"))
    await alarms(session).forEach(found)
    let probe = LinkProbe(
      child: paired, wantsPicture: permissions.contains(.view), wantsSound: permissions.contains(.listen))
    do {
      saying("Measuring, \(seconds) s …")
      let figures = try await probe.measure(session, seconds: seconds) { saying("Measuring, \($0) of \(seconds) s …") }
      let quality = LinkQuality(figures, wantsPicture: probe.wantsPicture, wantsSound: probe.wantsSound)
      if let ahead = figures.clockAheadMs { found(Self.finding(clockAhead: ahead)) }
      quality.findings.forEach(found)
      result.figures = figures
      result.quality = quality
    } catch {
      found(
        Finding("stream", .problem, "\(error)", remedy: "sudo cradle-child doctor   # on the baby unit"))
    }
    await session.close()
    return result
  }

  // MARK: This machine

  private func machine() -> [Finding] {
    KeyFileCheck.run(directory: state.path, names: ["identity.pem", "pairs.json"], user: geteuid(), files: files)
      + [speaker(), ClockCheck.run(unixSeconds: MonotonicClock.unixSeconds)]
      + WirelessCheck.run(files)
  }

  private func speaker() -> Finding {
    do throws(DeviceError) {
      let speaker = try Speakers.open(.auto) { _, _ in }
      speaker.stop()
      return Finding("speaker", .ok, "\(speaker.info.name) (\(speaker.info.device))")
    } catch {
      let remedy =
        switch error.reason {
        case .permissionDenied: "sudo usermod -aG audio \(Account.own.name(files))   # then log in again"
        case .busy: "sudo fuser -v /dev/snd/*"
        default: "aplay -l"
        }
      // Not a problem: a screen in the kitchen may do without.
      return Finding("speaker", .warning, "there will be no sound: \(error.summary)", remedy: remedy)
    }
  }

  // MARK: The child

  private func find(
    _ text: String?, _ saying: (String) -> Void, _ found: (Finding) -> Void
  ) async -> PairedChild? {
    saying("Looking for the camera …")
    let paired: PairedChild
    do {
      paired = try await ChildFinder(state: state, discovery: discovery).paired(text)
    } catch {
      found(await finding(notFound: error))
      return nil
    }
    let record = paired.record
    found(Finding("pairing", .ok, "paired with “\(record.name)” (\(record.id))"))
    if let seen = await discovery.resolve(within: Self.answering, where: { $0.id == record.id }) {
      found(
        Finding("discovery", .ok, "seen on this network at \(seen.addresses.first ?? seen.host), port \(seen.port)"))
    } else {
      let remedy =
        "sudo systemctl restart avahi-daemon   # here and on the baby unit; `apt install avahi-daemon` where there is none"
      let place = record.lastAddress == nil ? "and was never reached before" : "so only its last address is known"
      found(
        Finding("discovery", .warning, "“\(record.name)” is not announced on this network, \(place)", remedy: remedy))
    }
    return paired
  }

  /// It is not known which child is meant.
  private func finding(notFound error: any Error) async -> Finding {
    let what = "pairing"
    switch error as? FindingError {
    case .nothingPaired?:
      let seen = await discovery.resolve(within: ChildFinder.lookAround) { _ in true }
      let place = seen.map { "“\($0.name)” is on this network" } ?? "no camera is seen on this network"
      return Finding(
        what, .problem, "no camera is paired with this computer, and \(place)",
        remedy: "cradle-parent pair --code CODE   # `sudo cradle-child pair` on the baby unit shows it")
    case .notPaired?:
      return Finding(what, .problem, "\(error)", remedy: "cradle-parent children")
    case .severalPaired?, .ambiguous?:
      return Finding(what, .problem, "\(error)", remedy: "cradle-parent doctor NAME")
    case .nobodyAt(let address, _)?:
      return Finding("child", .problem, "\(error)", remedy: "ping \(address.host)")
    default:
      return Finding(what, .problem, "\(error)")
    }
  }

  static func finding(_ permissions: Permissions, expiresAt: UnixTime?) -> Finding {
    let what = "permissions"
    let may = permissions.names.joined(separator: ", ")
    guard !permissions.isDisjoint(with: [.view, .listen]) else {
      return Finding(
        what, .problem, "this computer may neither view nor listen (it may: \(may.isEmpty ? "nothing" : may))",
        remedy: "On the baby unit: cradle-child unpair, then cradle-child pair.")
    }
    let missing = [permissions.contains(.view) ? nil : "view", permissions.contains(.listen) ? nil : "listen"]
      .compactMap(\.self)
    if let missing = missing.first {
      return Finding(
        what, .warning, "this computer may not \(missing) (it may: \(may))",
        remedy: "On the baby unit: cradle-child unpair, then cradle-child pair.")
    }
    return Finding(
      what, .ok, may + (expiresAt.map { ", until \(LocalTime.text(unixSeconds: Double($0.seconds)))" } ?? ""))
  }

  /// The child is known, but cannot be reached.
  private func trouble(_ error: any Error, _ paired: PairedChild) async -> Finding {
    let what = "connection"
    guard (error as? ParentError)?.isFinal == false else {
      return Finding(
        what, .problem, "\(error)",
        remedy: "cradle-parent pair --code CODE   # `sudo cradle-child pair` on the baby unit")
    }
    // Whether anything answers there decides what to look at next.
    for await address in paired.route() {
      if (try? await ChildProbe.id(at: address)) != nil {
        return Finding(
          what, .problem, "\(error); its port \(address.port)/tcp does answer, so a firewall may block UDP",
          remedy: "sudo cradle-child doctor   # on the baby unit")
      }
    }
    return Finding(what, .problem, "\(error)", remedy: "cradle-parent discover")
  }

  /// The alarms that the child itself reports.
  private func alarms(_ session: ControlSession) async -> [Finding] {
    guard let status = try? await session.perform(StatusGet()) else { return [] }
    guard !status.alarms.isEmpty else {
      return [Finding("child", .ok, "\(status.name) has no alarm, version \(status.version)")]
    }
    return status.alarms.map { Finding("child", .problem, $0, remedy: "sudo cradle-child doctor   # on the baby unit") }
  }

  static func finding(clockAhead milliseconds: Double) -> Finding {
    guard abs(milliseconds) > clockLimit else {
      return Finding("clocks", .ok, "the baby unit's clock agrees with this one")
    }
    let seconds = Int(saturating: (abs(milliseconds) / 1000).rounded())
    return Finding(
      "clocks", .warning,
      "the baby unit's clock is \(seconds) s \(milliseconds > 0 ? "ahead of" : "behind") this one: the times of events will be wrong",
      remedy: "sudo timedatectl set-ntp true   # on both")
  }
}
