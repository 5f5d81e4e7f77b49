internal import Health
internal import Linux
internal import Storage

/// Whether the configured ports are held by the daemon or free for it: proc_pid_net(5).
enum PortCheck {
  static func run(_ configuration: ChildConfiguration, daemon: RunningDaemon, files: SystemFiles) -> [Finding] {
    let https = tcp(Int(configuration.listen.port), "listen", daemon, daemon.report?.port, files)
    let media = media(configuration.mediaPorts, daemon, files)
    guard configuration.rtsp.isEnabled else { return [https, media] }
    let rtsp = tcp(Int(configuration.rtsp.listen.port), "rtsp", daemon, daemon.report?.rtspPort, files)
    return [https, media, rtsp]
  }

  /// - Parameters:
  ///   - key: of the configuration.
  ///   - actual: what the daemon has for it.
  private static func tcp(
    _ wanted: Int, _ key: String, _ daemon: RunningDaemon, _ actual: Int?, _ files: SystemFiles
  ) -> Finding {
    let what = "port \(wanted)/tcp"
    if daemon.report != nil {
      if let actual, actual == wanted { return Finding(what, .ok, "the daemon listens there") }
      if let actual, wanted == 0 {
        return Finding("port \(actual)/tcp", .ok, "the daemon listens there; it is another each time")
      }
      return Finding(
        what, .warning, "configured, but the daemon listens \(actual.map { "on \($0)" } ?? "nowhere for it")",
        remedy: "sudo systemctl restart cradle-child")
    }
    if wanted == 0 { return Finding(key == "rtsp" ? "RTSP port" : "HTTPS port", .ok, "any free one") }
    // 0A is TCP_LISTEN.
    guard let owner = owner(of: wanted, ["/proc/net/tcp", "/proc/net/tcp6"], state: "0A", files) else {
      return Finding(what, .ok, "free")
    }
    if case .stopped = daemon {
      return Finding(
        what, .problem, "a program of \(Account.userName(owner, files)) listens there already",
        remedy: "sudo ss -ltnp 'sport = :\(wanted)'   # names it; else choose another port for `\(key)`")
    }
    return Finding(what, .ok, "a program of \(Account.userName(owner, files)) listens there: the daemon, it seems")
  }

  private static func media(_ range: ClosedRange<UInt16>?, _ daemon: RunningDaemon, _ files: SystemFiles) -> Finding {
    if let report = daemon.report {
      return Finding("port \(report.mediaPort)/udp", .ok, "sound and picture go there")
    }
    guard let range else { return Finding("media ports", .ok, "any free one") }
    let what = "media ports"
    let text = range.count == 1 ? "\(range.lowerBound)/udp" : "\(range.lowerBound) to \(range.upperBound)/udp"
    let isFree = range.contains { port in
      owner(of: Int(port), ["/proc/net/udp", "/proc/net/udp6"], state: nil, files) == nil
    }
    if isFree { return Finding(what, .ok, "\(text), free") }
    return Finding(
      what, .problem, "\(text): all in use by other programs", remedy: "sudo ss -lunp   # names them")
  }

  /// Owner of the socket bound to a port on any address; nil if there is none.
  static func owner(of port: Int, _ tables: [String], state: String?, _ files: SystemFiles) -> UInt32? {
    for table in tables {
      for fields in files.words(table) {
        // sl, local_address, rem_address, st, queues, timer, retransmits, uid.
        guard fields.count > 7, let colon = fields[1].lastIndex(of: ":"),
          Int(fields[1][fields[1].index(after: colon)...], radix: 16) == port, state == nil || fields[3] == state!
        else { continue }
        return UInt32(fields[7])
      }
    }
    return nil
  }
}
