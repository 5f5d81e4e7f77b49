import ArgumentParser
import Commands
import Linux
import Logging
import Rendezvous
import Storage

/// `cradle-rendezvous run`
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the server in the foreground, until SIGTERM or Ctrl-C.",
    discussion: "SIGHUP stops it, too. Under a service manager (NOTIFY_SOCKET) it begins again instead.")

  @OptionGroup var directories: DirectoryOptions
  @Option(help: "HTTPS address and port, in place of the configuration's; port 0 for any free one.")
  var listen: String?
  @Flag(help: "Log details, for debugging.")
  var verbose = false

  func run() async throws {
    try ProcessProtection.apply()
    var configuration = try directories.loadConfiguration()
    if let listen {
      guard let address = ListenAddress(listen) else {
        throw Failure.badConfiguration("--listen \(listen) must be \(ListenAddress.allowed)")
      }
      configuration.listen = address
    }
    LoggingSystem.bootstrap { _ in ConsoleLog() }
    var logger = Logger(label: "cradle-rendezvous")
    logger.logLevel = verbose ? .debug : .info
    let serviceManager = ServiceManager()
    // Before the server starts, so that an early signal is not lost.
    let signals = StopSignals()
    let server: RendezvousServer
    do {
      server = try await RendezvousServer.start(
        .init(
          configuration: configuration, stateDirectory: directories.state, runtimeDirectory: directories.runtime),
        logger: logger)
    } catch {
      serviceManager?.notifyFailure("\(error)")
      throw Failure.failed("\(error)")
    }
    serviceManager?.notify(.ready, .status("Serving at port \(server.port)"))
    // As for cradle-child: a service begins again.
    let isRestarting =
      await untilEnd(signals, isService: serviceManager != nil, logger) == .hangup
      && serviceManager != nil
    serviceManager?.notify(isRestarting ? .reloading : .stopping)
    await server.stop()
    if isRestarting { try Program.startAgain() }
  }

  /// The signal that ends the server: of a service no SIGHUP while the configuration is not valid.
  private func untilEnd(_ signals: StopSignals, isService: Bool, _ logger: Logger) async -> StopSignals.Signal {
    while true {
      let signal = await signals.first()
      guard signal == .hangup, isService else { return signal }
      do {
        _ = try directories.loadConfiguration()
        return signal
      } catch {
        let reason = (error as? Failure)?.message ?? "\(error)"
        logger.error(
          "the configuration is not valid; the server runs on with the one before",
          metadata: ["reason": "\(reason)"])
      }
    }
  }
}
