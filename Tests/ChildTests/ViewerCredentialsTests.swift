import Pairing
import Storage
import Testing
import Wire

@testable import Child
@testable import Server
@testable import Signaling

@Suite struct ViewerCredentialsTests {
  private var random = SystemRandomNumberGenerator()

  private func session(_ origin: ViewerSession.Origin, _ permissions: Permissions) -> ViewerSession {
    ViewerSession(
      peer: PeerID(number: 1), origin: origin, name: "x", permissions: permissions, camera: 0, hasPictureTrack: true,
      hasSoundTrack: true, since: .zero, reach: .localNetwork)
  }

  /// The whole way with real stores and dates that the test sets.
  @Test mutating func aSessionEndsWithItsToken() throws {
    let id = WHEPSessionID(random: &random)
    let house = try PairingHouse()
    defer { house.remove() }
    let (short, long) = try house.on { house in
      (
        try house.tokens.add(name: "tv", allow: [.view, .listen], for: 60).1,
        try house.tokens.add(name: "radio", allow: [.listen], for: nil).1
      )
    }
    let viewer = session(.whep(id, token: short.id), [.view, .listen])
    let listener = session(.whep(id, token: long.id), [.listen])
    let change = { (session: ViewerSession) in
      try house.on { ViewerCredentials(tokens: $0.tokens, pairing: $0.pairing).change(for: session) }
    }
    #expect(try change(viewer) == nil)
    try house.pass(59)
    #expect(try change(viewer) == nil)
    try house.pass(2)
    #expect(try change(viewer) == .end(.expired))
    #expect(try change(listener) == nil)
    _ = try house.on { try $0.tokens.revoke(name: "radio") }
    #expect(try change(listener) == .end(.notPaired))
    try house.shutDown()
  }

  /// What is lent for it ends with it.
  @Test func theTimeLeftOfACredentialRunsOut() throws {
    let house = try PairingHouse()
    defer { house.remove() }
    let (short, long) = try house.on { house in
      (
        try house.tokens.add(name: "tv", allow: [.view], for: 3600).1,
        try house.tokens.add(name: "radio", allow: [.listen], for: nil).1
      )
    }
    let timeLeft = { (token: String) in
      try house.on { ViewerCredentials(tokens: $0.tokens, pairing: $0.pairing).timeLeft(of: .token(id: token)) }
    }
    #expect(try timeLeft(short.id) == .seconds(3600))
    try house.pass(3000)
    #expect(try timeLeft(short.id) == .seconds(600))
    try house.pass(601)
    #expect(try timeLeft(short.id) == .zero)
    #expect(try timeLeft(long.id) == nil)
    #expect(try timeLeft("nobody") == .zero)
    try house.shutDown()
  }

  @Test func pairingAgainWithFewerRightsNarrowsWhatIsOpen() {
    var parent = Credential.Standing.good(.all, expiresAt: nil)
    let credentials = ViewerCredentials(date: { PairingHouse.start }) { credential in
      credential == .pair(id: "a") ? parent : .unknown
    }
    let viewer = session(.paired(PairedSessionID(parent: "a", session: "1")), .all)
    #expect(credentials.change(for: viewer) == nil && credentials.rank(of: viewer.origin) == .parent)
    parent = .good([.view], expiresAt: UnixTime(seconds: 1_800_000_000))
    #expect(credentials.change(for: viewer) == .permissions([.view]) && credentials.rank(of: viewer.origin) == .guest)
    parent = .expired
    #expect(credentials.change(for: viewer) == .end(.expired))
    parent = .unknown
    #expect(credentials.standing(of: viewer.origin) == .unknown)
  }
}
