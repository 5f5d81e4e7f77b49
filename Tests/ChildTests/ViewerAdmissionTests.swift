import Testing
import Wire

@testable import Child

@Suite struct ViewerAdmissionTests {
  private typealias Place = ViewerAdmission.Place
  private typealias Rank = ViewerAdmission.Rank

  private func at(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }

  private func candidate(_ name: String, _ rank: Rank, administers: Bool = false) -> ViewerAdmission.Candidate {
    .init(credential: credential(name, rank), rank: rank, isAdministrator: administers)
  }

  private func credential(_ name: String, _ rank: Rank) -> Credential {
    rank == .token ? .token(id: name) : .pair(id: name)
  }

  /// Sessions of one credential, one second apart.
  private func places(
    _ count: Int, _ name: String, _ rank: Rank, connected: Bool = true, since first: Int = 0
  ) -> [Place] {
    (0..<count).map { number in
      Place(
        credential: credential(name, rank), rank: rank, isConnected: connected, wasConnected: true,
        since: at(first + number))
    }
  }

  /// A house of so many credentials with four connected sessions each.
  private func crowd(_ credentials: Int, _ rank: Rank) -> [Place] {
    (0..<credentials).flatMap { places(4, "\(rank)\($0)", rank) }
  }

  private func refusal(_ candidate: ViewerAdmission.Candidate, _ places: [Place]) -> ViewerAdmission.Refusal? {
    do throws(ViewerAdmission.Refusal) {
      _ = try ViewerAdmission.place(for: candidate, among: places, now: at(100))
      return nil
    } catch {
      return error
    }
  }

  private func displaced(_ candidate: ViewerAdmission.Candidate, _ places: [Place]) throws -> Int? {
    try ViewerAdmission.place(for: candidate, among: places, now: at(100))
  }

  @Test func oneTokenHasFourSessions() throws {
    #expect(try displaced(candidate("tv", .token), places(3, "tv", .token)) == nil)
    #expect(refusal(candidate("tv", .token), places(4, "tv", .token)) == .tooManySessions(maximum: 4))
    #expect(try displaced(candidate("radio", .token), places(4, "tv", .token)) == nil)
  }

  @Test func aPairedParentHasFourAndAnAdministratorSixteen() {
    #expect(refusal(candidate("a", .guest), places(4, "a", .guest)) == .tooManySessions(maximum: 4))
    #expect(refusal(candidate("a", .parent), places(4, "a", .parent)) == .tooManySessions(maximum: 4))
    let administrator = candidate("a", .parent, administers: true)
    #expect(refusal(administrator, places(15, "a", .parent)) == nil)
    #expect(refusal(administrator, places(16, "a", .parent)) == .tooManySessions(maximum: 16))
  }

  @Test func aTokenAndAPairOfOneNameAreTwo() throws {
    #expect(try displaced(candidate("x", .parent), places(4, "x", .token)) == nil)
  }

  @Test func aSessionOfItsOwnThatIsNotConnectedGivesWayFirst() throws {
    var mine = places(4, "tv", .token)
    mine[2].isConnected = false
    #expect(try displaced(candidate("tv", .token), mine) == 2)
    // One whose link was lost a moment ago keeps its place.
    mine[2].since = at(97)
    #expect(refusal(candidate("tv", .token), mine) == .tooManySessions(maximum: 4))
  }

  /// Some players give up on an answer without saying so, and try again at once.
  @Test func aSessionOfItsOwnThatNeverConnectedGivesWayAtOnce() throws {
    var mine = places(4, "tv", .token)
    mine[1].isConnected = false
    for index in [2, 3] {
      mine[index].isConnected = false
      mine[index].wasConnected = false
      mine[index].since = at(99)
    }
    #expect(try displaced(candidate("tv", .token), mine) == 2, "rather than one that may come back")
    // Others' sessions are still connecting.
    let crowded = crowd(5, .token) + places(2, "radio", .token) + mine.suffix(2)
    #expect(refusal(candidate("another", .token), crowded) == .full)
  }

  @Test func eightPlacesAreKeptForPairedParents() throws {
    let crowded = crowd(6, .token)
    #expect(refusal(candidate("another", .token), crowded) == .full)
    #expect(refusal(candidate("another", .guest), crowded) == .full)
    #expect(try displaced(candidate("mother", .parent), crowded) == nil)
    // Guests and tokens share what is not kept.
    #expect(refusal(candidate("another", .token), crowd(3, .token) + crowd(3, .guest)) == .full)
    // Parents that are here already take nothing of what is shared.
    #expect(try displaced(candidate("another", .token), crowd(5, .token) + crowd(2, .parent)) == nil)
  }

  @Test func theSharedPlacesAreFreedByWhoeverIsNotConnected() throws {
    var crowded = crowd(6, .token)
    crowded[9].isConnected = false
    #expect(try displaced(candidate("another", .token), crowded) == 9)
    #expect(try displaced(candidate("another", .guest), crowded) == 9)
    // A token does not push out a guest.
    var guests = crowd(6, .guest)
    guests[9].isConnected = false
    #expect(refusal(candidate("another", .token), guests) == .full)
  }

  @Test func inAFullHouseAParentTakesTheNewestPlaceOfTheTokenThatHasMost() throws {
    let full =
      places(2, "few", .token) + places(4, "many", .token) + crowd(1, .guest) + crowd(5, .parent)
      + places(2, "last", .parent)
    #expect(full.count == 32)
    #expect(try displaced(candidate("mother", .parent), full) == 5)
    #expect(refusal(candidate("new", .token), full) == .full)
    #expect(refusal(candidate("new", .guest), full) == .full)
  }

  @Test func withoutTokensAGuestGivesWayToAParent() throws {
    let full = crowd(1, .guest) + crowd(7, .parent)
    #expect(try displaced(candidate("mother", .parent), full) == 3)
  }

  @Test func whoeverIsNotConnectedGivesWayBeforeWhoeverWatches() throws {
    var full = crowd(2, .token) + crowd(6, .parent)
    full[20].isConnected = false
    #expect(try displaced(candidate("mother", .parent), full) == 20)
  }

  @Test func aHouseFullOfParentsIsFull() {
    #expect(refusal(candidate("aunt", .parent), crowd(8, .parent)) == .full)
  }
}
