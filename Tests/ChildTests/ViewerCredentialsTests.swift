import Foundation
import Pairing
import Storage
import Testing
import Wire

@testable import Child
@testable import Server
@testable import Signaling

@Suite struct ViewerCredentialsTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private var random = SystemRandomNumberGenerator()

  /// A book in a folder of its own, which goes when `body` is done.
  private func withTokens(_ body: (TokenBook) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: folder) }
    let state = try StateDirectory(path: folder.appending(path: "state").path)
    try body(TokenBook(try TokenStore(file: state.tokens)))
  }

  private func session(_ origin: ViewerSession.Origin, _ permissions: Permissions) -> ViewerSession {
    ViewerSession(
      peer: PeerID(number: 1), origin: origin, name: "x", permissions: permissions, camera: 0, hasPictureTrack: true,
      hasSoundTrack: true, since: .zero)
  }

  private func paired(_ permissions: Permissions) -> ViewerSession {
    session(.paired(PairedSessionID(parent: "a", session: "1")), permissions)
  }

  @Test mutating func aSessionEndsWithItsToken() throws {
    let id = WHEPSessionID(random: &random)
    let now = now
    try withTokens { book in
      _ = try book.store.add(name: "tv", allow: [.view, .listen], expiresAt: now + 60, now: now)
      let credentials = ViewerCredentials(tokens: book) { _ in nil }
      let viewer = session(.whep(id, token: "tv"), [.view, .listen])
      #expect(credentials.change(for: viewer, now: now + 59) == nil)
      #expect(credentials.change(for: viewer, now: now + 60) == .end(.expired))
      try book.store.revoke(name: "tv")
      #expect(credentials.change(for: viewer, now: now) == .end(.notPaired))
    }
  }

  @Test func pairingAgainWithFewerRightsNarrowsWhatIsOpen() throws {
    try withTokens { book in
      var parent: ViewerCredentials.Parent? = .init(permissions: .all, isExpired: false, isGuest: false)
      let credentials = ViewerCredentials(tokens: book) { id in id == "a" ? parent : nil }
      let viewer = paired(.all)
      #expect(credentials.change(for: viewer) == nil && credentials.rank(of: viewer.origin) == .parent)
      parent = .init(permissions: [.view], isExpired: false, isGuest: true)
      #expect(credentials.change(for: viewer) == .permissions([.view]) && credentials.rank(of: viewer.origin) == .guest)
      parent?.isExpired = true
      #expect(credentials.change(for: viewer) == .end(.expired))
      parent = nil
      #expect(credentials.standing(of: viewer.origin) == .unknown)
    }
  }
}
