import ArgumentParser
import Child
import Commands
import Frames
import Glibc
import Linux
import Logging

/// `cradle-child run`
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs the baby unit in the foreground, until SIGTERM or Ctrl-C.",
    discussion: """
      SIGHUP stops it, too. Under a service manager (NOTIFY_SOCKET) it begins again instead, with the configuration as it \
      is then; one that is not valid is logged, and nothing changes. Viewers hear goodbye in either case.
      """)

  @OptionGroup var directories: DirectoryOptions
  @OptionGroup var overrides: OverrideOptions

  @Flag(help: "Log details, for debugging.")
  var verbose = false

  func run() async throws {
    try ProcessProtection.apply()
    MemorySettings.apply()
    let configuration = try overrides.apply(to: directories.loadConfiguration())
    LoggingSystem.bootstrap { _ in ConsoleLog() }
    var logger = Logger(label: "cradle")
    logger.logLevel = verbose ? .debug : .info
    let serviceManager = ServiceManager()
    let options = ChildNode.Options(
      configuration: configuration, stateDirectory: directories.absolute(directories.state),
      runtimeDirectory: directories.runtime, serviceManager: serviceManager, configurationFile: directories.file())
    // Before the node starts, so that an early signal is not lost.
    let signals = StopSignals()
    let node: ChildNode
    do {
      node = try await ChildNode.start(options, logger: logger)
    } catch {
      serviceManager?.notifyFailure("\(error)")
      throw Failure.failed("\(error)")
    }
    MemorySettings.releaseUnused()
    if isatty(STDERR_FILENO) == 1 {
      printError(
        "Open https://localhost:\(node.port)/ with a token: cradle-child token add --name me --allow view,listen")
    }
    switch await end(of: node, signals, isService: serviceManager != nil, logger) {
    case .hopeless(let device):
      await node.abandon()
      throw Failure.failed("\(device) fails again and again; another process may help")
    case .signal(let signal):
      let isRestarting = signal == .hangup && serviceManager != nil
      await node.stop(isRestarting: isRestarting)
      if isRestarting { try Program.startAgain() }
    }
  }

  private enum End {
    case signal(StopSignals.Signal)
    /// This device needs another process.
    case hopeless(String)
  }

  private func end(of node: ChildNode, _ signals: StopSignals, isService: Bool, _ logger: Logger) async -> End {
    await withTaskGroup(of: End?.self) { group in
      group.addTask {
        while true {
          let signal = await signals.first()
          guard signal == .hangup, isService else { return .signal(signal) }
          do {
            _ = try overrides.apply(to: directories.loadConfiguration())
            return .signal(signal)
          } catch {
            let reason = (error as? Failure)?.message ?? "\(error)"
            logger.error(
              "the configuration is not valid; the one before stays in use",
              metadata: ["reason": "\(reason)"])
          }
        }
      }
      group.addTask { await node.waitUntilRestartNeeded().map { .hopeless($0) } }
      defer { group.cancelAll() }
      while let end = await group.next() {
        if let end { return end }
      }
      return .signal(.stop)
    }
  }
}
