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

  /// Nothing loads in a waterfall: the shell names every module.
  @Test func everyModuleIsPreloaded() throws {
    let files = try Self.files()
    let shell = String(decoding: try #require(files["index.html"]), as: UTF8.self)
    let alone: Set = ["service-worker.js"]
    for name in files.keys.sorted() where name.hasSuffix(".js") && !alone.contains(name) {
      // One table of texts is loaded, by language.
      guard name.firstMatch(of: /^texts\/..\.js$/) == nil else { continue }
      let isNamed = shell.contains("\"./page/0/\(name)\"")
      #expect(isNamed, "index.html does not name \(name)")
    }
  }

  /// What a browser loads, at most: compressed, all files together, all four languages.
  @Test func thePageIsSmall() {
    let bytes = WebPages.names.reduce(0) { $0 + (WebPages.compressed($1) ?? WebPages.content($1) ?? []).count }
    print("The page is \(WebPages.names.count) files, \(bytes) bytes compressed.")
    #expect(bytes > 10_000 && bytes < 156_000, "\(bytes) bytes")
  }

  /// The policy of the page forbids it, and it would need translating.
  @Test func noMarkupIsMadeFromText() throws {
    for (name, data) in try Self.files() where name.hasSuffix(".js") {
      let text = String(decoding: data, as: UTF8.self)
      #expect(!text.contains(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/), "\(name)")
    }
  }
}
