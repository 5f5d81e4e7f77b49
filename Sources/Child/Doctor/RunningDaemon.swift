internal import Health
internal import Linux
internal import Server

/// The state of the daemon, as seen from another process.
public enum RunningDaemon: Sendable {
  case running(StatusReport, process: Int?, away: AwayReport? = nil, certificate: CertificateReport? = nil)
  /// Nothing listens at its socket.
  case stopped(socket: String)
  /// This user may not connect to its socket.
  case hidden(socket: String)
  /// It listens but gives no readable answer.
  case silent(socket: String)

  /// Asks over the socket in the runtime directory. Blocks, ten seconds at most.
  ///
  public static func ask(runtimeDirectory: String) -> RunningDaemon {
    let socket = runtimeDirectory + "/" + AdminProtocol.socketName
    do throws(CommandClientError) {
      guard case .success(let report) = try AdminProtocol.ask(StatusShow(), at: socket) else {
        return .silent(socket: socket)
      }
      return .running(
        report, process: report.stateDirectory.flatMap { SystemFiles().number("\($0)/lock") },
        away: try? AdminProtocol.ask(AwayShow(), at: socket).get(),
        certificate: try? AdminProtocol.ask(CertificateShow(), at: socket).get())
    } catch {
      switch error {
      case .notRunning: return .stopped(socket: socket)
      case .permissionDenied: return .hidden(socket: socket)
      case .failed: return .silent(socket: socket)
      }
    }
  }

  public var report: StatusReport? {
    if case .running(let report, _, _, _) = self { report } else { nil }
  }

  var process: Int? {
    if case .running(_, let process, _, _) = self { process } else { nil }
  }

  public var away: AwayReport? {
    if case .running(_, _, let away, _) = self { away } else { nil }
  }

  var certificate: CertificateReport? {
    if case .running(_, _, _, let certificate) = self { certificate } else { nil }
  }

  /// The finding about the daemon itself.
  func finding(version: String) -> Finding {
    let what = "daemon"
    switch self {
    case .running(let report, _, _, _) where report.version != version:
      return Finding(
        what, .warning, "it runs version \(report.version), and this program is \(version)",
        remedy: "sudo systemctl restart cradle-child")
    case .running(let report, _, _, _):
      let viewers = report.viewers.count
      return Finding(
        what, .ok,
        "\(report.name) runs, version \(report.version), \(viewers) \(viewers == 1 ? "viewer" : "viewers")")
    case .stopped(let socket):
      return Finding(
        what, .warning, "it does not run (nothing listens at \(socket))", remedy: "sudo systemctl start cradle-child")
    case .hidden(let socket):
      return Finding(
        what, .unknown, "this user may not ask it (\(socket))", remedy: "Run the doctor with sudo.")
    case .silent(let socket):
      return Finding(
        what, .problem, "it listens at \(socket) and does not answer", remedy: "sudo systemctl restart cradle-child")
    }
  }
}
