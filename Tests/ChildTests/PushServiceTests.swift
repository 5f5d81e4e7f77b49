import Control
import Foundation
import Identity
import Logging
import NIOCore
import NIOPosix
import Notifications
import Pairing
import Server
import Storage
import Testing
import WebPush
import Wire

@testable import Child

/// Who gets alarms pushed, and for how long. Nothing listens at the subscriptions' address.
final class PushServiceTests {
  private let house: PairingHouse
  private let directory: StateDirectory

  init() throws {
    house = try PairingHouse()
    directory = try StateDirectory(path: house.folder.path)
  }

  deinit {
    try? house.shutDown()
    house.remove()
  }

  private static let request = PushSubscribe(
    endpoint: "https://127.0.0.1:9/x",
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg")

  private func start(mayBePrivate: Bool = true, contact: String? = "mailto:us@example.org") throws -> PushService {
    let directory = directory
    return try house.on { house in
      var logger = Logger(label: "test")
      logger.logLevel = .critical
      var settings = ChildConfiguration.Push()
      settings.mayBePrivate = mayBePrivate
      settings.contact = contact
      let pushes = PushService(
        settings, child: "Nursery", pairing: house.pairing, house: HouseAddresses(), in: directory,
        loop: try #require(MultiThreadedEventLoopGroup.currentEventLoop), logger: logger)
      pushes.start()
      return pushes
    }
  }

  private func subscribe(_ pushes: PushService, _ pair: String?, _ request: PushSubscribe = request) throws {
    _ = try house.wait { _ in try pushes.subscribe(request, for: pair) }
  }

  private func code(_ body: () throws -> Void) -> ControlError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ControlError)?.code
    }
  }

  private func stored() throws -> [String] {
    try PushStore(file: directory.pushSubscriptions).load(mayBePrivate: true, crypto: WebPushPrimitives())
      .subscriptions.map(\.pair)
  }

  @Test func aSubscriptionEndsWithItsPair() async throws {
    let pushes = try start()
    let phone = try house.pairFirst()
    let guest = try house.pair(.link(house.invite([.view]).secret))
    try subscribe(pushes, phone.id)
    try subscribe(pushes, guest.id)
    #expect(pushes.statuses.count == 2)
    #expect(try stored() == [phone.id, guest.id].sorted())
    try house.pass(3700)
    try house.on { _ in pushes.beat() }
    #expect(pushes.statuses.map(\.name) == ["push to \(phone.name)"])
    try house.on { try $0.pairing.revoke(id: phone.id) }
    try house.on { _ in pushes.beat() }
    #expect(try pushes.statuses.isEmpty && stored().isEmpty)
    await pushes.stop()
  }

  @Test func onlyWhatWasAskedForIsPushedAndItSurvivesARestart() async throws {
    let phone = try house.pairFirst()
    var pushes = try start()
    var request = Self.request
    request.kinds = [.light]
    try subscribe(pushes, phone.id, request)
    for (number, kind) in [EventKind.cameraLost, .light, .lullaby].enumerated() {
      try house.on { [pushes] _ in
        pushes.note(EventDocument(sequence: UInt64(number), kind: kind.rawValue, time: Double(number)))
      }
    }
    await pushes.stop()
    let file = try #require(try directory.pushed(toPair: phone.id).read())
    let text = String(decoding: file, as: UTF8.self)
    #expect(text.contains("light") && !text.contains("camera-lost") && !text.contains("lullaby"))
    pushes = try start()
    #expect(pushes.statuses.count == 1)
    // Under a configuration that no longer allows the address it is not used.
    await pushes.stop()
    pushes = try start(mayBePrivate: false)
    #expect(pushes.statuses.isEmpty)
    await pushes.stop()
  }

  @Test func strangersAndImpossibleSubscriptionsAreRefused() async throws {
    let phone = try house.pairFirst()
    let pushes = try start(mayBePrivate: false)
    #expect(code { try subscribe(pushes, nil) } == .unavailable)
    #expect(code { _ = try house.wait { _ in try pushes.describe(to: nil) } } == .unavailable)
    #expect(code { try subscribe(pushes, phone.id) } == .badParameters)
    var request = Self.request
    request.endpoint = "https://push.example.net/x"
    request.auth = "BTBZMqHH6r4Tts7J"
    #expect(code { try subscribe(pushes, phone.id, request) } == .badParameters)
    request.auth = Self.request.auth
    request.p256dh = String(request.p256dh.dropLast()) + "0"
    #expect(code { try subscribe(pushes, phone.id, request) } == .badParameters)
    #expect(code { _ = try house.on { _ in try pushes.test(phone.id) } } == .unavailable)
    #expect(try stored().isEmpty)
    await pushes.stop()
  }

  @Test func thereAreOnlySoMany() async throws {
    let pushes = try start()
    for number in 0..<PushService.maximumSubscriptions { try subscribe(pushes, "pair-\(number)") }
    #expect(code { try subscribe(pushes, "one-more") } == .busy)
    // Whoever has one may change it.
    var other = Self.request
    other.endpoint += "y"
    try subscribe(pushes, "pair-0", other)
    let told = try house.wait { _ in try pushes.describe(to: "pair-0") }
    #expect(told.endpoint == other.endpoint)
    _ = try house.on { _ in pushes.unsubscribe("pair-1") }
    try subscribe(pushes, "one-more")
    #expect(try stored().count == PushService.maximumSubscriptions)
    await pushes.stop()
  }

  @Test func theKeyStaysTheSame() async throws {
    let phone = try house.pairFirst()
    var pushes = try start()
    #expect(try directory.pushKey.read() == nil)
    let key = try house.wait { [pushes] _ in try pushes.describe(to: phone.id) }
    #expect(key.endpoint == nil && Base64URL.decode(key.publicKey)?.count == 65)
    await pushes.stop()
    pushes = try start()
    let again = try house.wait { [pushes] _ in try pushes.describe(to: phone.id) }
    #expect(again == key)
    let mode = try FileManager.default.attributesOfItem(atPath: directory.pushKey.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    await pushes.stop()
  }

  @Test func testsComeOneAfterTheOther() async throws {
    let phone = try house.pairFirst()
    let pushes = try start()
    try subscribe(pushes, phone.id)
    let test = try house.on { _ in try pushes.test(phone.id) }
    #expect(code { _ = try house.on { _ in try pushes.test(phone.id) } } == .busy)
    // Leaving meanwhile does not keep whoever asked waiting.
    _ = try house.on { _ in pushes.unsubscribe(phone.id) }
    let answer = try await test.get()
    #expect(!answer.delivered && !answer.detail.isEmpty)
    await pushes.stop()
  }

  /// Apple's push service refuses a sender who cannot be found, so none is made up.
  @Test func whereTheChildHasNoContactABrowserGivesOne() async throws {
    let phone = try house.pairFirst()
    let pushes = try start(contact: nil)
    #expect(try house.wait { _ in try pushes.describe(to: phone.id) }.needsContact == true)
    var request = Self.request
    for contact in [nil, "us@example.org", "mailto:push@cradle.invalid", "https://localhost/"] {
      request.contact = contact
      let refusal = code { try subscribe(pushes, phone.id, request) }
      #expect(refusal == .badParameters)
    }
    request.contact = "mailto:anna@example.org"
    try subscribe(pushes, phone.id, request)
    let text = String(decoding: try #require(try directory.pushSubscriptions.read()), as: UTF8.self)
    #expect(text.contains("mailto:anna@example.org"))
    await pushes.stop()
    let named = try start()
    #expect(try house.wait { _ in try named.describe(to: phone.id) }.needsContact == nil)
    await named.stop()
  }

  /// Which maker's service refuses and why; of an address that nobody knows not more than whether it took the message.
  @Test(arguments: [
    ("https://web.push.apple.com/x", "Apple’s push service answered 403 BadJwtToken", "Apple’s push service: no route"),
    (
      "https://fcm.googleapis.com/x", "Google’s push service answered 403 BadJwtToken",
      "Google’s push service: no route"
    ),
    ("https://nas.example.org/x", "the push service refused it", "the push service could not be reached"),
    ("https://push.apple.com.example.org/x", "the push service refused it", "the push service could not be reached"),
  ])
  func whoRefusedAndWhyIsSaid(endpoint: String, refused: String, failed: String) throws {
    let crypto = WebPushPrimitives()
    let key = try #require(crypto.ephemeralKey(seed: [UInt8](repeating: 7, count: 48)))
    let keys = try #require(
      SubscriptionKeys(publicKey: key.publicKey, secret: [UInt8](repeating: 9, count: 16), crypto: crypto))
    let stored = StoredSubscription(
      pair: "a", subscription: PushSubscription(endpoint: try PushEndpoint(endpoint, mayBePrivate: false), keys: keys))
    let destination = BrowserDestination(
      stored, name: "x",
      sender: .init(child: "Nursery", settings: .init(), key: PushKey.generate(), house: HouseAddresses()))
    let refusal = DeliveryOutcome.status(403, retryAfter: nil, reason: "BadJwtToken")
    #expect(destination.words(for: refusal) == refused)
    #expect(destination.words(for: DeliveryOutcome.failed("no route")) == failed)
  }
}
