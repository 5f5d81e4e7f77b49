import ArgumentParser
import Commands
import Discovery
import Glibc
import Parent

/// `cradle-parent discover`
struct Discover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the children on the network, as they come and go.",
    discussion: """
      On a terminal until Ctrl-C; otherwise, and with --timeout, it ends by itself. Anybody in the network can call \
      itself a child here: who a child is shows when it is paired.
      """)

  @Flag(help: "Print one JSON object a child: {name, id, host, addresses, port, pairing}.")
  var json = false
  @Option(help: "End after this long, such as 5s.")
  var timeout: TimeSpan?

  func run() async throws {
    let signals = StopSignals()
    let watching = Task { await watch() }
    let limit: Duration? =
      if let timeout { .seconds(timeout.seconds) } else if isatty(STDOUT_FILENO) == 1 { nil } else {
        ChildFinder.lookAround
      }
    let stopping = Task {
      await signals.first()
      watching.cancel()
    }
    let limiting = limit.map { limit in
      Task {
        try? await Task.sleep(for: limit)
        watching.cancel()
      }
    }
    let hasFound = await watching.value
    stopping.cancel()
    limiting?.cancel()
    if !hasFound, !json { printError("No child was found. Is it switched on and in the same network?") }
  }

  /// Until the task is cancelled; whether there was a child.
  private func watch() async -> Bool {
    var changes = NeighbourhoodChanges()
    var hasFound = false
    for await neighbourhood in DNSServiceDiscovery().browse() {
      for change in changes.update(neighbourhood) {
        switch change {
        case .here(let child):
          hasFound = true
          print(json ? JSONLine.text(child) : Self.line(child))
        case .gone(let child):
          if !json { print("gone: \(child.name) (\(child.id))") }
        case .trouble(let problem):
          printError("\(problem)")
        }
      }
      fflush(nil)
    }
    return hasFound
  }

  private static func line(_ child: DiscoveredChild) -> String {
    let address = child.addresses.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? child.host
    let width = max(0, 24 - child.name.count)
    return "\(child.name)\(String(repeating: " ", count: width))  \(child.id)  \(address):\(child.port)"
      + (child.pairing == .open ? "  takes a new parent now" : "")
  }
}
