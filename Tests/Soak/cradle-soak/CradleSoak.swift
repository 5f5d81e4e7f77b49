import ArgumentParser
import Parent
import Server
import Signaling
import Synchronization

/// Watches a child again and again, and leaves in every way: `make soak` looks at what is left behind.
@main
struct CradleSoak: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-soak", abstract: "Connects, watches half a second, leaves; many times. For `make soak`.")

  @Option(help: "The WHEP endpoint.")
  var whep: String
  @Option(help: "Bearer tokens, separated by commas; used in turns, because a child takes four sessions of one.")
  var tokens: String
  @Option(help: "How often.")
  var cycles = 100
  @Option(help: "How many at a time. A child takes four offers a second from one address.")
  var parallel = 3
  @Option(help: "Of 100 viewers, how many close without DELETE.")
  var closing = 30
  @Option(help: "Of 100 viewers, how many vanish. The child keeps each for 30 s, and 32 viewers at a time.")
  var vanishing = 12
  @Option(help: "Milliseconds to watch after the first picture.")
  var watching = 500

  func validate() throws {
    if tokens.isEmpty { throw ValidationError("at least one token") }
  }

  func run() async throws {
    let plan = Plan(
      whep: whep, tokens: tokens.split(separator: ",").map(String.init), cycles: cycles, closing: closing,
      vanishing: vanishing,
      watching: .milliseconds(watching))
    let tally = Tally()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<parallel {
        group.addTask {
          while let number = tally.next(below: plan.cycles) { tally.note(await plan.cycle(number)) }
        }
      }
    }
    let result = tally.outcomes
    print(result.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: "\n"))
    if result.keys.contains(where: { $0.hasPrefix("failed") }) { throw ExitCode.failure }
  }
}

/// Which cycle is next, and what became of those before.
private final class Tally: Sendable {
  private let state = Mutex<(next: Int, outcomes: [String: Int])>((0, [:]))

  func next(below count: Int) -> Int? {
    state.withLock { state in
      guard state.next < count else { return nil }
      defer { state.next += 1 }
      return state.next
    }
  }

  func note(_ outcome: String) {
    state.withLock { $0.outcomes[outcome, default: 0] += 1 }
  }

  var outcomes: [String: Int] { state.withLock { $0.outcomes } }
}

/// Why watching was given up.
private final class Ending: Sendable {
  private let reason = Mutex<String?>(nil)

  var text: String? { reason.withLock { $0 } }

  func note(_ text: String) {
    reason.withLock { $0 = text }
  }
}

private struct Plan: Sendable {
  var whep: String
  var tokens: [String]
  var cycles: Int
  var closing: Int
  var vanishing: Int
  var watching: Duration

  /// One viewer, from its offer to its end; what became of it.
  func cycle(_ number: Int) async -> String {
    // 37 and 100 have no common factor, so the ways are mixed and each comes as often as it should.
    let lot = number * 37 % 100
    let leaving: Watcher.Leaving = lot < vanishing ? .vanish : lot < vanishing + closing ? .close : .delete
    let ending = Ending()
    let watcher: Watcher
    do {
      watcher = try await Watcher.start(
        WatchOptions(
          .whep(WHEPSource(url: HTTPURL(whep), token: tokens[number % tokens.count], trust: .firstUse { _ in true }))),
        notice: { _ in }, ended: { error in ending.note("\(error)") })
    } catch {
      return "failed to start: \(error)"
    }
    var hasPicture = false
    for _ in 0..<1000 where !hasPicture {
      try? await Task.sleep(for: .milliseconds(10))
      hasPicture = await watcher.statistics().framesDecoded > 0
      if ending.text != nil { break }
    }
    if hasPicture { try? await Task.sleep(for: watching) }
    _ = await watcher.stop(leaving)
    return hasPicture ? leaving.rawValue : "failed: \(ending.text ?? "no picture")"
  }
}
