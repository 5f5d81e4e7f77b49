import FoundationEssentials
import Logging
import SecureTransport
import Storage
import Testing
import Wire

@testable import Child

/// When browsers are shown the certificate that they know, and when another.
@Suite struct IssuedCertificatesTests {
  /// What a run of the node has: each `start` reads the file again.
  private final class Board {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    var key = PrivateKey.generate()
    var root: NodeCertificate?
    let warnings = CollectedLog()

    init(_ names: [String] = ["nursery.local"], _ addresses: [String] = ["192.0.2.1"]) throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try renewRoot(IssuedCertificatesTests.hosts(names, addresses))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var file: AtomicFile { AtomicFile(path: folder.appending(path: "certificate.pem").path) }

    func renewRoot(_ hosts: NodeHosts) throws {
      let file = AtomicFile(path: folder.appending(path: "root.pem").path)
      root = try NodeCertificate.make(for: hosts, name: "Nursery", in: file)
    }

    func start() -> IssuedCertificates {
      IssuedCertificates(file, key: key, logger: Logger(label: "test") { [warnings] _ in warnings })
    }

    /// The certificate after a start.
    func shown(_ hosts: NodeHosts, date: Int64? = IssuedCertificatesTests.date) throws -> Certificate {
      var issued = start()
      return try issued.certificate(for: hosts, root: root, date: date).certificate
    }
  }

  private static func hosts(_ names: [String], _ addresses: [String]) -> NodeHosts {
    NodeHosts(names: names, addresses: addresses.compactMap { IPAddress($0) })
  }

  private static let day: Int64 = 86_400
  private static let date: Int64 = 1_790_000_000
  private let home = hosts(["nursery.local"], ["192.0.2.1"])

  @Test func aRestartShowsTheSame() throws {
    let board = try Board()
    let first = try board.shown(home)
    #expect(first.isFor(name: "nursery.local") && first.isFor(address: IPAddress("192.0.2.1")!))
    #expect(board.root?.hasIssued(first) == true && first.certifies(board.key))
    for days in [0, 1, 400, 700] { #expect(try board.shown(home, date: Self.date + Int64(days) * Self.day) == first) }
    #expect(board.warnings.all.isEmpty)
    let attributes = try FileManager.default.attributesOfItem(atPath: board.file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test func whatTheRootPermitsComesAndGoesWithoutAnother() throws {
    let board = try Board(["nursery.local"], ["192.0.2.1", "fd00::7"])
    // A board that boots before its network has its name alone, or nothing.
    let first = try board.shown(Self.hosts(["nursery.local"], []))
    for addresses in [["192.0.2.1"], [], ["fd00::7"], ["192.0.2.9", "192.0.2.1"], ["198.51.100.4"]] {
      #expect(try board.shown(Self.hosts(["nursery.local"], addresses)) == first, "\(addresses)")
    }
    #expect(try board.shown(Self.hosts([], [])) == first)
    #expect(first.isFor(address: IPAddress("fd00::7")!))
  }

  @Test func anotherNameOrAddressGetsAnotherAndTheFirstComesBack() throws {
    let board = try Board()
    let first = try board.shown(home)
    let renamed = try board.shown(Self.hosts(["parlour.local"], ["192.0.2.9"]))
    #expect(renamed != first && renamed.isFor(name: "parlour.local") && renamed.isFor(address: IPAddress("192.0.2.9")!))
    #expect(renamed.isSigned(by: board.key))
    // Less of it is covered; another address is not.
    #expect(try board.shown(Self.hosts(["parlour.local"], [])) == renamed)
    let moved = try board.shown(Self.hosts(["parlour.local"], ["192.0.2.10"]))
    #expect(moved != renamed && moved != first)
    #expect(try board.shown(home) == first)
    #expect(try board.shown(Self.hosts(["parlour.local"], ["192.0.2.9"])) == renamed)
  }

  @Test func theFileHasABound() throws {
    let board = try Board()
    for last in 1...20 { _ = try board.shown(Self.hosts([], ["198.51.100.\(last)"])) }
    let text = String(decoding: try #require(try board.file.read()), as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.hasPrefix("-----BEGIN") } == IssuedCertificates.maximum)
  }

  @Test func aFileWithMoreThanItsBoundIsCutAndThatIsLogged() throws {
    let board = try Board()
    let first = try board.shown(home)
    try board.file.replace(Array(String(repeating: first.pem, count: 11).utf8))
    #expect(try board.shown(home) == first)
    let text = String(decoding: try #require(try board.file.read()), as: UTF8.self)
    #expect(Certificate.count(inPEM: text) == IssuedCertificates.maximum)
    #expect(board.warnings.all.map { $0.contains("certificates=11") && $0.contains("kept=4") } == [true])
  }

  @Test func anotherRootOrKeyGetsAnother() throws {
    let board = try Board()
    let first = try board.shown(home)
    try board.renewRoot(home)
    let second = try board.shown(home)
    #expect(second != first && board.root?.hasIssued(second) == true && board.root?.hasIssued(first) == false)
    board.key = .generate()
    let third = try board.shown(home)
    #expect(third != second && third.certifies(board.key))
    #expect(board.warnings.all.count == 1 && board.warnings.all[0].contains("another key"), "\(board.warnings.all)")
    #expect(try board.shown(home) == third && board.warnings.all.count == 1)
  }

  /// One in a year that is wrong costs nothing later.
  @Test(arguments: [-1000, -3, 741, 800, 1769, 5000])
  func aDateOutsideItsTermGetsAnother(days: Int) throws {
    let board = try Board()
    let first = try board.shown(home)
    let other = try board.shown(home, date: Self.date + Int64(days) * Self.day)
    let validity = try #require(other.validity)
    #expect(other != first && validity.contains(Self.date + Int64(days) * Self.day))
    #expect(validity.upperBound - validity.lowerBound <= 825 * Self.day)
    if abs(days) > 802 { #expect(try board.shown(home) == first) }
  }

  @Test func anUnknownDateKeepsWhatThereIsAndAKnownOneGetsItsTerm() throws {
    let board = try Board()
    let always = try board.shown(home, date: nil)
    #expect(try board.shown(home, date: nil) == always)
    // Apple's systems refuse one that is good for so long.
    let dated = try board.shown(home)
    #expect(dated != always)
    #expect(try board.shown(home) == dated)
  }

  @Test(arguments: ["", "cradle", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "half", "large"])
  func aDamagedFileIsReplacedAndSaidOnce(content: String) throws {
    let board = try Board()
    let first = try board.shown(home)
    let text =
      switch content {
      case "half": String(first.pem.prefix(300))
      case "large": String(repeating: "x", count: 100_000)
      default: content
      }
    try board.file.write(Array(text.utf8))
    let second = try board.shown(home)
    #expect(second != first)
    #expect(board.warnings.all.count == 1 && board.warnings.all[0].contains(board.file.path), "\(board.warnings.all)")
    #expect(try board.shown(home) == second && board.warnings.all.count == 1)
  }

  /// Whoever can write the file has no certificate that browsers know shown in the node's place.
  @Test func somebodyElsesCertificateIsNotShown() throws {
    let (board, other) = (try Board(), try Board())
    try board.file.write(Array(try other.shown(home).pem.utf8))
    let shown = try board.shown(home)
    #expect(shown.certifies(board.key) && board.root?.hasIssued(shown) == true)
    // Over our key, signed by somebody else's root.
    let root = try #require(other.root)
    try board.file.write(
      Array(try root.issue(for: board.key, validity: NodeCertificate.validity(at: Self.date)).pem.utf8))
    let third = try board.shown(home)
    #expect(board.root?.hasIssued(third) == true)
  }

  @Test func aFileThatCannotBeWrittenStopsNothing() throws {
    let board = try Board()
    try FileManager.default.createDirectory(atPath: board.file.path, withIntermediateDirectories: true)
    var issued = board.start()
    let first = try issued.certificate(for: home, root: board.root, date: Self.date)
    #expect(first.isNew)
    #expect(try issued.certificate(for: home, root: board.root, date: Self.date).certificate == first.certificate)
    #expect(board.warnings.all.count == 2, "\(board.warnings.all)")
  }
}
