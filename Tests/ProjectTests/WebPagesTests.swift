import Foundation
import Testing
import Web

/// The phone page as it is compiled in.
@Suite struct WebPagesTests {
  private static let folder = Project.root.appending(path: "Sources/Web/Pages")

  private static func files() throws -> [String: Data] {
    let walker = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    var files: [String: Data] = [:]
    for case let url as URL in walker ?? .init() {
      guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
      files[String(url.path.dropFirst(folder.path.count + 1))] = try Data(contentsOf: url)
    }
    try #require(!files.isEmpty)
    return files
  }

  @Test func everyFileIsCompiledInUnchanged() throws {
    let files = try Self.files()
    #expect(WebPages.names == files.keys.sorted(), "web_pages.def lists other files")
    for (name, data) in files where !WebPages.shell.contains(name) {
      let isSame = WebPages.content(name) == Array(data)
      #expect(isSame, "\(name) is older in the program: touch web_pages.c and build again")
    }
    for name in WebPages.shell {
      let text = String(decoding: try #require(files[name]), as: UTF8.self)
      let served = String(decoding: try #require(WebPages.content(name)), as: UTF8.self)
      let isSame =
        served == text.replacing("/*languages*/", with: WebPages.languages).replacing("/page/0/", with: WebPages.folder)
      #expect(isSame, "\(name) is older in the program")
    }
  }

  /// A language is its table: the page lists what is in the folder, with the table's own line.
  @Test func theLanguagesAreTheTables() throws {
    struct Own: Decodable, Equatable {
      var table: String
      var name: String
      var loading: [String]
    }
    let languages = try JSONDecoder().decode([String: Own].self, from: Data(WebPages.languages.utf8))
    let tables = try Self.files().keys.filter { $0.hasPrefix("texts/") && $0 != "texts/texts.js" }
    #expect(Set(languages.values.map(\.table)) == Set(tables.map { "./page/0/\($0)" }))
    #expect(languages.count >= 4 && languages["zh"]?.name == "中文")
    #expect(languages.values.allSatisfy { $0.loading.count == 4 && !$0.loading.contains("") })
  }

  /// A module with all that it imports, by the lines that do.
  private static func closure(of entry: String, in files: [String: Data]) throws -> Set<String> {
    var found: Set<String> = []
    var waiting = [entry]
    while let name = waiting.popLast() {
      guard found.insert(name).inserted else { continue }
      let text = String(decoding: try #require(files[name], "there is no \(name)"), as: UTF8.self)
      for match in text.matches(of: #/(?:from|\nimport) "(\.[^"]+)"/#) {
        let url = URL(filePath: "/\(name)").deletingLastPathComponent().appending(path: String(match.1)).standardized
        waiting.append(String(url.path.dropFirst()))
      }
    }
    return found
  }

  /// What is fetched only after the first picture, or when it is opened: screens/loader.js.
  private static func later(in files: [String: Data]) throws -> Set<String> {
    try closure(of: "screens/later.js", in: files).subtracting(closure(of: "app.js", in: files))
  }

  /// What only several rooms need is in this folder, and is loaded with the second one.
  private static func isOfSeveralRooms(_ name: String) -> Bool { name.hasPrefix("rooms/") }

  /// Nothing loads in a waterfall: the shell names every module, and has those fetched at once that the first picture needs.
  @Test func everyModuleIsPreloaded() throws {
    let files = try Self.files()
    let shell = String(decoding: try #require(files["index.html"]), as: UTF8.self)
    let preloaded = Set(shell.matches(of: #/rel="modulepreload" href="\./page/0/([^"]+)"/#).map { String($0.1) })
    let first = try Self.closure(of: "app.js", in: files)
    #expect(preloaded == first.subtracting(["app.js"]))
    let later = try Self.later(in: files)
    #expect(!later.isEmpty)
    // The service worker keeps what the shell names.
    for name in later { #expect(shell.contains("\"./page/0/\(name)\""), "index.html does not name \(name)") }
    for name in files.keys where Self.isOfSeveralRooms(name) {
      #expect(shell.contains(" ./page/0/\(name) "), "index.html does not name \(name)")
    }
    let tables = files.keys.filter { $0.wholeMatch(of: #/texts\/..\.js/#) != nil }
    let modules = files.keys.filter { $0.hasSuffix(".js") && !Self.isOfSeveralRooms($0) }
    let named = first.union(later).union(tables).union(["service-worker.js"])
    #expect(named == Set(modules), "nothing imports \(Set(modules).subtracting(named))")
  }

  /// What a browser loads, at most: compressed, all files together, all four languages. What comes after the first picture,
  /// and with a second room, counts for itself.
  @Test func thePageIsSmall() throws {
    let later = try Self.later(in: Self.files())
    let size = { (names: [String]) in
      names.reduce(0) { $0 + (WebPages.compressed($1) ?? WebPages.content($1) ?? []).count }
    }
    let rooms = WebPages.names.filter(Self.isOfSeveralRooms)
    let first = WebPages.names.filter { !later.contains($0) && !Self.isOfSeveralRooms($0) }
    let (bytes, laterBytes, roomsBytes) = (size(first), size(Array(later)), size(rooms))
    print(
      "The page is \(first.count) files, \(bytes) bytes compressed; later \(later.count), \(laterBytes) bytes; several rooms \(roomsBytes) bytes."
    )
    #expect(bytes > 10_000 && bytes < 156_000, "\(bytes) bytes")
    #expect(laterBytes > 1000 && laterBytes < 40_000, "\(laterBytes) bytes")
    #expect(roomsBytes > 1000 && roomsBytes < 12_000, "\(roomsBytes) bytes")
  }

  /// The policy of the page forbids it, and it would need translating.
  @Test func noMarkupIsMadeFromText() throws {
    for (name, data) in try Self.files() where name.hasSuffix(".js") {
      let text = String(decoding: data, as: UTF8.self)
      #expect(!text.contains(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/), "\(name)")
    }
  }
}
