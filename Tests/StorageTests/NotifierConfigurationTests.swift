import Control
import Foundation
import Notifications
import Testing

@testable import Storage

@Suite struct NotifierConfigurationTests {
  private static func parse(_ text: String) throws -> [ChildConfiguration.Notifier] {
    try ChildConfiguration.parse(Array(text.utf8), file: "child.yaml").notifiers
  }

  private static func error(_ entry: String) -> String? {
    do throws(ConfigurationErrors) {
      _ = try ChildConfiguration.parse(Array("notify:\n  - \(entry)\n".utf8), file: "child.yaml")
      return nil
    } catch {
      return "\(error.errors[0])"
    }
  }

  @Test func nobodyIsToldUnlessConfigured() throws {
    #expect(try Self.parse("").isEmpty)
    #expect(try Self.parse("notify: []").isEmpty)
  }

  @Test func anEntryNeedsOnlyItsAddress() throws {
    let notifier = try #require(try Self.parse("notify: [{url: 'https://ntfy.example/topic'}]").first)
    #expect(notifier.name == "notifier-1" && notifier.method == .post && notifier.headers.isEmpty)
    #expect(notifier.body == .standard && notifier.contentType == "application/json")
    #expect(notifier.filter == NotificationFilter(kinds: nil, level: .warning))
  }

  @Test func everyKeyIsRead() throws {
    let notifier = try #require(
      try Self.parse(
        """
        notify:
          - name: phone
            url: {file: /etc/cradle/url}
            method: PUT
            headers: {Title: Cradle, Authorization: {file: /etc/cradle/token, prefix: "Bearer "}}
            body: '{"message": "{text}"}'
            events: [camera-lost, restart]
            ca: /etc/cradle/ca.pem
        """
      ).first)
    #expect(notifier.url == .file(path: "/etc/cradle/url", prefix: ""))
    #expect(notifier.method == .put && notifier.authorities == "/etc/cradle/ca.pem")
    #expect(
      notifier.headers == [
        .init(name: "Title", value: .text("Cradle")),
        .init(name: "Authorization", value: .file(path: "/etc/cradle/token", prefix: "Bearer ")),
      ])
    #expect(notifier.filter == NotificationFilter(kinds: [.cameraLost, .restart], level: .notice))
  }

  @Test func aPictureGoesAlongOnlyWhereItIsAskedFor() throws {
    let form = "headers: {Content-Type: application/x-www-form-urlencoded}, body: 'message={text}'"
    #expect(try Self.parse("notify: [{url: 'http://a'}]").first?.picture == nil)
    #expect(
      try Self.parse("notify: [{url: 'http://a', picture: {header: Message}}]").first?.picture
        == .body(textHeader: "Message"))
    #expect(
      try Self.parse("notify: [{url: 'http://a', \(form), picture: {field: photo}}]").first?.picture == .field("photo"))
  }

  @Test(arguments: [
    ("picture: true", "keys with values (header, field)"),
    ("picture: {}", "must be {header: NAME}"),
    (
      "picture: {header: A, field: b}, headers: {Content-Type: application/x-www-form-urlencoded}",
      "must be {header: NAME}"
    ),
    ("picture: {field: photo}", "needs a form as body"),
    ("picture: {header: Host}", "set by the program itself"),
    ("picture: {header: \"a b\"}", "the name of a header"),
    ("method: GET, picture: {header: Message}", "needs a method with a body"),
  ])
  func aPictureThatCannotGoAlongIsRefused(keys: String, reason: String) {
    let error = Self.error("{url: 'http://a', \(keys)}")
    #expect(error?.contains(reason) == true, "\(error ?? "taken")")
  }

  @Test func theExamplesInTheShippedFileAreValid() throws {
    let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let text = try String(contentsOfFile: "\(folder)/config/child.yaml", encoding: .utf8)
    let lines = text.split(separator: "\n").drop { $0 != "#   notify:" }.prefix { $0.hasPrefix("#   ") }
    let notifiers = try Self.parse(lines.map { String($0.dropFirst(4)) }.joined(separator: "\n"))
    #expect(notifiers.map(\.name) == ["ntfy", "gotify", "pushover", "home-assistant"])
  }

  @Test(arguments: [
    ("{name: a}", "notify[0].url"), ("{url: 'ftp://example.org'}", "neither https nor http"),
    ("{url: 'https://user:pass@example.org'}", "names a user"), ("{url: {path: /x}}", "unknown key"),
    ("{url: {prefix: x}}", "notify[0].url.file"), ("{url: {file: relative}}", "must be a file"),
    ("{url: 'http://a.b', method: DELETE}", "notify[0].method"),
    ("{url: 'http://a.b', level: high}", "notify[0].level"),
    ("{url: 'http://a.b', events: [camera-gone]}", "notify[0].events[0]"),
    ("{url: 'http://a.b', body: '{when}'}", "{when} is unknown"),
    ("{url: 'http://a.b', headers: {Host: x}}", "set by the program"),
    ("{url: 'http://a.b', headers: {'A b': x}}", "letters, digits"),
    ("{url: 'http://a.b', headers: {A: \"x\\r\\nB: y\"}}", "printable text"),
    ("{url: 'http://a.b', name: '../x'}", "notify[0].name"),
    ("{url: 'http://a.b', name: x}\n  - {url: 'http://a.b', name: x}", "taken"),
    ("{url: 'http://a.b', retries: 3}", "unknown key"),
  ]) func mistakesAreNamed(entry: String, words: String) throws {
    let error = try #require(Self.error(entry))
    #expect(error.contains(words), "\(error)")
  }

  @Test func errorsDoNotRepeatSecrets() throws {
    for entry in ["{url: 'https://example.org/s3cret topic'}", "{url: 'http://a.b', headers: {Token: \"s3cret\\n\"}}"] {
      let error = try #require(Self.error(entry))
      #expect(!error.contains("s3cret"))
    }
  }

  @Test func filesWithSecretsMustBePrivate() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "value-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let value = ConfiguredValue.file(path: path, prefix: "Bearer ")
    #expect(throws: ConfiguredValueError(description: "there is no file \(path)")) { try value.read() }
    func write(_ text: String, _ mode: Int) throws {
      try Data(text.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    try write(" tk_1\r\n", 0o600)
    #expect(try value.read() == "Bearer tk_1")
    for (text, mode) in [("tk_1", 0o644), ("", 0o600), ("\n", 0o600), ("a\r\nX: y", 0o600)] {
      try write(text, mode)
      let error = #expect(throws: ConfiguredValueError.self) { try value.read() }
      #expect(error?.description.contains("tk_1") == false)
    }
    try write(String(repeating: "x", count: 5000), 0o600)
    #expect(throws: ConfiguredValueError.self) { try value.read() }
  }
}

@Suite struct NotificationStoreTests {
  private static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  @Test func keepsWhatIsUndelivered() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = NotificationStore(file: AtomicFile(path: folder.path + "/phone.json"))
    #expect(try store.load().queue.isEmpty)
    var one = Notification(kind: "camera-lost", level: .alarm, time: 1.5, id: "cot", detail: "gone")
    one.attempts = 3
    try store.save([one])
    #expect(try store.load().queue == [one])
  }

  @Test(arguments: ["{", #"{"version":2,"queue":[]}"#, #"{"version":1,"queue":[{"kind":1}]}"#])
  func damagedFileIsMovedAside(content: String) throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path + "/phone.json"
    try Data(content.utf8).write(to: URL(filePath: path))
    let (queue, trouble) = try NotificationStore(file: AtomicFile(path: path)).load()
    #expect(queue.isEmpty && trouble != nil)
    #expect(try String(contentsOfFile: path + ".unreadable", encoding: .utf8) == content)
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
