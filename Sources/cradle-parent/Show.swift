import Commands
import Control
import Glibc
import Linux
import Parent
import QRCode

extension ChildOptions {
  /// Sends one command to the child and prints the reply.
  func show(_ command: ControlCommand, _ json: Bool) async throws {
    try await self.command { session in Self.show(try await session.perform(command), json) }
  }

  /// Prints a reply.
  static func show(_ reply: ControlReply, _ json: Bool) {
    // Of nothing that is a line each there is no line.
    let text = json ? reply.json : Self.text(reply)
    if !text.isEmpty { print(text) }
  }

  private static func text(_ reply: ControlReply) -> String {
    switch reply {
    case .status(let status): Table.text(status.rows, headed: false)
    case .light(let light): light.text
    case .tracks(let tracks):
      tracks.isEmpty ? "There is nothing to play." : Table.text(tracks.map(\.row), headed: false)
    case .lullaby(let lullaby): lullaby.text
    case .cameras(let cameras): cameras.isEmpty ? "There is no camera." : Table.text(cameras.map(\.row), headed: false)
    case .events(let events): events.isEmpty ? "Nothing has happened." : events.map(\.text).joined(separator: "\n")
    case .invite(let invite): text(invite)
    case .recordings(let recordings):
      recordings.parts.isEmpty
        ? recordings.summary + "\nNothing is recorded."
        : recordings.summary + "\n" + Table.text([["BEGINS", "LENGTH", "SIZE", "ID"]] + recordings.rows)
    case .time, .transfer, .report, .talk, .hearing, .drill, .pairing, .pairs, .pushKey, .pushTest, .done: "done"
    }
  }

  private static func text(_ invite: InviteDocument) -> String {
    var lines = [invite.link]
    if isatty(STDOUT_FILENO) == 1, let code = QRCode(invite.link) { lines.append(code.terminalText) }
    lines.append(
      "For \(invite.name), usable once; may \(invite.allow.joined(separator: ", ")) until "
        + "\(LocalTime.text(unixSeconds: invite.expiresAt)).")
    return lines.joined(separator: "\n")
  }
}
