import TURN
import Testing
import Wire

@testable import Storage

@Suite struct RendezvousConfigurationTests {
  private static func parse(_ text: String) throws(ConfigurationErrors) -> RendezvousConfiguration {
    try RendezvousConfiguration.parse(Array(text.utf8), file: "rendezvous.yaml")
  }

  private static func errors(_ text: String) -> [ConfigurationError] {
    do throws(ConfigurationErrors) {
      _ = try parse(text)
      return []
    } catch {
      return error.errors
    }
  }

  // MARK: - The shipped file

  private static let shipped = ShippedConfiguration("rendezvous.yaml")

  /// Nobody else knows the server's name.
  @Test func theShippedFileLacksTheNamesAlone() throws {
    let error = #expect(throws: ConfigurationErrors.self) { try RendezvousConfiguration.load(path: Self.shipped.path) }
    let errors = try #require(error).errors
    #expect(errors.map(\.key) == ["names"] && errors[0].file == Self.shipped.path)
    #expect(errors[0].message.hasPrefix("is missing: the host names"), "\(errors)")
  }

  @Test func theShippedFileShowsEveryKeyWithItsDefault() throws {
    let text = try Self.shipped.shownKeys()
    #expect(try Self.parse(text) == RendezvousConfiguration(names: ["meet.example.org"]))
    #expect(try Self.parse("names: [meet.example.org]") == RendezvousConfiguration(names: ["meet.example.org"]))
    let keys = [
      "names", "listen", "proxies", "tls", "certificate", "key", "children", "maximum-children", "ice-servers",
    ]
    for key in keys {
      #expect(text.contains("\(key):"), "\(key)")
    }
  }

  @Test(arguments: ["", "# nothing\n", "null", "{}", "listen: \"[::]:443\"\n", "names:", "names: []", "names: null"])
  func withoutNamesItCannotBeUsed(text: String) {
    let errors = Self.errors(text)
    #expect(errors.map(\.key) == ["names"] && errors[0].message.hasPrefix("is missing: "), "\(errors)")
  }

  @Test func missingFileIsNil() throws {
    #expect(try RendezvousConfiguration.load(path: "/nonexistent/rendezvous.yaml") == nil)
  }

  // MARK: - Values

  @Test func everyKeyIsRead() throws {
    let configuration = try Self.parse(
      """
      names: [Meet.Example.org, 192.0.2.7, "[2001:db8::7]"]
      listen: 192.0.2.7:8443
      proxies: ["127.0.0.1", "::1"]
      tls: {certificate: /etc/c.pem, key: /etc/k.pem}
      children: ["a1b2c3d4e5f60718", "0123456789012345"]
      maximum-children: 20
      ice-servers:
        - urls: stun:turn.example.org
        - urls: ["turn:turn.example.org", "turns:turn.example.org:443"]
          secret: {file: /etc/cradle/rendezvous-turn-secret}
        - {urls: "turn:other.example.org", secret: abc, lifetime: 2h}
        - {urls: "turn:third.example.org", username: u, credential: c}
      """)
    #expect(configuration.names == ["meet.example.org", "192.0.2.7", "2001:db8::7"])
    #expect(configuration.listen == ListenAddress(host: "192.0.2.7", port: 8443))
    #expect(configuration.proxies == [.v4(0x7f00_0001), .v6(0, 1)])
    #expect(configuration.tls == .init(certificate: "/etc/c.pem", key: "/etc/k.pem"))
    #expect(configuration.children == ["a1b2c3d4e5f60718", "0123456789012345"])
    #expect(configuration.maximumChildren == 20)
    #expect(
      configuration.iceServers.map(\.access) == [
        .everybody, .secret(.file(path: "/etc/cradle/rendezvous-turn-secret", prefix: "")), .secret(.text("abc")),
        .password(username: "u", .text("c")),
      ])
  }

  /// A child asks for new credentials whenever it is connected, so they need not last as long as those of a child.
  @Test func credentialsOfAServerLastADay() throws {
    let text = "names: [a]\nice-servers: [{urls: \"turn:a\", secret: b}, {urls: \"turn:a\", secret: b, lifetime: 2h}]"
    #expect(try Self.parse(text).iceServers.map(\.lifetime) == [.seconds(86_400), .seconds(7200)])
  }

  @Test func openIsForEveryChildAndAnEmptyListForNone() throws {
    #expect(try Self.parse("names: [a]").children == nil)
    #expect(try Self.parse("names: [a]\nchildren: open").children == nil)
    #expect(try Self.parse("names: [a]\nchildren: []").children == [])
  }

  /// Anybody can make a key, and with it a child.
  @Test func relaysAreLentToListedChildrenAloneUnlessAGraceIsSet() throws {
    let (child, day) = ("a1b2c3d4e5f60718", Duration.seconds(86_400))
    #expect(!(try Self.parse("names: [a]").lends(to: child, knownFor: day * 1000)))
    let listed = try Self.parse("names: [a]\nchildren: [\"\(child)\"]")
    #expect(listed.lends(to: child, knownFor: .zero) && !listed.lends(to: "0123456789012345", knownFor: day))
    let grace = try Self.parse("names: [a]\nlend-after: 7d")
    #expect(!grace.lends(to: child, knownFor: day * 7 - .seconds(1)) && grace.lends(to: child, knownFor: day * 7))
    #expect(try Self.parse("names: [a]\nlend-after: 0s").lends(to: child, knownFor: .zero))
    let idle = Self.errors("names: [a]\nchildren: []\nlend-after: 7d\n")
    #expect(
      idle.count == 1 && idle[0].description.hasPrefix("rendezvous.yaml:3:13: lend-after: is for `children: open`"))
  }

  @Test(arguments: [1, 1000, 100_000])
  func numbersOfChildrenThatAreAllowed(number: Int) throws {
    #expect(try Self.parse("names: [a]\nmaximum-children: \(number)").maximumChildren == number)
  }

  // MARK: - Errors

  @Test func errorNamesFileLineColumnKeyAndRemedy() {
    let errors = Self.errors("names: [a]\nmaximum-children: 0\n")
    #expect(
      errors.map(\.description) == [
        "rendezvous.yaml:2:19: maximum-children: must be a number from 1 to 100000, but is “0”"
      ])
  }

  @Test(arguments: [
    ("names: meet.example.org", "names", "must be a list"), ("names: {a: b}", "names", "must be a list"),
    ("names: [a, b, c, d, e, f, g, h, i]", "names", "has 9 entries; there can be 8"),
    ("names: [\"meet.example.org:8443\"]", "names", "without a port; but one is “meet.example.org:8443”"),
    ("names: [\"https://meet.example.org\"]", "names", "must be host names"),
    ("names: [meet.example.org/signal]", "names", "must be host names"),
    ("names: [user@meet.example.org]", "names", "must be host names"),
    ("names: [a, \"\"]", "names", "must be host names"), ("names: [a b]", "names", "must be host names"),
    ("names: [[a]]", "names", "but one is a list"),
    ("names: [meet.example.org.]", "names", "must be host names"),
    ("names: [\"2001:db8::7\"]", "names", "must be host names"),
  ])
  func badNamesAreRefused(text: String, key: String, message: String) {
    let errors = Self.errors("# a comment\n" + text)
    #expect(errors.count == 1 && errors[0].key == key && errors[0].message.contains(message), "\(errors)")
    #expect(errors.first?.description.hasPrefix("rendezvous.yaml:2:") == true, "\(errors)")
  }

  @Test(arguments: [
    ("naems: [a]", "naems", "unknown key; allowed here: names, listen, proxies, tls"),
    ("meetings: []", "meetings", "unknown key"), ("tls: {cert: a.pem}", "tls.cert", "unknown key"),
    ("listen: 443", "listen", "must be [::]:8443"), ("listen: null", "listen", "must be [::]:8443"),
    ("tls: {certificate: /a.pem}", "tls.key", "must be given with certificate, or neither"),
    ("tls: {key: /a.pem}", "tls.certificate", "must be given with key, or neither"),
    ("tls: {key: /a.pem, certificate: null}", "tls.certificate", "must be given with key, or neither"),
    ("tls: true", "tls", "must be keys with values"),
    ("proxies: 127.0.0.1", "proxies", "must be a list"),
    ("proxies: [localhost]", "proxies", "must be addresses, such as \"127.0.0.1\"; but one is “localhost”"),
    ("proxies: [\"127.0.0.0/8\"]", "proxies", "but one is “127.0.0.0/8”"),
    ("children: closed", "children", "must be open, or a list of ids; but is “closed”"),
    ("children: {a: b}", "children", "must be open, or a list of ids"),
    ("children: null", "children", "must be open, or a list of ids; but is empty"),
    ("children: [a1b2c3d4]", "children", "16 hexadecimal digits"),
    ("children: [A1B2C3D4E5F60718]", "children", "16 hexadecimal digits"),
    ("children: [\"a1b2c3d4e5f60718\", [x]]", "children", "but one is a list"),
    ("maximum-children: 0", "maximum-children", "from 1 to 100000"),
    ("maximum-children: 100001", "maximum-children", "from 1 to 100000"),
    ("maximum-children: many", "maximum-children", "but is “many”"),
    ("maximum-children: \"10\"", "maximum-children", "from 1 to 100000"),
    ("ice-servers: stun:a", "ice-servers", "must be a list"),
    ("ice-servers: [{}]", "ice-servers[0].urls", "is missing"),
    ("ice-servers: [{urls: [\"http://a\"]}]", "ice-servers[0].urls[0]", "but is “http://a”"),
    ("lend-after: 7", "lend-after", "0s to 365d"),
    ("ice-servers: [{urls: \"turn:a\"}]", "ice-servers[0]", "needs username and credential, or a secret"),
    ("ice-servers: [{urls: \"stun:a\"}, {urls: \"turn:a\", secret: {file: x}}]", "ice-servers[1].secret.file", ""),
    ("ice-servers: [{urls: \"turn:a\", secret: b, lifetime: 366d}]", "ice-servers[0].lifetime", "from 10s to 365d"),
    ("ice-servers: [{urls: \"turn:a\", secret: b, token: c}]", "ice-servers[0].token", "unknown key"),
    ("ice-servers: [1, 2, 3, 4, 5, 6, 7, 8, 9]", "ice-servers", "there can be 8"),
  ])
  func impossibleValueIsRefusedByKeyAndLine(text: String, key: String, message: String) {
    let errors = Self.errors("names: [a]\n\n" + text)
    #expect(errors.count == 1 && errors[0].key == key && errors[0].message.contains(message), "\(errors)")
    #expect(errors.first?.description.hasPrefix("rendezvous.yaml:3:") == true, "\(errors)")
  }

  @Test func allErrorsAreReportedInOrder() {
    let errors = Self.errors("children: all\nnames: [\"a:1\", b, \"c:2\"]\nmaximum-children: -1\nport: 443\n")
    #expect(errors.map(\.line) == [1, 2, 2, 3, 4])
    #expect(errors.map(\.key) == ["children", "names", "names", "maximum-children", "port"])
  }

  @Test func aSecretNeverStandsInAMessage() {
    let errors = Self.errors("names: [a]\nice-servers: [{urls: \"turn:a\", secret: \"topsecret\\x01\"}]\n")
    #expect(errors.map(\.key) == ["ice-servers[0].secret"])
    #expect(!errors.contains { $0.description.contains("topsecret") })
  }
}
