import ArgumentParser
import Child
import Commands
import JSON
import Linux

/// `cradle-child token …`
struct Token: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bearer tokens for browsers and third-party players.", subcommands: [Add.self, List.self, Revoke.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a token and shows it once.",
      discussion: "The baby unit stores only a hash of it. Permissions: view, listen, talk, control.")

    @OptionGroup var directories: DirectoryOptions
    @Argument(help: "What the token is for, for example \"kitchen tablet\".")
    var what: String?
    @Option(help: "The same.")
    var name: String?
    @Option(help: "Comma-separated permissions.")
    var allow = "view,listen"
    @Option(
      name: .customLong("for"), help: "How long it is good, such as 30d or 8h. (default: until it is revoked)",
      transform: TimeSpan.argument)
    var duration: TimeSpan?
    @Flag(help: "Also for RTSP players, with its name as the user.")
    var rtsp = false
    @Flag(help: "Print one JSON object {name, token, allow, expiresAt}.")
    var json = false

    func validate() throws {
      if (what == nil) == (name == nil) { throw ValidationError("Name the token once: cradle-child token add NAME") }
    }

    func run() throws {
      let names = allow.split(separator: ",").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
      let added = try Daemon.ask(
        TokenAdd(name: what ?? name ?? "", allow: names, seconds: duration?.seconds, rtsp: rtsp ? true : nil),
        directories)
      if json { return print(JSON.text(added)) }
      print(added.token)
      printError(
        "This is the only time that the token is shown. It allows: \(added.allow.joined(separator: ", "))."
          + (added.expiresAt.map { " It ends at \(LocalTime.text($0))." } ?? ""))
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the tokens, without their secrets.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(help: "Print a JSON array [{name, allow, createdAt, lastUsedAt, expiresAt, isExpired, rtsp}].")
    var json = false

    func run() throws {
      let rows = try Daemon.ask(TokenList(), directories)
      if json { return print(JSON.text(rows)) }
      if rows.isEmpty { return print("No tokens. Make one: cradle-child token add NAME --allow view,listen") }
      print(
        Table.text(
          [["NAME", "ALLOWS", "MADE", "LAST USED", "EXPIRES"]]
            + rows.map { row in
              let allows = row.allow.joined(separator: ",") + (row.rtsp == true ? " (RTSP, too)" : "")
              return [
                row.name, allows, LocalTime.text(row.createdAt), LocalTime.text(row.lastUsedAt),
                LocalTime.text(row.expiresAt) + (row.isExpired ? " (over)" : ""),
              ]
            }))
    }
  }

  struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revokes a token; sessions with it end at once.")

    @OptionGroup var directories: DirectoryOptions
    @Argument(help: "The token's name.")
    var name: String
    @Flag(help: "Print one JSON object {revoked}: its name.")
    var json = false

    func run() throws {
      let reply = try Daemon.ask(TokenRevoke(name: name), directories)
      if json { return print(JSON.text(reply)) }
      print("Revoked \"\(name)\".")
    }
  }
}
