import Commands
import Control
import Glibc
import Linux
import Parent
import QRCode

/// A reply that a person reads.
protocol PrintedReply: ControlReply {
  var text: String { get }
}

extension ChildOptions {
  /// Sends one command to the child and prints the reply.
  func show<Command: ControlCommand>(_ command: Command, _ json: Bool) async throws where Command.Reply: PrintedReply {
    try await self.command { session in Self.show(try await session.perform(command), json) }
  }

  static func show(_ reply: some PrintedReply, _ json: Bool) { print(json ? reply.json : reply.text) }
}

extension Done: PrintedReply {
  var text: String { "done" }
}

extension LightDocument: PrintedReply {}
extension LullabyDocument: PrintedReply {}

extension StatusDocument: PrintedReply {
  var text: String { Table.text(rows, headed: false) }
}

/// A reply of a row each.
protocol PrintedRow: ListedDocument {
  var row: [String] { get }
  /// Said when there is no row.
  static var none: String { get }
}

extension TrackDocument: PrintedRow {
  static var none: String { "There is nothing to play." }
}

extension CameraDocument: PrintedRow {
  static var none: String { "There is no camera." }
}

extension Array: PrintedReply where Element: PrintedRow {
  var text: String { isEmpty ? Element.none : Table.text(map(\.row), headed: false) }
}

extension RecordingsDocument: PrintedReply {
  var text: String {
    parts.isEmpty
      ? summary + "\nNothing is recorded."
      : summary + "\n" + Table.text([["BEGINS", "LENGTH", "SIZE", "ID"]] + rows)
  }
}

extension InviteDocument: PrintedReply {
  var text: String {
    var lines = [link]
    if isatty(STDOUT_FILENO) == 1, let code = QRCode(link) { lines.append(code.terminalText) }
    lines.append(
      "For \(name), usable once; may \(allow.joined(separator: ", ")) until "
        + "\(LocalTime.text(unixSeconds: expiresAt)).")
    return lines.joined(separator: "\n")
  }
}
