import ArgumentParser
import Child
import Commands
import Frames
import Glibc
import Linux
import Logging

/// `cradle-child run`
struct Run: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Runs the node in the foreground, until SIGTERM or Ctrl-C.")

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
      configuration: configuration, stateDirectory: directories.state, runtimeDirectory: directories.runtime,
      serviceManager: serviceManager)
    // Before the node starts, so that an early signal is not lost.
    let signals = StopSignals()
    let node: ChildNode
    do {
      node = try await ChildNode.start(options, logger: logger)
    } catch {
      serviceManager?.tellFailure("\(error)")
      throw Failure.failed("\(error)")
    }
    MemorySettings.releaseUnused()
    if isatty(STDERR_FILENO) == 1 {
      printError(
        "Open https://localhost:\(node.port)/ with a token: cradle-child token add --name me --allow view,listen")
    }
    if let device = await untilEnd(of: node, signals) {
      await node.abandon()
      throw Failure.failed("\(device) fails again and again; another process may help")
    }
    await node.stop()
  }

  /// The device that needs another process; nil on a signal.
  private func untilEnd(of node: ChildNode, _ signals: StopSignals) async -> String? {
    await withTaskGroup(of: String?.self) { group in
      group.addTask {
        await signals.first()
        return nil
      }
      group.addTask { await node.untilHopeless() }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
