import Foundation
import Identity
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Pairing
import Storage
import Synchronization
import TestSupport
import Wire

@testable import Child
@testable import Server

/// A child's pairs and tokens on an event loop of their own, with dates that the test sets. Everything goes through the
/// same calls as in the node: `POST /pair`, `endExpired` each second.
final class PairingHouse: Sendable {
  static let start = UnixTime(seconds: 1_800_000_000)

  struct Dates: Sendable {
    var system = PairingHouse.start
    var monotonic = Instant.zero
  }

  struct Refused: Error, Equatable {
    var status: Int
  }

  /// What the services told.
  struct Told: Sendable {
    var changed: [PairRecord] = []
    var ended: [String] = []
  }

  let folder: URL
  let pairing: PairingService
  let tokens: TokenBook
  let dates: DatesBox
  let told = ToldBox()
  private let isDown = Atomic(false)
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  final class DatesBox: Sendable {
    let dates = Mutex(Dates())
  }

  final class ToldBox: Sendable {
    let told = Mutex(Told())
  }

  /// - Parameters:
  ///   - folder: of a house that was shut down; nil: a new one.
  ///   - mark: what is known of the date; nil: what the folder has.
  init(folder: URL? = nil, date: UnixTime = PairingHouse.start, mark: TrustedClock.Mark? = nil) throws {
    self.folder = folder ?? FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try StateDirectory.makeDirectory(self.folder.path)
    let path = self.folder.path
    func file(_ name: String) -> AtomicFile { AtomicFile(path: "\(path)/\(name)") }
    if let mark { try ClockStore(file: file("clock.json")).save(mark) }
    let dates = DatesBox()
    dates.dates.withLock { $0.system = date }
    self.dates = dates
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let clock = ExpiryClock(
      ClockStore(file: file("clock.json")),
      source: .init(
        system: { dates.dates.withLock(\.system) }, monotonic: { dates.dates.withLock(\.monotonic) }), logger: logger)
    var configuration = PairingConfiguration()
    configuration.iterations = 1000
    pairing = PairingService(
      responder: PairingResponder(
        configuration: configuration, identity: NodeIdentity.generate(), name: "Nursery", crypto: PairingPrimitives(),
        random: SystemRandomNumberGenerator()),
      store: try PairStore(file: file("pairs.json"), hashes: TestHashes()), clock: clock, loop: group.next(),
      logger: logger)
    tokens = TokenBook(try TokenStore(file: file("tokens.json"), hashes: TestHashes()), clock: clock, logger: logger)
    let told = told
    pairing.observe { change in
      if case .paired(let record, isNew: false) = change { told.told.withLock { $0.changed.append(record) } }
    }
    tokens.onEnded.append { record in told.told.withLock { $0.ended.append(record.name) } }
  }

  /// Stops as the node does; once more does nothing.
  func shutDown() throws {
    guard !isDown.exchange(true, ordering: .relaxed) else { return }
    try on { $0.pairing.stop() }
    try group.syncShutdownGracefully()
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Runs `body` on the event loop.
  func on<Value: Sendable>(_ body: @escaping @Sendable (PairingHouse) throws -> Value) throws -> Value {
    try group.next().submit { try body(self) }.wait()
  }

  /// The same for what takes its time.
  func wait<Value: Sendable>(
    _ body: @escaping @Sendable (PairingHouse) throws -> EventLoopFuture<Value>
  ) throws -> Value {
    let loop = group.next()
    return try loop.flatSubmit {
      do { return try body(self) } catch { return loop.makeFailedFuture(error) }
    }.wait()
  }

  /// Lets time pass, and does what the node does each second.
  func pass(_ seconds: Int64, system change: Int64? = nil) throws {
    dates.dates.withLock { dates in
      dates.monotonic += .seconds(seconds)
      dates.system = UnixTime(seconds: dates.system.seconds + (change ?? seconds))
    }
    try on { house in
      house.tokens.endExpired()
      house.pairing.endExpired()
    }
  }

  func open(by issuer: PairingIssuer = .administrator, admin: Bool = false) throws -> PairingService.Opened {
    try group.next().flatSubmit { self.pairing.open(by: issuer, admin: admin) }.wait()
  }

  func invite(
    _ permissions: Permissions, for seconds: Int64 = 3600, by issuer: PairingIssuer = .administrator
  ) throws -> (secret: PairingSecret, terms: PairingTerms) {
    try on { house in
      let end = UnixTime(seconds: house.pairing.now.seconds + seconds)
      return try house.pairing.invite(
        PairingTerms(permissions: permissions, name: "Guest", expiresAt: end), for: .seconds(seconds), by: issuer)
    }
  }

  /// A whole pairing, as a parent does it over HTTP; the child's record. Throws `Refused`.
  @discardableResult
  func pair(
    _ means: PairingInitiator.Means, as identity: NodeIdentity = .generate(), saying verdict: PairingVerdict? = .confirm
  ) throws -> PairRecord {
    var parent = PairingInitiator(
      means, identity: identity, name: "Phone", crypto: PairingPrimitives(), random: SystemRandomNumberGenerator())
    var request = try parent.start()
    while true {
      switch try parent.receive(post(request), date: Self.start) {
      case .send(let next): request = next
      case .paired:
        if let verdict = verdict.flatMap({ parent.verdict($0) }) { _ = try post(verdict) }
        return try on { house in
          guard let record = house.pairing.record(id: identity.id) else { throw Refused(status: 0) }
          return record
        }
      }
    }
  }

  /// Throws `Refused`.
  func post(_ request: PairingRequest) throws -> PairingReply {
    let response = try wait { house in
      house.pairing.respond(
        to: HTTPRequest(
          method: .POST, path: "/pair", query: nil, headers: ["Content-Type": PairingMessages.contentType],
          body: PairingMessages.encode(request), remoteAddress: nil))
    }
    guard response.status == .ok else { throw Refused(status: Int(response.status.code)) }
    return try PairingMessages.reply(response.body)
  }

  /// The first parent, who administers the child.
  func pairFirst(as identity: NodeIdentity = .generate()) throws -> PairRecord {
    try pair(.code(open().offer.code), as: identity)
  }
}
