import Control
import Foundation
import Identity
import Signaling
import Testing
import WebPush

@testable import Storage

@Suite struct PushStoreTests {
  private let directory = TemporaryDirectory()
  private let crypto = WebPushPrimitives()

  private func stored(_ pair: String, _ endpoint: String, kinds: Set<EventKind>? = nil) throws -> StoredSubscription {
    let key = try #require(crypto.ephemeralKey(seed: Array(pair.utf8)))
    let keys = try #require(
      SubscriptionKeys(publicKey: key.publicKey, secret: [UInt8](repeating: 9, count: 16), crypto: crypto))
    return StoredSubscription(
      pair: pair,
      subscription: PushSubscription(endpoint: try PushEndpoint(endpoint, mayBePrivate: true), keys: keys), kinds: kinds
    )
  }

  private func load(_ state: StateDirectory, mayBePrivate: Bool = false) throws -> [StoredSubscription] {
    try PushStore(file: state.pushSubscriptions).load(mayBePrivate: mayBePrivate, crypto: crypto).subscriptions
  }

  @Test func subscriptionsAreKept() throws {
    let state = try StateDirectory(path: directory.path)
    #expect(try load(state).isEmpty)
    let all = [
      try stored("0123456789abcdef", "https://push.example.net/a?b=c"),
      try stored("fedcba9876543210", "https://push.example.net/d", kinds: [.cameraLost, .light]),
    ]
    try PushStore(file: state.pushSubscriptions).save(all)
    #expect(try load(state) == all)
    let mode = try FileManager.default.attributesOfItem(atPath: state.pushSubscriptions.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  /// The configuration may have changed, or the file.
  @Test func whatIsNotAllowedAnyMoreIsLeftOut() throws {
    let state = try StateDirectory(path: directory.path)
    try PushStore(file: state.pushSubscriptions).save([
      try stored("0123456789abcdef", "https://192.168.1.7/x"),
      try stored("fedcba9876543210", "https://push.example.net/d"),
    ])
    #expect(try load(state).map(\.pair) == ["fedcba9876543210"])
    #expect(try load(state, mayBePrivate: true).count == 2)
    let text = try String(contentsOfFile: state.pushSubscriptions.path, encoding: .utf8)
    #expect(text.contains("CQkJCQkJCQkJCQkJCQkJCQ"))
    let short = text.replacing("CQkJCQkJCQkJCQkJCQkJCQ", with: "CQ")
    try short.write(toFile: state.pushSubscriptions.path, atomically: true, encoding: .utf8)
    #expect(try load(state, mayBePrivate: true).isEmpty)
  }

  @Test func aDamagedFileIsMovedAside() throws {
    let state = try StateDirectory(path: directory.path)
    try state.pushSubscriptions.write(Array("{\"version\":1,".utf8))
    let (subscriptions, trouble) = try PushStore(file: state.pushSubscriptions).load(
      mayBePrivate: false, crypto: crypto)
    #expect(subscriptions.isEmpty && trouble != nil)
    #expect(directory.names().contains("push.json.unreadable") && !directory.names().contains("push.json"))
  }

  @Test func erasingLeavesNothing() throws {
    let state = try StateDirectory(path: directory.path)
    try PushStore(file: state.pushSubscriptions).save([try stored("0123456789abcdef", "https://push.example.net/a")])
    try state.pushKey.write(Array(PushKey.generate().pem.utf8))
    try state.pushed(toPair: "0123456789abcdef").write([1])
    _ = try state.erase()
    #expect(directory.names().isEmpty)
  }
}

@Suite struct PushConfigurationTests {
  private static func parse(_ text: String) throws -> ChildConfiguration.Push {
    try ChildConfiguration.parse(Array(text.utf8), file: "child.yaml").push
  }

  @Test func everyKeyIsRead() throws {
    let push = try Self.parse(
      "push: {contact: 'mailto:us@example.org', private-networks: true, ca: /etc/cradle/ca.pem}")
    #expect(push.contact == "mailto:us@example.org" && push.mayBePrivate && push.authorities == "/etc/cradle/ca.pem")
    let usual = try Self.parse("")
    #expect(usual.contact == nil && !usual.mayBePrivate && usual.authorities == nil)
  }

  /// Stood in the file of earlier versions: an update keeps nobody's camera from starting.
  @Test func theContactOfEarlierVersionsIsAsNone() throws {
    let push = try Self.parse("push: {contact: 'mailto:push@cradle.invalid'}")
    #expect(push.contact == nil && push.isContactUnreachable)
  }

  @Test(arguments: [
    "mailto:a@b.invalid", "mailto:a@nursery.local", "https://localhost/", "mailto:a@[192.168.1.1]", "mailto:a@x.LOCAL.",
    "https://10.0.0.1/x",
  ])
  func aContactThatNobodyReachesIsRefusedWithItsLine(_ contact: String) {
    let error = #expect(throws: ConfigurationErrors.self) { try Self.parse("name: Cot\npush: {contact: '\(contact)'}") }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("child.yaml:2") && text.contains("push.contact") && text.contains("on the Internet"))
  }

  @Test(arguments: ["{contact: us@example.org}", "{contact: 'mailto:'}", "{private-networks: maybe}", "{url: x}", "7"])
  func impossibleValuesAreRefused(_ value: String) {
    #expect(throws: ConfigurationErrors.self) { try Self.parse("push: \(value)") }
  }
}
