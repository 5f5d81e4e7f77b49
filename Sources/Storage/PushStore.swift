public import Control
internal import Signaling
public import WebPush
internal import Wire

/// A browser's subscription, with the pair that it belongs to.
public struct StoredSubscription: Hashable, Sendable {
  /// Id of the pair record.
  public var pair: String
  public var subscription: PushSubscription
  /// What it wants to be notified of; nil: the usual kinds.
  public var kinds: Set<EventKind>?
  /// That its owner gave; nil: the child's.
  public var contact: String?

  public init(pair: String, subscription: PushSubscription, kinds: Set<EventKind>? = nil, contact: String? = nil) {
    self.contact = contact
    self.pair = pair
    self.subscription = subscription
    self.kinds = kinds
  }
}

/// Where browsers want alarms to be pushed: `push.json` in the state directory. interfaces/files.md, "Files".
///
/// Like undelivered notifications, a damaged file does not keep the child from starting: it is moved aside. Browsers
/// subscribe again when their page is opened.
public struct PushStore: Sendable {
  private let store: JSONStore<Content>
  /// Its `whenWritten` says when a change is on disk.
  public var file: AtomicFile { store.file }

  private struct Content: Codable {
    var subscriptions: [Row]
  }

  private struct Row: Codable {
    var pair: String
    var endpoint: String
    var p256dh: String
    var auth: String
    var kinds: [String]?
    var contact: String?
  }

  /// - Parameter file: in the state directory. It is not accessed yet.
  public init(file: AtomicFile) {
    store = JSONStore(file: file)
  }

  /// Reads what there is. Rows that are not possible, or no longer, are left out. A file that cannot be parsed is renamed to
  /// `….unreadable`.
  ///
  /// - Parameter mayBePrivate: see `PushEndpoint`.
  /// - Returns: `trouble` if it was renamed.
  /// - Throws: `FileError` if the file cannot be read or renamed. Do not call `save` in that case.
  public func load(
    mayBePrivate: Bool, crypto: some WebPushCrypto
  ) throws(FileError) -> (subscriptions: [StoredSubscription], trouble: StoreError?) {
    let (content, trouble) = try store.loadOrMoveAside()
    let subscriptions = (content?.subscriptions ?? []).compactMap { row -> StoredSubscription? in
      guard let endpoint = try? PushEndpoint(row.endpoint, mayBePrivate: mayBePrivate),
        let key = Base64URL.decode(row.p256dh), let secret = Base64URL.decode(row.auth),
        let keys = SubscriptionKeys(publicKey: key, secret: secret, crypto: crypto)
      else { return nil }
      return StoredSubscription(
        pair: row.pair, subscription: PushSubscription(endpoint: endpoint, keys: keys),
        kinds: row.kinds.map { Set($0.compactMap(EventKind.init)) },
        contact: row.contact.flatMap { VAPID.isReachable($0) ? $0 : nil })
    }
    return (subscriptions, trouble)
  }

  /// How many subscriptions have no contact of their own that exists on the Internet. Changes nothing; 0 for a file that
  /// cannot be read.
  public func countWithoutContact() -> Int {
    guard let rows = try? store.load()?.subscriptions else { return 0 }
    return rows.count { row in row.contact.map { !VAPID.isReachable($0) } ?? true }
  }

  /// Replaces what is stored. Throws `StoreError.file`; the old content is kept then.
  public func save(_ subscriptions: [StoredSubscription]) throws(StoreError) {
    try store.save(
      Content(
        subscriptions: subscriptions.map { entry in
          Row(
            pair: entry.pair, endpoint: entry.subscription.endpoint.url.description,
            p256dh: Base64URL.encode(entry.subscription.keys.publicKey),
            auth: Base64URL.encode(entry.subscription.keys.secret),
            kinds: entry.kinds.map { $0.map(\.rawValue).sorted() }, contact: entry.contact)
        }))
  }
}
