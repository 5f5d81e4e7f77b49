import ArgumentParser
import Child
import Commands
import JSON
import Linux

/// `cradle-child invites …`
struct Invites: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists and ends open invitations, and pairing mode.",
    discussion: """
      An invitation ends when it is used or its time is over, when whoever made it is unpaired, expires or loses admin, \
      and when the daemon stops.
      """,
    subcommands: [List.self, Revoke.self], defaultSubcommand: List.self)

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists them; what invites does without a command.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(
      help: """
        Print one JSON object {invites: [{id, name, allow, issuer, issuerName, expiresAt, accessExpiresAt}]}. Without \
        issuer it was made on this machine.
        """)
    var json = false

    func run() throws {
      let list = try Daemon.ask(InvitesShow(), directories)
      if json { return print(JSON.text(list)) }
      let rows = list.invites
      if rows.isEmpty { return print("No invitation is open, and the pairing window is closed.") }
      print(
        Table.text(
          [["ID", "FOR", "GIVES", "MADE BY", "VALID UNTIL", "ACCESS UNTIL"]]
            + rows.map { row in
              [
                row.id, row.name ?? "-", row.allow.joined(separator: ","), Invites.issuer(of: row),
                LocalTime.text(row.expiresAt),
                row.accessExpiresAt.map { LocalTime.text($0) } ?? "unpaired",
              ]
            }))
    }
  }

  struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ends an invitation that nobody has used yet, or the pairing window.",
      discussion: "Devices that have paired already stay: remove them with cradle-child unpair.")

    @OptionGroup var directories: DirectoryOptions
    @Argument(help: "The invitation's id; window: the pairing window.")
    var id: String?
    @Flag(help: "Every invitation, and the window.")
    var all = false
    @Flag(help: "Print one JSON object {invites: [...]}: what was ended.")
    var json = false

    func validate() throws {
      if all == (id != nil) { throw ValidationError("Name one invitation, or give --all.") }
    }

    func run() throws {
      let list = try Daemon.ask(InviteRevoke(id), directories)
      if json { return print(JSON.text(list)) }
      let rows = list.invites
      if rows.isEmpty { return print("No invitation was open.") }
      for row in rows {
        print(
          row.id == InviteList.Row.windowID
            ? "Closed the pairing window of \(Invites.issuer(of: row))."
            : "Ended the invitation \(row.id)\(row.name.map { " for \($0)" } ?? "") of \(Invites.issuer(of: row)).")
      }
    }
  }

  private static func issuer(of row: InviteList.Row) -> String {
    guard let id = row.issuer else { return "this machine" }
    return row.issuerName.map { "\($0) (\(id))" } ?? id
  }
}
