import ArgumentParser
import Commands
import Discovery
import Glibc
import Pairing
import Parent

/// `cradle-parent discover`
struct Discover: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows the cameras on the network, as they come and go.",
    discussion: """
      On a terminal it runs until Ctrl-C; otherwise, and with --timeout, it ends by itself. Names are not verified here: \
      any machine on the network can announce itself as a camera. Pairing verifies it.
      """)

  @OptionGroup var state: StateOptions
  @Flag(help: "Print one JSON object for each camera: {name, id, host, addresses, port, pairing}.")
  var json = false
  @Option(help: "End after this long, such as 5s.", transform: TimeSpan.argument)
  var timeout: TimeSpan?

  func validate() throws {
    try Bounds.check(timeout?.seconds, 1...86_400, "--timeout", "seconds")
  }

  func run() async throws {
    let signals = StopSignals()
    let watching = Task { try await watch() }
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
    defer {
      stopping.cancel()
      limiting?.cancel()
    }
    let hasFound = try await watching.value
    if !hasFound, !json { printError("No camera was found. Is it switched on and on the same network?") }
  }

  /// Runs until the task is cancelled. Returns whether there was a child.
  private func watch() async throws -> Bool {
    let names = pairedNames
    var changes = NeighbourhoodChanges()
    var hasFound = false
    for await neighbourhood in DNSServiceDiscovery().browse() {
      for change in changes.update(neighbourhood) {
        switch change {
        case .here(let child):
          hasFound = true
          print(json ? JSONLine.text(child) : Self.line(child, known: names[child.id]))
        case .gone(let child):
          if !json { print("gone: \(child.name) (\(child.id))") }
        case .trouble(let problem):
          printError("\(problem)")
        }
      }
      try StandardOutput.flush()
    }
    return hasFound
  }

  /// What this parent calls the children that it is paired with, by id. Whoever only looks around makes no state.
  private var pairedNames: [String: String] {
    guard let path = try? state.path(), let parent = ParentState(existing: path) else { return [:] }
    return Dictionary((try? parent.pairs().records.map { ($0.id, $0.name) }) ?? []) { first, _ in first }
  }

  private static func line(_ child: DiscoveredChild, known: String?) -> String {
    let address = child.addresses.first.map { $0.contains(":") ? "[\($0)]" : $0 } ?? child.host
    let width = max(0, 24 - child.name.displayWidth)
    return "\(child.name)\(String(repeating: " ", count: width))  \(child.id)  \(address):\(child.port)"
      + (child.pairing == .open ? "  open for pairing" : "")
      + (known.map { $0 == child.name ? "  paired" : "  paired as “\($0)”" } ?? "")
  }
}
