import Control
import Identity
import JSON
import Notifications
import Testing
import WebPush
import Wire

@Suite struct PushRequestTests {
  private let crypto = WebPushPrimitives()
  private let key = PushKey.generate()

  private func subscription(seed: UInt8 = 1) throws -> PushSubscription {
    let browser = try #require(crypto.ephemeralKey(seed: [seed]))
    let keys = SubscriptionKeys(
      publicKey: browser.publicKey, secret: [UInt8](repeating: seed, count: 16), crypto: crypto)
    return PushSubscription(
      endpoint: try PushEndpoint("https://push.example.net/send/abc", mayBePrivate: false), keys: try #require(keys))
  }

  private func request(_ notification: Notification, seed: UInt8 = 1) throws -> PushRequest {
    var random = SystemRandomNumberGenerator()
    return try #require(
      PushRequest(
        notification, child: "Nursery", to: try subscription(seed: seed), contact: "mailto:a@b", unixTime: 0,
        random: PushRandom(using: &random), signer: key, crypto: crypto))
  }

  private func header(_ name: String, _ request: PushRequest) -> String? {
    request.headers.first { $0.name == name }?.value
  }

  private static func lost(_ id: String, detail: String? = nil) -> Notification {
    Notification(kind: "camera-lost", level: .alarm, time: 7, id: id, detail: detail)
  }

  @Test func itIsUrgentAndShortLived() throws {
    let request = try request(Self.lost("cot"))
    #expect(header("TTL", request) == "3600" && header("Urgency", request) == "high")
    #expect(header("Content-Encoding", request) == "aes128gcm")
    #expect(header("Authorization", request)?.hasPrefix("vapid t=") == true)
  }

  @Test func aNewerOneOfItsKindTakesItsPlace() throws {
    func topic(_ notification: Notification, seed: UInt8 = 1) throws -> String {
      try #require(header("Topic", try request(notification, seed: seed)))
    }
    let topic1 = try topic(Self.lost("cot"))
    #expect(topic1.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil)
    #expect(try topic(Self.lost("cot", detail: "other")) == topic1)
    #expect(try topic(Self.lost("door")) != topic1)
    #expect(try topic(Notification(kind: "camera-back", level: .notice, time: 7, id: "cot")) != topic1)
    // Two browsers have nothing in common that a push service could compare.
    #expect(try topic(Self.lost("cot"), seed: 2) != topic1)
  }

  @Test func itsSizeDoesNotTellWhatItSays() throws {
    let short = try request(Notification(kind: "stuck", level: .alarm, time: 1)).body
    let long = try request(Self.lost("cot", detail: String(repeating: "x", count: 150))).body
    #expect(short.count == long.count && short != long)
    #expect(try request(Self.lost("cot")).body != request(Self.lost("cot")).body)
  }

  @Test func aMessageIsJSONForTheServiceWorker() throws {
    let message = PushMessage(Self.lost("cot", detail: "no \"device\""), child: "Nursery")
    let json = try JSON(message.content, maximumBytes: 4096)
    #expect(
      json.object == [
        "kind": .string("camera-lost"), "level": .string("alarm"), "time": .number(7), "child": .string("Nursery"),
        "id": .string("cot"), "detail": .string("no \"device\""),
        "text": .string("The camera cot is missing: no \"device\""),
      ])
  }

  /// What lies in the queue's file can be anything.
  @Test(arguments: ["x", "\u{1}", "\u{7f}", "\\", "\u{1f600}", "\""]) func theLongestMessageFits(_ letter: String)
    throws
  {
    let text = String(repeating: letter, count: 5000)
    var notification = Notification(kind: text, level: .alarm, time: .nan, name: text, id: text, detail: text)
    notification.level = text
    let message = PushMessage(notification, child: text)
    #expect(message.content.count + message.padding <= MessageEncryption.maximumContentBytes && message.padding >= 0)
    #expect(try request(notification).body.count <= MessageEncryption.maximumBodyBytes)
  }

  @Test func alarmsArePushedUnlessABrowserAsksForMore() {
    func admits(_ filter: NotificationFilter, _ kind: EventKind) -> Bool {
      filter.admits(EventDocument(sequence: 1, kind: kind.rawValue, time: 0))
    }
    let usual = EventKind.allCases.filter { admits(.pushed(nil), $0) }
    #expect(Set(usual) == [.cameraLost, .microphoneLost, .stuck, .unheard])
    #expect(EventKind.allCases.filter { admits(.pushed([.light, .cameraLost]), $0) } == [.light, .cameraLost])
  }
}
