internal import Control
internal import Frames
internal import Identity
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Notifications
internal import Pairing
internal import Server
internal import Signaling
internal import Storage
internal import Synchronization
internal import WebPush
internal import Wire

/// The browsers that want alarms to be pushed: their subscriptions, the key for push services, a notifier for each. All
/// share one thread, which begins with the first.
///
/// `@unchecked Sendable` because it is confined to the event loop, apart from `statuses`.
final class PushService: @unchecked Sendable {
  /// A household, its guests and their devices.
  static let maximumSubscriptions = 32
  /// Between two messages that somebody asks for to try it.
  private static let testInterval: Duration = .seconds(3)

  private final class Browser {
    let destination: BrowserDestination
    let notifier: Notifier
    var isTested = false
    var testedAt: Instant?

    init(_ destination: BrowserDestination, _ notifier: Notifier) {
      self.destination = destination
      self.notifier = notifier
    }
  }

  private let child: String
  private let settings: ChildConfiguration.Push
  private let pairing: PairingService
  private let house: HouseAddresses
  private let directory: StateDirectory
  private let store: PushStore
  private let loop: any EventLoop
  private let logger: Logger
  private var group: MultiThreadedEventLoopGroup?
  private var key: PushKey?
  /// By pair id.
  private var browsers: [String: Browser] = [:]
  /// False when the file could not be read: it is not overwritten.
  private var isStorable = true
  private let notifiers = Mutex<[Notifier]>([])

  init(
    _ settings: ChildConfiguration.Push, child: String, pairing: PairingService, house: HouseAddresses,
    in directory: StateDirectory, loop: any EventLoop, logger: Logger
  ) {
    self.house = house
    self.settings = settings
    self.child = child
    self.pairing = pairing
    self.directory = directory
    store = PushStore(file: directory.pushSubscriptions)
    self.loop = loop
    self.logger = logger
  }

  /// Goes on with what an earlier run has left.
  func start() {
    if settings.isContactUnreachable {
      logger.warning(
        "push.contact cannot exist on the Internet; phones are asked for one. Apple's push service refuses it")
    }
    do throws(FileError) {
      let (subscriptions, trouble) = try store.load(mayBePrivate: settings.mayBePrivate, crypto: WebPushPrimitives())
      if let trouble {
        logger.warning("push subscriptions were unreadable", metadata: ["reason": "\(trouble)"])
      }
      guard !subscriptions.isEmpty, let key = try? loadKey() else { return }
      for stored in subscriptions.prefix(Self.maximumSubscriptions) where isAllowed(stored.pair) { add(stored, key) }
    } catch {
      isStorable = false
      logger.warning("push subscriptions cannot be read, nothing is pushed", metadata: ["reason": "\(error)"])
    }
  }

  // MARK: Events

  func note(_ event: EventDocument) {
    for (pair, browser) in browsers where isAllowed(pair) { browser.notifier.note(event) }
  }

  /// Ends the subscriptions of those who are not paired any more, or whose time is over for good. Call it each second.
  func beat() {
    let gone = browsers.keys.filter { !isAllowed($0) && !pairing.mayReturn(id: $0) }
    for pair in gone { remove(pair) }
    if !gone.isEmpty { save() }
  }

  private func isAllowed(_ pair: String) -> Bool {
    guard case .good(let permissions, _) = pairing.standing(ofPair: pair) else { return false }
    return PushTest.requirement.isMet(by: permissions)
  }

  /// From any thread.
  var statuses: [StatusReport.Notifier] { notifiers.withLock { $0 }.map(\.status) }

  /// What is wrong with the contact that push services get; nil if nothing is.
  var contactTrouble: String? {
    PushContactCheck.words(settings, missing: browsers.values.count { $0.destination.stored.contact == nil })
  }

  // MARK: Commands

  /// `push.key`. The key is made when the first browser asks for it.
  func describe(to pair: String?) throws(ControlError) -> EventLoopFuture<PushKeyDocument> {
    let pair = try paired(pair)
    let key = try usableKey()
    let document = PushKeyDocument(
      publicKey: Base64URL.encode(key.publicKey),
      endpoint: browsers[pair]?.destination.stored.subscription.endpoint.url.description,
      needsContact: settings.contact == nil ? true : nil, problem: browsers[pair]?.notifier.status.lastError)
    // A browser that subscribed to a key which was not kept would get nothing after a restart.
    let bound = NIOLoopBound(self, eventLoop: loop)
    return directory.pushKey.written(on: loop).map { document }.flatMapErrorThrowing { _ in
      bound.value.key = nil
      throw Self.noKey
    }
  }

  /// `push.subscribe`. Succeeds once it is on disk.
  func subscribe(_ request: PushSubscribe, for pair: String?) throws(ControlError) -> EventLoopFuture<Done> {
    let pair = try paired(pair)
    let stored = StoredSubscription(
      pair: pair, subscription: try subscription(request), kinds: request.kinds, contact: try contact(request))
    let key = try usableKey()
    let before = browsers[pair]
    guard before?.destination.stored != stored else { return loop.makeSucceededFuture(Done()) }
    guard before != nil || browsers.count < Self.maximumSubscriptions else {
      throw ControlError(.busy, "Browser limit reached; turn pushed alarms off in another one.")
    }
    let others = browsers.values.map(\.destination.stored).filter { $0.pair != pair }
    guard isStorable else {
      throw ControlError(.unavailable, "The camera cannot read its push subscriptions; its log has the reason.")
    }
    do throws(StoreError) {
      try store.save((others + [stored]).sorted { $0.pair < $1.pair })
    } catch {
      throw ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
    }
    let earlier = before?.destination.stored
    if let before { before.destination.stored = stored } else { add(stored, key) }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return store.file.written(on: loop).map {
      let service = bound.value
      service.logger.info("alarms are pushed to a browser", metadata: ["name": "\(service.name(of: pair))"])
      return Done()
    }.flatMapErrorThrowing { error in
      bound.value.undo(stored, earlier: earlier)
      throw ControlError(.internal, "The camera could not store it, so nothing has changed: \(error).")
    }
  }

  private func undo(_ stored: StoredSubscription, earlier: StoredSubscription?) {
    guard let browser = browsers[stored.pair], browser.destination.stored == stored else { return }
    if let earlier { browser.destination.stored = earlier } else { remove(stored.pair) }
  }

  /// `push.unsubscribe`. Fails with `ControlError` when a restart would bring it back.
  func unsubscribe(_ pair: String?) -> EventLoopFuture<Done> {
    guard let pair, browsers[pair] != nil else { return loop.makeSucceededFuture(Done()) }
    remove(pair)
    save()
    return store.file.written(on: loop).map { Done() }.flatMapErrorThrowing { error in
      throw ControlError(notKept: error, "No alarm is pushed there now.")
    }
  }

  /// `push.test`
  func test(_ pair: String?) throws(ControlError) -> EventLoopFuture<PushTestDocument> {
    guard let browser = browsers[try paired(pair)] else {
      throw ControlError(.unavailable, "Alarms are not pushed to this browser.")
    }
    let now = MonotonicClock.now
    guard !browser.isTested, browser.testedAt.map({ now - $0 >= Self.testInterval }) ?? true else {
      throw ControlError(.busy, "A test message is on its way; wait a few seconds.")
    }
    browser.isTested = true
    browser.testedAt = now
    let bound = NIOLoopBound(browser, eventLoop: loop)
    return browser.notifier.test().hop(to: loop).map { row in
      PushTestDocument(delivered: row.delivered, detail: row.detail)
    }.always { _ in bound.value.isTested = false }
  }

  private func paired(_ pair: String?) throws(ControlError) -> String {
    guard let pair else {
      throw ControlError(.unavailable, "Alarms are pushed to paired browsers; this session was opened with a token.")
    }
    return pair
  }

  /// The child's own goes first.
  private func contact(_ request: PushSubscribe) throws(ControlError) -> String? {
    guard settings.contact == nil else { return nil }
    guard let contact = request.contact else {
      throw .badParameter("contact", "is missing: push services want an e-mail address of yours, as mailto:NAME@HOST")
    }
    guard VAPID.isReachable(contact) else {
      throw .badParameter("contact", "is no address on the Internet: give one as mailto:NAME@HOST, or https://")
    }
    return contact
  }

  private func subscription(_ request: PushSubscribe) throws(ControlError) -> PushSubscription {
    let endpoint: PushEndpoint
    do throws(PushEndpoint.Refusal) {
      endpoint = try PushEndpoint(request.endpoint, mayBePrivate: settings.mayBePrivate)
    } catch {
      throw .badParameter("endpoint", error.reason)
    }
    guard let key = Base64URL.decode(request.p256dh), let secret = Base64URL.decode(request.auth),
      let keys = SubscriptionKeys(publicKey: key, secret: secret, crypto: WebPushPrimitives())
    else { throw .badParameter("p256dh", "or \"auth\" is not what a browser gives: a point on P-256 and 16 bytes") }
    return PushSubscription(endpoint: endpoint, keys: keys)
  }

  // MARK: Browsers

  private func name(of pair: String) -> String { pairing.record(id: pair)?.name ?? pair }

  private func add(_ stored: StoredSubscription, _ key: PushKey) {
    let group = group ?? MultiThreadedEventLoopGroup(numberOfThreads: 1)
    self.group = group
    let (pair, directory) = (stored.pair, directory)
    let destination = BrowserDestination(
      stored, name: "push to \(name(of: pair))", sender: .init(child: child, settings: settings, key: key, house: house)
    )
    let notifier = Notifier(destination, loop: group.next(), logger: logger) { [weak self, weak destination] outcome in
      // RFC 8030 section 7.3: the subscription is gone, and stays so.
      guard case .status(let status, _, _) = outcome, status == 404 || status == 410, let self, let destination else {
        return
      }
      self.loop.execute { self.ended(pair, destination) }
    } openFile: { () throws(FileError) in
      try directory.pushed(toPair: pair)
    }
    browsers[pair] = Browser(destination, notifier)
    notifiers.withLock { $0.append(notifier) }
    notifier.start()
  }

  private func ended(_ pair: String, _ destination: BrowserDestination) {
    guard browsers[pair]?.destination === destination, destination.isAsked else { return }
    logger.notice("a browser has ended its push subscription", metadata: ["name": "\(name(of: pair))"])
    remove(pair)
    save()
  }

  private func remove(_ pair: String) {
    guard let browser = browsers.removeValue(forKey: pair) else { return }
    notifiers.withLock { $0.removeAll { $0 === browser.notifier } }
    browser.notifier.discard()
  }

  private func save() {
    guard isStorable else { return }
    do throws(StoreError) {
      try store.save(browsers.values.map(\.destination.stored).sorted { $0.pair < $1.pair })
    } catch {
      logger.warning("push subscriptions could not be saved", metadata: ["reason": "\(error)"])
    }
  }

  // MARK: The key

  private func usableKey() throws(ControlError) -> PushKey {
    do {
      if let key = try loadKey() { return key }
      let made = PushKey.generate()
      try directory.pushKey.replace(Array(made.pem.utf8))
      key = made
      return made
    } catch {
      logger.warning("the key for push services cannot be used", metadata: ["reason": "\(error)"])
      throw Self.noKey
    }
  }

  private static let noKey = ControlError(
    .unavailable, "The child's key for push services cannot be used; its log says why.")

  private func loadKey() throws -> PushKey? {
    if let key { return key }
    guard let bytes = try directory.pushKey.read(maximum: 64 * 1024) else { return nil }
    key = try PushKey(pem: String(decoding: bytes, as: UTF8.self))
    return key
  }

  /// Writes what is undelivered.
  func stop() async {
    for notifier in notifiers.withLock({ $0 }) { try? await notifier.stop().get() }
    let group = try? await loop.submit { self.group }.get()
    try? await group?.shutdownGracefully()
  }
}
