import ArgumentParser
import Child
import Commands
import Glibc
import QRCode

/// `cradle-child pair`
struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Opens pairing: shows a code and a link, and waits until one is used.",
    discussion: """
      On the parent: cradle-parent pair --code CODE. The window closes after one pairing, five minutes or three wrong \
      codes. Compare the words that both show.
      The first parent may do everything. Later ones may view, listen, talk and control; with --recordings they \
      may also play what was recorded, with --admin do everything.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Whoever pairs may administer the child, too: let others in, and remove them.")
  var admin = false
  @Flag(help: "Whoever pairs may play what the child has recorded, and have it record.")
  var recordings = false
  @Flag(help: "Print two JSON objects: {code, link, expiresAt, allow}, then {paired: {id, name, words}}.")
  var json = false

  func run() async throws {
    let text = try Daemon.ask(.pairOpen(admin: admin, recordings: recordings), directories)
    let opened = try Daemon.decode(PairingOpened.self, from: text)
    if json { print(text) } else { show(opened) }
    fflush(nil)
    // Ctrl-C closes the window.
    let signals = StopSignals()
    let directories = directories
    let watch = Task {
      await signals.first()
      guard !Task.isCancelled else { return }
      _ = try? Daemon.ask(.pairClose, directories)
    }
    defer { watch.cancel() }
    let end = try await Task.detached { try Daemon.ask(.pairWait, directories, timeoutSeconds: 600) }.value
    let ended = try Daemon.decode(PairingEnded.self, from: end)
    guard let paired = ended.paired else {
      throw Failure.failed("No parent was paired: \(ended.reason ?? "it was closed").")
    }
    if json { return print(end) }
    print("Paired with \(paired.name) (\(paired.id)).")
    print("Both screens show the same words: \(paired.words)")
  }

  private func show(_ opened: PairingOpened) {
    print("Code  \(opened.code)    cradle-parent pair --code \(opened.code)")
    print("Link  \(opened.link)")
    if isatty(STDOUT_FILENO) == 1, let code = QRCode(opened.link) { print(code.terminalText) }
    let allowed = opened.allow.joined(separator: ", ")
    print("It gives: \(allowed)" + (opened.allow.contains("admin") ? "." : ", but not admin (--admin does)."))
    print("Valid until \(opened.expiresAt), for one parent. Waiting; Ctrl-C closes it.")
  }
}

/// `cradle-child pairs`
struct Pairs: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists the paired parents.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object {pairs: [...]}.")
  var json = false

  func run() throws {
    let result = try Daemon.ask(.pairs, directories)
    if json { return print(result) }
    let rows = try Daemon.decode(PairList.self, from: result).pairs
    if rows.isEmpty { return print("No parent is paired. Start with: cradle-child pair") }
    print(
      Table.text(
        [["ID", "NAME", "MAY", "PAIRED", "LAST SEEN", "EXPIRES"]]
          + rows.map { row in
            [
              row.id, row.name, row.permissions.joined(separator: ","), row.createdAt, row.lastSeenAt ?? "never",
              row.expiresAt ?? "never",
            ]
          }))
  }
}

/// `cradle-child unpair`
struct Unpair: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Revokes a parent; whatever it has open ends at once.",
    discussion: """
      Its invitations that nobody has used yet end, too, and the pairing window if it opened it. Parents that it has let \
      in before stay: look at cradle-child pairs.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Argument(help: "The parent's id or name.")
  var parent: String?
  @Flag(help: "Every parent, every invitation and the pairing window.")
  var all = false

  func validate() throws {
    if all == (parent != nil) { throw ValidationError("Name one parent, or give --all.") }
  }

  func run() throws {
    let removed = try Daemon.decode(PairList.self, from: try Daemon.ask(.unpair(parent), directories)).pairs
    if removed.isEmpty { return print("No parent was paired.") }
    for row in removed { print("Unpaired \(row.name) (\(row.id)).") }
  }
}
