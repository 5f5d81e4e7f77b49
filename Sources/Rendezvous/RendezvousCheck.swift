internal import Frames
internal import SecureTransport
public import Storage
internal import Wire

/// What a configuration needs beside itself.
public enum RendezvousCheck {
  /// One sentence for each thing that will not work for long, or works otherwise than somebody might think.
  public static func warnings(_ configuration: RendezvousConfiguration) -> [String] {
    expiring(configuration) + lent(configuration)
  }

  private static func lent(_ configuration: RendezvousConfiguration) -> [String] {
    let isRelaying = configuration.iceServers.contains { entry in
      if case .everybody = entry.access { false } else { true }
    }
    guard isRelaying, configuration.children == nil else { return [] }
    let remedy = "Write the ids of your baby units into `children`; `cradle-child status` shows them."
    guard let grace = configuration.lendAfter else {
      return ["ice-servers: the TURN servers are lent to nobody, as `children` is open. \(remedy)"]
    }
    let time = grace == .zero ? "at once" : "after \(Int(grace.components.seconds)) s here"
    return ["lend-after: whoever makes a key may use the TURN servers \(time), as `children` is open. \(remedy)"]
  }

  /// One sentence for each thing that does not work.
  public static func problems(_ configuration: RendezvousConfiguration) -> [String] {
    var problems: [String] = []
    if let files = configuration.tls {
      do {
        let validity = try RendezvousTLS.context(files).validity
        let now = MonotonicClock.unixSeconds
        if let term = validity.map({ CertificateTerm($0, now: now) }), term.isOver {
          problems.append("tls: \(files.certificate) \(term): \(renewal)")
        }
      } catch {
        problems.append("tls: \(error)")
      }
    }
    for (index, entry) in configuration.iceServers.enumerated() {
      do throws(ConfiguredValueError) {
        _ = try entry.server(
          for: "check", lifetime: entry.lifetime, clock: MonotonicClock.wallClockReference, now: MonotonicClock.now,
          hashes: CryptoHashes())
      } catch {
        problems.append("ice-servers[\(index)]: \(error)")
      }
    }
    return problems
  }

  private static func expiring(_ configuration: RendezvousConfiguration) -> [String] {
    guard let files = configuration.tls, let validity = try? RendezvousTLS.context(files).validity else { return [] }
    let term = CertificateTerm(validity, now: MonotonicClock.unixSeconds)
    return term.isExpiring ? ["tls: \(files.certificate) \(term): \(renewal)"] : []
  }

  private static let renewal = "renew it; a running server uses the new one within a minute"
}
