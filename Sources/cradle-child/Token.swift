import ArgumentParser
import Child
import Commands
import Storage

/// `cradle-child token …`
struct Token: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Bearer tokens for browsers and third-party players.", subcommands: [Add.self, List.self, Revoke.self])

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes a token and shows it once.",
      discussion: "The child stores only a hash of it. Permissions: view, listen, talk, control.")

    @OptionGroup var directories: DirectoryOptions
    @Option(help: "What the token is for, for example \"kitchen tablet\".")
    var name: String
    @Option(help: "Comma-separated permissions.")
    var allow = "view,listen"
    @Flag(help: "Print one JSON object {name, token, allow}.")
    var json = false

    func run() throws {
      let names = allow.split(separator: ",").map { String($0.trimmingPrefix(while: \.isWhitespace)) }
      let result = try Daemon.ask(.tokenAdd(name: name, allow: names), directories)
      if json { return print(result) }
      let added = try Daemon.decode(TokenAdded.self, from: result)
      print(added.token)
      printError("The token is not shown again. It allows: \(added.allow.joined(separator: ", ")).")
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists the tokens, without their secrets.")

    @OptionGroup var directories: DirectoryOptions
    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
      let result = try Daemon.ask(.tokenList, directories)
      if json { return print(result) }
      let rows = try Daemon.decode([TokenRow].self, from: result)
      if rows.isEmpty { return print("No tokens. Make one: cradle-child token add --name NAME --allow view,listen") }
      print(
        Table.text(
          [["NAME", "ALLOWS", "MADE"]] + rows.map { [$0.name, $0.allow.joined(separator: ","), $0.createdAt] }))
    }
  }

  struct Revoke: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Revokes a token; sessions with it end at once.")

    @OptionGroup var directories: DirectoryOptions
    @Argument(help: "The token's name.")
    var name: String

    func run() throws {
      _ = try Daemon.ask(.tokenRevoke(name: name), directories)
      print("Revoked \"\(name)\".")
    }
  }
}
