import Commands
import Control
import Glibc
import Parent

extension ChildOptions {
  /// Has the child carry out one command, and prints what it says to it.
  func show(_ command: ControlCommand, _ json: Bool) async throws {
    try await self.command { session in
      let reply = try await session.perform(command)
      print(json ? reply.json : Self.words(reply))
    }
  }

  private static func words(_ reply: ControlReply) -> String {
    switch reply {
    case .status(let status): Table.text(status.rows)
    case .light(let light): light.words
    case .tracks(let tracks): tracks.isEmpty ? "There is nothing to play." : Table.text(tracks.map(\.row))
    case .lullaby(let lullaby): lullaby.words
    case .cameras(let cameras): cameras.isEmpty ? "There is no camera." : Table.text(cameras.map(\.row))
    case .events(let events): events.isEmpty ? "Nothing has happened." : events.map(\.words).joined(separator: "\n")
    case .invite(let invite): words(invite)
    case .time, .transfer, .talk, .pairing, .pairs, .done: "done"
    }
  }

  private static func words(_ invite: InviteDocument) -> String {
    var lines = [invite.link]
    if isatty(STDOUT_FILENO) == 1, let code = QRCode.terminalText(invite.link) { lines.append(code) }
    lines.append(
      "For \(invite.name), to be used once; may \(invite.allow.joined(separator: ", ")) until "
        + "\(LocalTime.text(unixSeconds: invite.expiresAt)).")
    return lines.joined(separator: "\n")
  }
}
