internal import ArgumentParser
internal import JSON

/// The long names of a program's flags (`--json`), from the parser's own description of its commands (`ToolInfoV0`). What is
/// an option with a value in one command counts as none.
struct FlagNames {
  private var flags: Set<String> = []
  private var options: Set<String> = []

  private static let maximumBytes = 4 << 20
  private static let maximumDepth = 64

  init(of root: any ParsableCommand.Type) {
    let description = Array(root._dumpHelp().utf8)
    guard
      let json = try? JSON(description, maximumBytes: Self.maximumBytes, maximumDepth: Self.maximumDepth),
      let command = json.object?["command"]
    else { return }
    read(command)
  }

  /// - Parameter name: with its two dashes.
  func contains(_ name: String) -> Bool { flags.contains(name) && !options.contains(name) }

  private mutating func read(_ command: JSON) {
    for argument in Self.members(command, "arguments") {
      for name in Self.members(argument, "names") {
        guard let text = name.object?["name"]?.string, name.object?["kind"]?.string == "long" else { continue }
        if argument.object?["kind"]?.string == "flag" {
          flags.insert("--\(text)")
        } else {
          options.insert("--\(text)")
        }
      }
    }
    Self.members(command, "subcommands").forEach { read($0) }
  }

  private static func members(_ json: JSON, _ key: String) -> [JSON] {
    if case .array(let values)? = json.object?[key] { values } else { [] }
  }
}
