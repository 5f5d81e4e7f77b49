import Foundation
import Linux
import Synchronization

/// A TCP server on loopback that says what it was told to say, whoever comes: each answer when the bytes it waits for have
/// come. It serves one connection after the other, and keeps the last one open until the other side has gone.
public final class LyingServer: Sendable {
  public struct Step: Sendable {
    var awaited: [UInt8]
    var answer: @Sendable (_ heard: [UInt8]) -> [UInt8]

    /// - Parameter awaited: empty: anything.
    public init(after awaited: String = "", say answer: [UInt8]) {
      self.init(after: awaited, answering: { _ in answer })
    }

    /// - Parameter answer: to what has been heard since the last one.
    public init(after awaited: String, answering answer: @escaping @Sendable (_ heard: [UInt8]) -> [UInt8]) {
      self.awaited = Array(awaited.utf8)
      self.answer = answer
    }

    public init(after awaited: String, say answer: String) {
      self.init(after: awaited, say: Array(answer.utf8))
    }
  }

  public let port: UInt16
  private let listener: Int32
  private let count = Mutex(0)
  private let taken = Counter()

  private final class Counter: Sendable {
    let bytes = Mutex(0)
  }

  /// - Parameter flood: what is said again and again after all steps.
  public init(_ steps: [Step], flood: [UInt8] = []) throws {
    signal(SIGPIPE, SIG_IGN)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isListening = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0 && listen(descriptor, 16) == 0
      }
    }
    guard isListening else { throw CocoaError(.fileReadUnknown) }
    port = UInt16(bigEndian: name.sin_port)
    _ = WorkerThread(name: "liar") { [weak self, descriptor] in
      while true {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0, let self else { return }
        self.count.withLock { $0 += 1 }
        let taken = self.taken
        _ = WorkerThread(name: "lie") { Self.serve(connection, steps, flood, taken) }
      }
    }
  }

  deinit { shutdown(listener, Int32(SHUT_RDWR)) }

  /// How often somebody has come.
  public var connections: Int { count.withLock { $0 } }

  /// Bytes that have been said, those that wait in the kernel included.
  public var said: Int { taken.bytes.withLock { $0 } }

  private static func serve(_ connection: Int32, _ steps: [Step], _ flood: [UInt8], _ taken: Counter) {
    defer { close(connection) }
    var heard: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    for step in steps {
      while heard.isEmpty || (!step.awaited.isEmpty && heard.firstRange(of: step.awaited) == nil) {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        heard += buffer[..<count]
      }
      let answer = step.answer(heard)
      heard = []
      guard say(answer, connection, taken) else { return }
    }
    while !flood.isEmpty, say(flood, connection, taken) {}
    while recv(connection, &buffer, buffer.count, 0) > 0 {}
  }

  private static func say(_ bytes: [UInt8], _ connection: Int32, _ taken: Counter) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return false }
      taken.bytes.withLock { $0 += count }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// What servers have been seen to end their clients with.
public enum Lie: String, CaseIterable, Sendable {
  /// libmosquitto 2.0.11: an assertion fails for a property that MQTT 5 does not have.
  case unknownPropertyOfConnack, unknownPropertyOfPublish
  /// libstrophe 0.12.2: a null pointer is followed.
  case featuresWithoutBind, challengeWithoutRealm

  public var isXMPP: Bool { self == .featuresWithoutBind || self == .challengeWithoutRealm }

  private static let stream =
    "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='1' "
    + "from='cradle.test' version='1.0'>"

  /// The login of an XMPP account up to what follows it.
  public static func login(_ mechanism: String = "PLAIN") -> [LyingServer.Step] {
    [
      .init(
        after: "<stream:stream",
        say: stream + "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><mechanism>\(mechanism)"
          + "</mechanism></mechanisms></stream:features>"),
      .init(after: "<auth", say: "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>"),
    ]
  }

  /// A session of an XMPP account, begun.
  public static let session: [LyingServer.Step] =
    login() + [
      .init(
        after: "<stream:stream",
        say: stream + "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></stream:features>"),
      .init(
        after: "<bind",
        say: "<iq type='result' id='_xmpp_bind1'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
          + "<jid>child@cradle.test/cradle</jid></bind></iq>"),
    ]

  public var steps: [LyingServer.Step] {
    switch self {
    case .unknownPropertyOfConnack: [.init(say: [0x20, 4, 0, 0, 1, 0x61])]
    case .unknownPropertyOfPublish: [.init(say: [0x20, 3, 0, 0, 0, 0x30, 6, 0, 1, 0x61, 2, 0x61, 0])]
    case .featuresWithoutBind:
      Self.login() + [.init(after: "<stream:stream", say: Self.stream + "<stream:features/>")]
    case .challengeWithoutRealm:
      [
        Self.login("DIGEST-MD5")[0],
        .init(after: "<auth", say: "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>YT1i</challenge>"),
      ]
    }
  }
}
