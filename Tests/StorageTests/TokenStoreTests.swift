import Foundation
import Pairing
import RTSP
import SecureTransport
import Testing

@testable import Storage

@Suite struct TokenStoreTests {
  private let directory = TemporaryDirectory()
  private var file: AtomicFile { AtomicFile(path: "\(directory.path)/tokens.json") }
  private let now = Date(timeIntervalSince1970: 1_700_000_000)

  @Test func tokenIsRecognisedAfterAReload() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "Kitchen tablet", allow: [.view, .listen], now: now)
    #expect(token.hasPrefix("cradle_"))
    #expect(token.utf8.count == 7 + 32)
    var again = try TokenStore(file: file)
    let verified = again.verify(token, now: now + 60)
    let record = try #require(verified)
    #expect(record.name == "Kitchen tablet")
    #expect(record.allow.names == ["view", "listen"])
    #expect(record.createdAt == now)
    #expect(record.lastUsedAt == now + 60)
    #expect(again.verify(token + "x") == nil)
    #expect(again.verify(String(token.dropLast())) == nil)
    #expect(again.verify("") == nil)
    #expect(again.verify(String(repeating: "a", count: 100_000)) == nil)
  }

  @Test func fileHoldsTheHashOnlyAndIsPrivate() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "a", allow: .view, now: now)
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    #expect(!text.contains(token.dropFirst(7)))
    #expect(text.contains("\"createdAt\" : \"2023-11-14T22:13:20Z\""))
    #expect(text.contains("\"version\" : 1"))
    #expect(file.currentMode() == 0o600)
  }

  @Test func aTokenForRTSPIsKeptWithWhatDigestNeeds() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "nvr-1.a_B", allow: .view, isForRTSP: true, now: now)
    _ = try store.add(name: "other", allow: .view, now: now)
    var again = try TokenStore(file: file)
    #expect(again.tokens.map { $0.rtsp != nil } == [true, false])
    #expect(
      again.tokens[0].rtsp == DigestAccess.Secrets(user: "nvr-1.a_B", secret: token, hashes: CryptoHashes()))
    #expect(again.verify(token, now: now) != nil)
    again.recordUse(id: again.tokens[1].id, now: now + 5)
    try again.saveUses()
    #expect(try TokenStore(file: file).tokens[1].lastUsedAt == now + 5)
    for name in ["my player", "a:b", "ä", "a/b", "a@b", "a\"b", "a%b"] {
      #expect(throws: StoreError.invalidUser(name)) { try again.add(name: name, allow: .view, isForRTSP: true) }
    }
  }

  /// As the names of pairs.
  @Test func namesThatDifferInCaseAreOne() throws {
    var store = try TokenStore(file: file)
    _ = try store.add(name: "Küche", allow: .view)
    #expect(throws: StoreError.duplicateName("Küche")) { _ = try store.add(name: "küche", allow: .view) }
    #expect(try store.revoke(name: "KÜCHE").name == "Küche")
    #expect(store.tokens.isEmpty)
  }

  @Test func revokedTokenIsUnknown() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "a", allow: .view)
    let other = try store.add(name: "b", allow: .view)
    #expect(token != other)
    try store.revoke(name: "a")
    #expect(store.verify(token) == nil)
    #expect(store.verify(other)?.name == "b")
    #expect(try TokenStore(file: file).tokens.map(\.name) == ["b"])
    #expect(throws: StoreError.unknownName("a")) { try store.revoke(name: "a") }
  }

  /// Who still has one is named; the newest of a bounded number, also after a restart.
  @Test func removedTokensKeepTheirNames() throws {
    var store = try TokenStore(file: file)
    var tokens: [String] = []
    for number in 0..<20 {
      tokens.append(try store.add(name: "\(number)", allow: .view))
      try store.revoke(name: "\(number)")
    }
    let again = try TokenStore(file: file)
    #expect(again.record(of: tokens[19])?.record.name == "19" && again.record(of: tokens[19])?.isRemoved == true)
    #expect(tokens.filter { again.record(of: $0) != nil }.count == TokenStore.maximumRemoved)
    #expect(again.tokens.isEmpty)
  }

  @Test func expiredTokenIsRefused() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "a", allow: .view, expiresAt: now, now: now - 10)
    #expect(store.verify(token, now: now - 1) != nil)
    #expect(store.verify(token, now: now) == nil)
  }

  private func date(_ seconds: Double) -> UnixTime { UnixTime(date: now + seconds) }

  @Test func tokenSeenExpiredStaysExpiredWhenTheClockIsSetBack() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "a", allow: .view, expiresAt: now, now: now - 10)
    let other = try store.add(name: "b", allow: .view, now: now - 10)
    #expect(store.markExpired(at: date(-1), madeSince: date(-10)).isEmpty && !store.hasUnsavedUses)
    // A date far ahead may be wrong: what was made before it is not marked.
    #expect(store.markExpired(at: date(0), madeSince: date(-9)).isEmpty && !store.hasUnsavedUses)
    #expect(store.markExpired(at: date(0), madeSince: date(-10)).map(\.name) == ["a"])
    #expect(store.markExpired(at: date(0), madeSince: date(-10)).isEmpty)
    try store.saveUses()
    var again = try TokenStore(file: file)
    #expect(again.verify(token, now: now - 5) == nil)
    #expect(again.verify(other, now: now - 5)?.name == "b")
    #expect(again.tokens.map(\.hasExpired) == [true, false])
  }

  @Test func tokenWithAnEndThatWasMadeInTheFutureIsRefused() throws {
    var store = try TokenStore(file: file)
    let limited = try store.add(name: "a", allow: .view, expiresAt: now + 60, now: now)
    let unlimited = try store.add(name: "b", allow: .view, now: now)
    #expect(store.verify(limited, now: now - 86_400) != nil)
    #expect(store.verify(limited, now: now - 86_401) == nil)
    #expect(store.verify(unlimited, now: Date(timeIntervalSince1970: 0)) != nil)
  }

  @Test func expiredTokensMakeRoom() throws {
    var store = try TokenStore(file: file)
    let old = try store.add(name: "a", allow: .view, expiresAt: now, now: now - 10)
    #expect(throws: StoreError.duplicateName("a")) { _ = try store.add(name: "a", allow: .view, now: now - 1) }
    let new = try store.add(name: "a", allow: .listen, now: now)
    #expect(store.verify(old, now: now) == nil && store.verify(new, now: now)?.allow == .listen)
    for number in 2...TokenStore.maximumTokens {
      _ = try store.add(name: "\(number)", allow: .view, expiresAt: number == 9 ? now + 5 : nil, now: now)
    }
    #expect(throws: StoreError.full(maximum: TokenStore.maximumTokens)) {
      _ = try store.add(name: "more", allow: .view, now: now + 4)
    }
    _ = try store.add(name: "more", allow: .view, now: now + 5)
    #expect(!store.tokens.contains { $0.name == "9" } && store.tokens.count == TokenStore.maximumTokens)
  }

  @Test func twoTokensOfOneNameHaveTwoIDs() throws {
    var store = try TokenStore(file: file)
    _ = try store.add(name: "a", allow: .view)
    let first = try #require(store.tokens.first?.id)
    try store.revoke(name: "a")
    _ = try store.add(name: "a", allow: .view)
    #expect(store.tokens.first?.id != first && first.utf8.count == 16)
  }

  @Test func useIsWrittenOnlyWhenAsked() throws {
    var store = try TokenStore(file: file)
    let token = try store.add(name: "a", allow: .view, now: now)
    let before = try file.read()
    _ = store.verify(token, now: now)
    #expect(try file.read() == before)
    #expect(store.hasUnsavedUses)
    try store.saveUses()
    #expect(!store.hasUnsavedUses)
    #expect(try TokenStore(file: file).tokens.first?.lastUsedAt == now)
  }

  @Test(arguments: ["", " a", "a ", "a\nb", "a\u{7f}", String(repeating: "a", count: 65)])
  func nameIsPrintable(name: String) throws {
    var store = try TokenStore(file: file)
    #expect(throws: StoreError.invalidName(name)) { _ = try store.add(name: name, allow: .view) }
    #expect(try file.read() == nil)
  }

  @Test func namesPermissionsAndNumberAreChecked() throws {
    var store = try TokenStore(file: file)
    _ = try store.add(name: "Großmutters Küche", allow: .allowedForTokens)
    #expect(throws: StoreError.duplicateName("Großmutters Küche")) {
      _ = try store.add(name: "Großmutters Küche", allow: .view)
    }
    #expect(throws: StoreError.notAllowed(["admin"])) { _ = try store.add(name: "b", allow: [.view, .admin]) }
    #expect(throws: StoreError.notAllowed([])) { _ = try store.add(name: "b", allow: []) }
    for number in 1..<TokenStore.maximumTokens { _ = try store.add(name: "\(number)", allow: .view) }
    #expect(throws: StoreError.full(maximum: 64)) { _ = try store.add(name: "b", allow: .view) }
  }

  @Test func permissionNames() {
    #expect(Permissions(names: ["talk", "view"])?.names == ["view", "talk"])
    #expect(Permissions(names: ["view", "everything"]) == nil)
    #expect(Permissions.allNames == ["view", "listen", "talk", "control", "admin", "recordings"])
  }

  @Test func halfWrittenStoreIsReportedByByteAndKept() throws {
    var store = try TokenStore(file: file)
    _ = try store.add(name: "a", allow: .view)
    let whole = try #require(try file.read())
    for count in 0..<whole.count - 2 {
      try file.write(Array(whole[..<count]))
      #expect(throws: StoreError.damaged(path: file.path, offset: count, reason: "it ends in the middle")) {
        _ = try TokenStore(file: file)
      }
      #expect(try file.read()?.count == count)
    }
  }

  @Test func foreignContentIsReportedAndKept() throws {
    let cases: [(String, (StoreError) -> Bool)] = [
      ("{\"version\":1,\"tokens\":[}", { $0.isDamaged(at: 23) }),
      ("\0\0\0\0", { $0.isDamaged(at: 0) }),
      ("[]", { $0.isDamaged(at: nil) }),
      ("{}", { $0.isDamaged(at: nil) && "\($0)".contains("version is missing") }),
      ("{\"version\":0,\"tokens\":[]}", { $0.isDamaged(at: nil) }),
      ("{\"version\":1}", { $0.isDamaged(at: nil) && "\($0)".contains("tokens is missing") }),
      ("{\"version\":1,\"tokens\":[{\"name\":7}]}", { "\($0)".contains("tokens[0].name has the wrong type") }),
      (
        "{\"version\":1,\"tokens\":[{\"name\":\"a\",\"hash\":\"00\"}]}",
        { "\($0)".contains("tokens[0].hash has an impossible value") }
      ),
      (
        "{\"version\":2,\"tokens\":\"in a new form\"}",
        { if case .newerVersion(_, 2, 1) = $0 { true } else { false } }
      ),
    ]
    for (text, isExpected) in cases {
      let bytes = Array(text.utf8)
      try file.write(bytes)
      do throws(StoreError) {
        _ = try TokenStore(file: file)
        Issue.record("accepted \(text)")
      } catch {
        #expect(isExpected(error), "\(text): \(error)")
      }
      #expect(try file.read() == bytes)
    }
  }

  @Test func adminInTheFileIsRefused() throws {
    var store = try TokenStore(file: file)
    _ = try store.add(name: "a", allow: .view)
    let text = String(decoding: try #require(try file.read()), as: UTF8.self)
    try file.write(Array(text.replacing("\"view\"", with: "\"admin\"").utf8))
    #expect(throws: StoreError.self) { _ = try TokenStore(file: file) }
  }

  @Test func failedSaveChangesNothing() throws {
    var store = try TokenStore(file: AtomicFile(path: "\(directory.path)/missing/tokens.json"))
    #expect(throws: StoreError.self) { _ = try store.add(name: "a", allow: .view) }
    #expect(store.tokens.isEmpty)
  }
}

extension StoreError {
  fileprivate func isDamaged(at offset: Int?) -> Bool {
    if case .damaged(_, offset, _) = self { true } else { false }
  }
}
