import ArgumentParser
import Child
import Commands
import Control
import FoundationEssentials
import Glibc
import JSON
import Linux
import QRCode
import Wire

/// `cradle-child pair`
struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Opens pairing: shows a code and a link, and waits until one is used.",
    discussion: """
      On the other device: cradle-parent pair --code CODE. Pairing mode ends after one pairing, five minutes or three wrong \
      codes. Compare the words that both show. If they differ, someone may be intercepting the connection: on a terminal \
      this command asks, and removes the pairing; elsewhere cradle-child unpair does.
      The first who completes pairing owns the camera and may do everything. Later ones may view, listen, talk and \
      control; with --recordings they may also play what was recorded, with --admin do everything. Who pairs again \
      keeps what it had.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Whoever pairs may administer the baby unit, too: let others in, and remove them.")
  var admin = false
  @Flag(help: "Whoever pairs may play what the baby unit has recorded, and have it record.")
  var recordings = false
  @Flag(
    help: "Print two JSON objects: {code, link, links, expiresAt, allow, problem?}, then {paired: {id, name, words}}.")
  var json = false

  func run() async throws {
    let opened = try Daemon.ask(PairOpen(admin: admin, recordings: recordings), directories)
    if json { print(JSON.text(opened)) } else { show(opened) }
    try StandardOutput.flush()
    // Ctrl-C closes the window.
    let signals = StopSignals()
    let directories = directories
    let watch = Task {
      await signals.first()
      guard !Task.isCancelled else { return }
      _ = try? Daemon.ask(PairingClose(), directories)
    }
    let ended = try await Task.detached { try Daemon.ask(PairWait(), directories, timeoutSeconds: 600) }.value
    watch.cancel()
    guard let paired = ended.paired else {
      throw Failure.failed("No device was paired: \(ended.reason ?? "it was closed").")
    }
    if json { return print(JSON.text(ended)) }
    print("Paired with \(paired.name) (\(paired.id)).")
    print("Check that the other screen shows the same words: \(paired.words)")
    print("If they differ, someone may be intercepting the connection: cradle-child unpair \(paired.id)")
    guard TerminalQuestion.isDenied("Does the other screen show the same words?") else { return }
    _ = try Daemon.ask(Child.Unpair(paired.id), directories)
    throw Failure.failed(
      "The pairing was removed. Someone may be intercepting the connection: try again on a network that you trust.")
  }

  private func show(_ opened: PairingOpened) {
    print("Code  \(opened.code)    cradle-parent pair --code \(opened.code)")
    print("Link  \(opened.link)")
    for link in opened.links.dropFirst() { print("  or  \(link)") }
    if let problem = opened.problem {
      print("This link works on this machine alone: \(problem). What to do: cradle-child doctor")
    }
    if isatty(STDOUT_FILENO) == 1, let code = QRCode(opened.link) { print(code.terminalText) }
    let allowed = opened.allow.joined(separator: ", ")
    print("The new device may: \(allowed)" + (opened.allow.contains("admin") ? "." : ", but not admin (--admin does)."))
    if opened.hasOwner == false, !opened.allow.contains("admin") { print(Ownership.missing) }
    // A clock that nothing has set yet names no time that anybody could look at.
    let isDated = opened.expiresAt > Date(timeIntervalSince1970: 1_735_689_600)
    let minutes = Int(saturating: (opened.expiresAt.timeIntervalSinceNow / 60).rounded())
    print(
      "Valid \(isDated ? "until \(LocalTime.text(opened.expiresAt))" : "for \(minutes) minutes"), for one device. "
        + "Waiting; Ctrl-C closes it.")
  }
}

/// `cradle-child pairs`
struct Pairs: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists the paired devices.")

  @OptionGroup var directories: DirectoryOptions
  @Flag(help: "Print one JSON object {pairs: [...]}.")
  var json = false

  func run() throws {
    let list = try Daemon.ask(PairsShow(), directories)
    if json { return print(JSON.text(list)) }
    let rows = list.pairs
    if rows.isEmpty { return print("No device is paired. Start with: cradle-child pair") }
    defer { if list.hasOwner == false { print(Ownership.missing) } }
    print(
      Table.text(
        [["ID", "NAME", "MAY", "PAIRED", "LAST SEEN", "EXPIRES"]]
          + rows.map { row in
            [
              row.id, row.name, row.permissions.joined(separator: ","), LocalTime.text(row.createdAt),
              row.isCompleted == false ? "not confirmed" : LocalTime.text(row.lastSeenAt),
              LocalTime.text(row.expiresAt),
            ]
          }))
  }
}

/// `cradle-child unpair`
struct Unpair: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ends a device's pairing; whatever it has open ends at once.",
    discussion: """
      Its invitations that nobody has used yet end, too, and pairing mode if it opened it. Devices that it has let in \
      before stay: look at cradle-child pairs.
      """)

  @OptionGroup var directories: DirectoryOptions
  @Argument(help: "The device's name, or its id (the first four digits do).")
  var parent: String?
  @Flag(help: "Every device, every invitation, and pairing mode.")
  var all = false
  @Flag(help: "Print one JSON object {pairs: [...]}: what was ended.")
  var json = false

  func validate() throws {
    if all == (parent != nil) { throw ValidationError("Name one device, or give --all.") }
  }

  func run() throws {
    let list = try Daemon.ask(Child.Unpair(parent), directories)
    if json { return print(JSON.text(list)) }
    if list.pairs.isEmpty { return print("No device was paired.") }
    for row in list.pairs { print("Unpaired \(row.name) (\(row.id)).") }
    if !all, list.hasOwner == false { print(Ownership.missing) }
  }
}
