import COpenSSL
import Foundation
import Testing
import Wire

@testable import SecureTransport

/// What phones make of the node's own root certificate; openssl's command line is the judge.
@Suite struct RootCertificateTests {
  private let address = IPAddress("192.0.2.7")!
  private let year: ClosedRange<Int64> = 1_767_225_600...4_000_000_000

  private func root(names: [String] = ["cradle.local"], addresses: [IPAddress]? = nil) throws -> RootCertificate {
    try RootCertificate(subject: "Cradle Nursery", names: names, addresses: addresses ?? [address])
  }

  /// `openssl verify`'s output for a server's certificate.
  private func verify(_ pem: String, under root: RootCertificate, _ arguments: [String] = []) throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try root.certificate.pem.write(to: folder.appending(path: "root"), atomically: true, encoding: .utf8)
    try pem.write(to: folder.appending(path: "leaf"), atomically: true, encoding: .utf8)
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments =
      ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", folder.path + "/root"] + arguments
      + [folder.path + "/leaf"]
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }

  @Test func vouchesForTheNodesNamesAndAddresses() throws {
    let root = try root()
    let leaf = try root.issue(
      for: .generate(), names: ["cradle.local", "elsewhere.local"], addresses: [address, IPAddress("192.0.2.8")!],
      validity: year)
    #expect(try verify(leaf.pem, under: root).hasSuffix(": OK\n"))
    #expect(try verify(leaf.pem, under: root, ["-verify_hostname", "cradle.local"]).hasSuffix(": OK\n"))
    #expect(try verify(leaf.pem, under: root, ["-verify_ip", "192.0.2.7"]).hasSuffix(": OK\n"))
    // It does not even try what the constraints forbid: that would spoil the rest.
    #expect(try verify(leaf.pem, under: root, ["-verify_ip", "192.0.2.8"]).contains("IP address mismatch"))
    #expect(try verify(leaf.pem, under: root, ["-verify_hostname", "elsewhere.local"]).contains("mismatch"))
  }

  /// A root of another name's, with this one's key and subject, stands for the thief.
  @Test(arguments: [
    (["bank.example"], []), (["cradle.local", "bank.example"], []), ([], ["198.51.100.1"]), ([], ["2001:db8::1"]),
  ])
  func aStolenKeyVouchesForNothingElse(names: [String], addresses: [String]) throws {
    let root = try root()
    let stolen = try #require(root.pem.firstRange(of: "-----BEGIN"))
    let lines =
      "subject: \(root.subject)\n" + names.map { "name: \($0)\n" }.joined()
      + addresses.map { "address: \($0)\n" }.joined()
    let thief = try RootCertificate(pem: lines + root.pem[stolen.lowerBound...])
    let leaf = try thief.issue(
      for: .generate(), names: names, addresses: addresses.map { IPAddress($0)! }, validity: year)
    #expect(try verify(leaf.pem, under: root).contains("permitted subtree violation"))
  }

  /// A kind of name of which nothing is permitted is not free for all.
  @Test func withoutAnAddressAllAddressesAreForbidden() throws {
    let root = try root(addresses: [])
    let start = try #require(root.pem.firstRange(of: "-----BEGIN"))
    let thief = try RootCertificate(pem: "address: 198.51.100.1\naddress: fd00::7\n" + root.pem[start.lowerBound...])
    for address in thief.addresses {
      let leaf = try thief.issue(for: .generate(), names: [], addresses: [address], validity: year)
      #expect(try verify(leaf.pem, under: root).contains("excluded subtree violation"), "\(address)")
    }
  }

  @Test func isTheSameAfterStoring() throws {
    let root = try root(addresses: [address, IPAddress("fd00::7")!])
    let read = try RootCertificate(pem: root.pem)
    #expect(read.certificate == root.certificate)
    #expect((read.names, read.addresses) == (root.names, root.addresses) && read.subject == "Cradle Nursery")
    let leaf = try read.issue(for: .generate(), names: root.names, addresses: root.addresses, validity: year)
    #expect(try verify(leaf.pem, under: root, ["-verify_ip", "fd00::7"]).hasSuffix(": OK\n"))
  }

  @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"])
  func damagedFilesAreRefused(text: String) {
    #expect(throws: SecureError.self) { _ = try RootCertificate(pem: text) }
  }

  @Test func anotherRootsKeyIsRefused() throws {
    let (one, other) = (try root(), try root())
    #expect(throws: SecureError.self) {
      _ = try RootCertificate(pem: one.pem.components(separatedBy: "-----BEGIN CERT")[0] + other.certificate.pem)
    }
  }
}
