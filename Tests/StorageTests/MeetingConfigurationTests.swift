import Signaling
import Testing

@testable import Storage

@Suite struct MeetingConfigurationTests {
  private typealias Meeting = ChildConfiguration.Meeting

  private static func parse(_ entry: String) throws -> ChildConfiguration.Meeting? {
    try ChildConfiguration.parse(Array("away:\n  meetings:\n    - \(entry)\n".utf8), file: "child.yaml").away.meetings
      .first
  }

  private static func errors(_ entry: String) -> [String] {
    do throws(ConfigurationErrors) {
      _ = try ChildConfiguration.parse(Array("away:\n  meetings:\n    - \(entry)\n".utf8), file: "child.yaml")
      return []
    } catch {
      return error.errors.map { "\($0.key): \($0.message)" }
    }
  }

  @Test func aBrokerNeedsOnlyItsAddress() throws {
    let meeting = try Self.parse("mqtt: mqtts://broker.example.org")
    #expect(
      meeting == Meeting(kind: .mqtt(url: "mqtts://broker.example.org", topic: "cradle", authorities: nil)))
  }

  @Test func everyKeyOfABrokerIsRead() throws {
    let meeting = try Self.parse(
      """
      mqtt: mqtt://broker.example.org:1884
            username: child
            password: {file: /etc/cradle/broker-password}
            topic: home/cradle
            ca: /etc/cradle/ca.pem
            parents: {username: parents, password: hush}
      """)
    #expect(
      meeting
        == Meeting(
          kind: .mqtt(url: "mqtt://broker.example.org:1884", topic: "home/cradle", authorities: "/etc/cradle/ca.pem"),
          access: Meeting.Access(username: "child", password: .file(path: "/etc/cradle/broker-password", prefix: "")),
          parents: Meeting.Access(username: "parents", password: .text("hush"))))
  }

  @Test func parentsMayHaveTheChildsAccount() throws {
    let meeting = try Self.parse("{mqtt: mqtts://broker.example.org, username: a, password: b, parents: null}")
    #expect(meeting?.access == Meeting.Access(username: "a", password: .text("b")) && meeting?.parents == nil)
  }

  @Test func anAccountAtAnXMPPServerIsRead() throws {
    let meeting = try Self.parse(
      """
      xmpp: Cradle@xmpp.example.org
            password: hush
            host: 192.0.2.1
            port: 5223
            ca: /etc/cradle/ca.pem
            parents: {username: parents@xmpp.example.org, password: {file: /etc/cradle/xmpp-password}}
      """)
    let account = try #require(AccountAddress("cradle@xmpp.example.org"))
    #expect(
      meeting
        == Meeting(
          kind: .xmpp(account: account, host: "192.0.2.1", port: 5223, authorities: "/etc/cradle/ca.pem"),
          access: Meeting.Access(username: "cradle@xmpp.example.org", password: .text("hush")),
          parents: Meeting.Access(
            username: "parents@xmpp.example.org", password: .file(path: "/etc/cradle/xmpp-password", prefix: ""))))
    #expect(try Self.parse("{xmpp: a@b.example, password: hush}")?.parents == nil)
  }

  @Test func aRendezvousIsRead() throws {
    let meeting = try Self.parse(
      "{rendezvous: wss://meet.example.org, key-sha256: \(String(repeating: "0a", count: 32))}")
    let key = [UInt8](repeating: 10, count: 32)
    #expect(meeting == Meeting(kind: .rendezvous(url: "wss://meet.example.org", keySHA256: key)))
  }

  @Test(arguments: [
    ("mqtt: https://broker", "mqtt: must be an mqtts:// or mqtt:// URL"),
    ("mqtt: mqtt://broker/path", "mqtt: must be an mqtts:// or mqtt:// URL"), ("mqtt: ", "mqtt: must be an mqtts://"),
    ("{mqtt: mqtt://broker, topic: a/+}", "topic: must be 1 to 128 bytes without spaces, + and #"),
    ("{mqtt: mqtt://broker, topic: $SYS}", "topic: must be"),
    ("{mqtt: mqtt://broker, password: hush}", "username: is missing: a password needs one"),
    ("{mqtt: mqtt://broker, username: \"\"}", "username: must be 1 to 512 bytes"),
    ("{mqtt: mqtt://broker, username: a, password: \"\"}", "password: must be 1 to 4096 bytes"),
    ("{mqtt: mqtt://broker, username: a, password: {file: word}}", "password.file: must be a file"),
    ("{mqtt: mqtt://broker, parents: {password: hush}}", "parents.username: is missing: a password needs one"),
    ("{mqtt: mqtt://broker, parents: {}}", "parents.username: is missing"),
    ("{mqtt: mqtt://broker, parents: all}", "parents: must be keys with values (username, password)"),
    ("{mqtt: mqtt://broker, parents: {username: a, topic: b}}", "parents.topic: unknown key"),
    ("{mqtt: mqtt://broker, key-sha256: 00}", "key-sha256: unknown key; allowed here: mqtt, username"),
    ("{mqtt: mqtt://broker, rendezvous: wss://meet}", "mqtt: unknown key; allowed here: rendezvous, key-sha256"),
    ("{rendezvous: wss://meet, topic: a}", "topic: unknown key; allowed here: rendezvous, key-sha256"),
    ("{rendezvous: mqtt://meet}", "rendezvous: must be a wss:// URL"),
    ("{rendezvous: }", "rendezvous: must be a wss://"),
    ("{xmpp: a, password: hush}", "xmpp: must be an account such as"),
    ("{xmpp: a@b/c, password: hush}", "xmpp: must be an account such as"),
    ("{xmpp: a@b.example}", "password: is missing"),
    ("{xmpp: a@b.example, password: hush, port: 5222}", "host: is missing: a port needs one"),
    ("{xmpp: a@b.example, password: hush, host: 127.0.0.1, port: 0}", "port: must be a number from 1 to 65535"),
    ("{xmpp: a@b.example, password: hush, host: a/b}", "host: must be a host name"),
    ("{xmpp: a@b.example, password: hush, parents: {password: hush}}", "parents.username: is missing"),
    ("{xmpp: a@b.example, password: hush, parents: {username: c@b.example}}", "parents.password: is missing"),
    ("{xmpp: a@b.example, password: hush, username: a}", "username: unknown key; allowed here: xmpp, password"),
    ("mqtt", ": must be keys with values (rendezvous, mqtt, xmpp)"),
  ])
  func badValuesNameTheirKey(entry: String, message: String) {
    let errors = Self.errors(entry)
    let key = message.hasPrefix(":") ? "away.meetings[0]" : "away.meetings[0]."
    #expect(errors.count == 1 && errors[0].hasPrefix(key + message), "\(errors)")
    #expect(!errors.contains { $0.contains("hush") })
  }

  @Test func anEntryHasAKind() {
    #expect(
      Self.errors("{username: a}") == [
        "away.meetings[0].username: unknown key; allowed here: rendezvous, mqtt, xmpp",
        "away.meetings[0]: must have one of rendezvous, mqtt, xmpp",
      ])
  }
}
