import Foundation
import Testing

/// Package.swift, the table of modules in docs/ARCHITECTURE.md and the imports in each folder say the same.
@Suite struct ArchitectureTests {
  struct Room: Equatable {
    var name: String
    /// From the project's root.
    var folder: String
    /// Targets and products by name, sorted.
    var needs: [String]

    func row(_ what: String) -> String {
      "| \(name) | `\(folder)` | \(needs.isEmpty ? "–" : needs.joined(separator: ", ")) | \(what) |"
    }
  }

  // MARK: - Package.swift

  /// The text from the bracket at `start` to its partner.
  private static func bracketed(_ text: Substring, _ open: Character, _ close: Character) throws -> Substring {
    let start = try #require(text.firstIndex(of: open))
    var depth = 0
    for index in text[start...].indices {
      if text[index] == open { depth += 1 }
      if text[index] == close { depth -= 1 }
      if depth == 0 { return text[start...index] }
    }
    throw CocoaError(.formatting)
  }

  /// The targets below Sources. Package.swift declares them with `core`, `room` and `library`, and with SwiftPM's own
  /// functions.
  static func declaredRooms() throws -> [Room] {
    let manifest = try Project.text("Package.swift")
    let declaration =
      #/[\s\[](?<kind>core|room|library|\.systemLibrary|\.executableTarget|\.target)\(\s*(?:name:\s*)?"(?<name>[\w-]+)"/#
    return try manifest.matches(of: declaration).compactMap { match in
      let call = try bracketed(manifest[match.range.lowerBound...], "(", ")")
      let name = String(match.name)
      let written = call.firstMatch(of: #/(?:path|in):\s*"([^"]+)"/#).map { String($0.output.1) }
      let folder: String
      switch match.kind {
      case "core": folder = "Sources/Protocols/\(name)"
      case "library": folder = "Sources/CLibraries/\(name)"
      case "room": folder = "Sources/\(try #require(written))"
      default: folder = written ?? "Sources/\(name)"
      }
      guard folder.hasPrefix("Sources/") else { return nil }
      let list = try call.firstRange(of: #/\b(?:needs|dependencies):\s*\[/#).map { range in
        try bracketed(call[range.lowerBound...], "[", "]")
      }
      // `product("NIOCore", nio)`, `.product(name: "NIOCore", package: …)` or a target's name.
      let names = (list ?? "").matches(of: #/product\((?:name:\s*)?"(\w+)"[^)]*\)|"([\w-]+)"/#).map {
        String($0.output.1 ?? $0.output.2 ?? "")
      }
      return Room(name: name, folder: folder, needs: names.sorted())
    }
  }

  // MARK: - docs/ARCHITECTURE.md

  static func documentedRooms() throws -> [(room: Room, what: String)] {
    let lines = try Project.text("docs/ARCHITECTURE.md").split(separator: "\n", omittingEmptySubsequences: false)
    let heading = try #require(lines.firstIndex(of: "| module | folder | depends on | what lives there |"))
    return try lines[(heading + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      try #require(cells.count == 4, "\(line)")
      let needs = cells[2] == "–" ? [] : cells[2].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
      return (Room(name: cells[0], folder: cells[1].filter { $0 != "`" }, needs: needs), cells[3])
    }
  }

  @Test func theTableIsThatOfThePackage() throws {
    let declared = try Self.declaredRooms()
    let documented = try Self.documentedRooms()
    #expect(declared.count > 30)
    for room in declared {
      let row = documented.first { $0.room.name == room.name }
      #expect(row?.room == room, "docs/ARCHITECTURE.md needs this row: \(room.row(row?.what ?? "…"))")
      #expect(row?.what.isEmpty == false, "\(room.name): say what lives there")
    }
    let names = Set(declared.map(\.name))
    for (room, _) in documented {
      #expect(names.contains(room.name), "docs/ARCHITECTURE.md has \(room.name), Package.swift has not")
    }
    #expect(documented.count == declared.count, "a module stands twice in docs/ARCHITECTURE.md")
  }

  /// One way only: what a room needs stands above it.
  @Test func arrowsPointOneWay() throws {
    let rooms = try Self.documentedRooms().map(\.room)
    let names = Set(rooms.map(\.name))
    var above: Set<String> = []
    for room in rooms {
      for need in room.needs where names.contains(need) {
        #expect(above.contains(need), "\(room.name) depends on \(need), which stands below it")
      }
      above.insert(room.name)
    }
  }

  // MARK: - Sources

  /// Part of Swift or of the system.
  private static let system: Set = ["Glibc", "Foundation", "FoundationEssentials", "Synchronization", "Dispatch"]

  /// SwiftPM lets a target import whatever happens to be built; here an import has to be declared, and what is declared
  /// has to be imported.
  @Test func roomsImportWhatTheyDeclare() throws {
    for room in try Self.declaredRooms() where !room.folder.hasPrefix("Sources/CLibraries") {
      let files = try Project.swiftFiles(below: room.folder)
      let imports = files.reduce(into: Set<String>()) { $0.formUnion($1.imports) }.subtracting(Self.system)
      #expect(imports.subtracting(room.needs).isEmpty, "\(room.name) imports what it does not declare")
      #expect(Set(room.needs).subtracting(imports).isEmpty, "\(room.name) declares what it does not import")
    }
  }

  /// Cores take bytes and `now`; a clock, a lock, a socket or a C library there is a mistake.
  @Test func coresImportOnlyCores() throws {
    let cores = Set(try Self.declaredRooms().filter { $0.folder.hasPrefix("Sources/Protocols/") }.map(\.name))
    #expect(cores.contains("Wire"))
    for file in try Project.swiftFiles(below: "Sources/Protocols") {
      #expect(file.imports.subtracting(cores).isEmpty, "\(file.path)")
    }
  }
}
