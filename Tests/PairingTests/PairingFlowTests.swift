import Identity
import Pairing
import TestSupport
import Testing
import Wire

@Suite struct PairingFlowTests {
  @Test func codePairsBothSides() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    #expect(rig.child.isOpen)
    let (child, words, grant) = try rig.pair(.code(offer.code))
    #expect(child.publicKey == rig.childIdentity.publicKeySPKI)
    #expect(child.id == rig.childIdentity.id)
    #expect(child.name == "Nursery")
    #expect(child.role == .child)
    #expect(grant == PairingRig.grant(name: "Kitchen"))
    let parent = try #require(rig.stored.first)
    #expect(rig.stored.count == 1)
    #expect(parent.publicKey == rig.parentIdentity.publicKeySPKI)
    #expect(parent.id == rig.parentIdentity.id)
    #expect(parent.name == "Kitchen")
    #expect(parent.role == .parent)
    #expect(parent.permissions == .all)
    #expect(parent.createdAt == PairingRig.date)
    #expect(parent.lastSeenAt == nil)
    #expect(rig.words == words)
    #expect(words.words.count == 4)
    #expect(rig.events() == [.windowOpened, .paired(parent, words, .code), .windowClosed(.paired)])
    #expect(!rig.child.isOpen)
    #expect(rig.child.nextDeadline == nil)
  }

  @Test func linkPairsBothSides() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    let (child, words, _) = try rig.pair(.link(offer.secret))
    #expect(child.publicKey == rig.childIdentity.publicKeySPKI)
    let parent = try #require(rig.stored.first)
    #expect(parent.publicKey == rig.parentIdentity.publicKeySPKI)
    #expect(rig.words == words)
    #expect(rig.events() == [.windowOpened, .paired(parent, words, .link), .windowClosed(.paired)])
    #expect(rig.child.nextDeadline == nil)
  }

  @Test func inviteCarriesNamePermissionsAndExpiry() throws {
    let rig = PairingRig()
    let end = UnixTime(seconds: PairingRig.date.seconds + 8 * 3600)
    let terms = PairingTerms(permissions: [.view, .listen], name: "Babysitter", expiresAt: end)
    let secret = try rig.child.invite(terms: terms, for: .seconds(3600), now: rig.now)
    rig.now += .seconds(3599)
    let (child, _, grant) = try rig.pair(.link(secret))
    #expect(grant.name == "Babysitter")
    #expect(grant.permissions == [.view, .listen])
    #expect(grant.expiresAt == end)
    #expect(child.expiresAt == end)
    #expect(rig.stored.map(\.name) == ["Babysitter"])
    #expect(rig.stored.map(\.permissions) == [[.view, .listen]])
    #expect(rig.stored.map(\.expiresAt) == [end])
  }

  @Test func codeIsShownWithADashAndReadHoweverItIsTyped() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    let text = code.description
    #expect(text.utf8.count == 9)
    #expect(text.split(separator: "-").map(\.count) == [4, 4])
    let digits = text.filter(\.isNumber)
    for typed in [
      text, digits, "\(digits.prefix(4)) \(digits.suffix(4))", " \(text)\n", digits.map { "\($0) " }.joined(),
    ] {
      #expect(PairingCode(typed) == code)
    }
    for typed in ["", "1234567", "123456789", "1234-567a", "1234_5678", "١٢٣٤٥٦٧٨", String(repeating: " ", count: 99)] {
      #expect(PairingCode(typed) == nil)
    }
    #expect(rig.child.open(now: rig.now).code != code)
  }

  @Test func linkIsReadAsItIsWritten() throws {
    let rig = PairingRig()
    let secret = rig.child.open(now: rig.now).secret
    let text = PairingLink(origin: "https://[2001:db8::1]:8443", secret: secret).description
    #expect(text == "https://[2001:db8::1]:8443/#pair=\(secret)")
    #expect(PairingLink(text)?.secret == secret)
    #expect(PairingLink(text)?.origin == "https://[2001:db8::1]:8443")
    #expect(PairingLink("https://nursery.local#pair=\(secret)")?.origin == "https://nursery.local")
    for wrong in [
      "", "http://a/#pair=\(secret)", "https:///#pair=\(secret)", "https://a/#pair=", "https://a/#pair=\(secret)A",
      "https://a/b/#pair=\(secret)", "https://a@b/#pair=\(secret)", "https://a/?q#pair=\(secret)",
      "https://a b/#pair=\(secret)", "https://a/#pair=AAAAAAAAAAAAAAAAAAAAAB",
    ] {
      #expect(PairingLink(wrong) == nil, "\(wrong)")
    }
  }

  @Test func namesAreCleanedOnTheWayIn() throws {
    let rig = PairingRig()
    let code = rig.child.open(now: rig.now).code
    var parent = rig.parent(.code(code), name: " Kit\u{1b}[31mchen\n\u{202e} " + String(repeating: "x", count: 200))
    _ = try rig.pair(&parent)
    let name = try #require(rig.stored.first?.name)
    #expect(name.hasPrefix("Kit[31mchen xxx"))
    #expect(name.count == PairName.maximumCharacters)
    #expect(PairName.cleaned("\u{0}\u{200d}\n", fallback: "Parent") == "Parent")
    #expect(PairName.cleaned("👨‍👩‍👧 Café", fallback: "") == "👨‍👩‍👧 Café")
    #expect(
      PairName.cleaned(String(repeating: "e\u{301}\u{301}\u{301}\u{301}", count: 64), fallback: "").utf8.count <= 256)
  }

  @Test func cleanedNameStaysAsItIs() {
    var random = SeededGenerator(seed: 5)
    let parts: [Unicode.Scalar] = [
      "a", " ", "\u{7}", "\u{301}", "\u{200d}", "\u{202e}", "👩", "\u{fe0f}", "\n", "\u{1f3fd}", "ß", "\u{1f1e9}",
      "\u{2028}",
    ]
    for _ in 0..<2000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...90, using: &random) { text.append(parts.randomElement(using: &random)!) }
      let once = PairName.cleaned(String(text), fallback: "Parent")
      let twice = PairName.cleaned(once, fallback: "Parent")
      #expect(Array(once.utf8) == Array(twice.utf8))
      #expect(once.utf8.count <= PairName.maximumBytes && once.count <= PairName.maximumCharacters)
    }
  }

  @Test func windowClosesByItselfAfterFiveMinutes() throws {
    let rig = PairingRig()
    let offer = rig.child.open(now: rig.now)
    #expect(offer.closesAt == rig.now + .seconds(300))
    #expect(rig.child.nextDeadline == offer.closesAt)
    rig.now += .seconds(299)
    rig.child.handleTimeout(now: rig.now)
    #expect(rig.child.isOpen)
    rig.now += .seconds(1)
    #expect(rig.refusal(.begin) == .windowClosed)
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(offer.secret)) }
    #expect(rig.events() == [.windowOpened, .windowClosed(.timeIsUp)])
    #expect(rig.child.nextDeadline == nil)
  }

  @Test func closedWindowRefusesEverything() throws {
    let rig = PairingRig()
    #expect(rig.refusal(.begin) == .windowClosed)
    #expect(
      rig.refusal(.share(salt: Array(repeating: 0, count: 16), share: Array(repeating: 4, count: 65))) == .windowClosed)
    let offer = rig.child.open(now: rig.now)
    rig.child.close()
    #expect(rig.refusal(.begin) == .windowClosed)
    #expect(throws: PairingRefusal.unknownLink) { try rig.pair(.link(offer.secret)) }
    #expect(rig.events() == [.windowOpened, .windowClosed(.byHand)])
  }

  @Test func wordsDependOnTheRun() throws {
    var seen: Set<CheckWords> = []
    for seed in 1...8 as ClosedRange<UInt64> {
      let rig = PairingRig(seed: seed)
      seen.insert(try rig.pair(.code(rig.child.open(now: rig.now).code)).1)
    }
    #expect(seen.count == 8)
  }

  @Test func deadlinesAreIdempotent() throws {
    let rig = PairingRig()
    _ = rig.child.open(now: rig.now)
    for _ in 0..<3 { rig.child.handleTimeout(now: rig.now) }
    rig.now += .seconds(600)
    for _ in 0..<3 { rig.child.handleTimeout(now: rig.now) }
    #expect(rig.events() == [.windowOpened, .windowClosed(.timeIsUp)])
  }
}
