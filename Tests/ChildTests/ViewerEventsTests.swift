import Control
import Testing
import Wire

@testable import Child

@Suite struct ViewerEventsTests {
  private let guest = ViewerEvents.Viewer(credential: .pair(id: "g"), name: "Sitter", isParent: false)
  private let parent = ViewerEvents.Viewer(credential: .pair(id: "m"), name: "Mum", isParent: true)

  private func at(_ seconds: Int) -> Instant { Instant.zero + .seconds(seconds) }

  /// Somebody joins and leaves each second for an hour.
  private func hour(_ presence: inout ViewerEvents, _ viewer: ViewerEvents.Viewer) -> [ViewerEvents.Entry] {
    var entries: [ViewerEvents.Entry] = []
    for second in 0..<3600 {
      let time = Double(second)
      entries += [presence.add(.viewerJoined, of: viewer, time: time, now: at(second))].compactMap(\.self)
      entries += [presence.add(.viewerLeft, of: viewer, cause: .left, time: time + 0.5, now: at(second))]
        .compactMap(\.self)
      entries += presence.due(now: at(second))
    }
    return entries
  }

  @Test func theFirstOnesAreEventsOfTheirOwn() {
    var presence = ViewerEvents()
    for second in 0..<ViewerEvents.lentBurst {
      let entry = presence.add(.viewerJoined, of: guest, time: Double(second), now: at(second))
      #expect(entry == .init(kind: .viewerJoined, name: "Sitter", time: Double(second)))
    }
    #expect(presence.takeAll().isEmpty && presence.due(now: at(9)).isEmpty)
  }

  @Test func thoseWhoComeAndGoAllTheTimeFillNoLogAndNothingIsLost() {
    var presence = ViewerEvents()
    let entries = hour(&presence, guest)
    #expect(entries.count <= 8 + 12 * 2 + 2, "\(entries.count)")
    let rest = presence.takeAll()
    let all = entries + rest
    for kind in [EventKind.viewerJoined, .viewerLeft] {
      #expect(all.filter { $0.kind == kind }.map { $0.count ?? 1 }.reduce(0, +) == 3600)
    }
    #expect(rest.last?.time == 3599.5, "the latest is known")
    #expect(all.contains { $0.count ?? 1 > 100 && $0.began.map { began in began < 300 } == true })
    #expect(presence.takeAll().isEmpty)
    // Others are shown by themselves meanwhile.
    _ = hour(&presence, guest)
    #expect(presence.add(.viewerJoined, of: parent, time: 0, now: at(3600)) != nil)
  }

  @Test func causesAreKeptApart() {
    var presence = ViewerEvents()
    for second in 0..<8 { _ = presence.add(.viewerJoined, of: guest, time: Double(second), now: at(second)) }
    for cause in [LeavingCause.left, .linkLost, .left] {
      #expect(presence.add(.viewerLeft, of: guest, cause: cause, time: 9, now: at(9)) == nil)
    }
    #expect(presence.add(.reconnected, of: guest, detail: "after 4 s", time: 10, now: at(10)) == nil)
    #expect(presence.add(.reconnected, of: guest, detail: "after 5 s", time: 11, now: at(11)) == nil)
    let due = presence.due(now: at(400))
    #expect(Set(due.compactMap(\.detail)) == ["left", "link-lost", "after 5 s"])
    #expect(due.last == .init(kind: .reconnected, name: "Sitter", detail: "after 5 s", time: 11, began: 10, count: 2))
  }

  @Test func manyCredentialsTakeNoMemory() {
    var presence = ViewerEvents()
    for number in 0..<2000 {
      let viewer = ViewerEvents.Viewer(credential: .token(id: "\(number)"), name: "player", isParent: false)
      for _ in 0..<10 { _ = presence.add(.viewerJoined, of: viewer, time: 1, now: at(1)) }
    }
    #expect(presence.takeAll().count <= ViewerEvents.maximumHeld)
  }

  /// What somebody does is kept apart by what it is done to; of alarms the first beginning and the last acknowledgement are kept.
  @Test func whatIsDoneToOneThingIsOneEvent() {
    var actions = ViewerEvents()
    for second in 0..<8 {
      #expect(actions.add(.light, of: guest, id: "lamp", detail: "on", time: Double(second), now: at(second)) != nil)
    }
    for second in 8..<108 {
      let id = second % 2 == 0 ? "lamp" : "door"
      #expect(actions.add(.light, of: guest, id: id, detail: "\(second)", time: Double(second), now: at(second)) == nil)
    }
    for second in 0..<3 {
      let began = Double(90 + second)
      #expect(
        actions.add(
          .alarm, of: guest, id: "link", time: 100, began: began, acknowledgedAt: second == 1 ? 95 : nil, now: at(107))
          == nil)
    }
    let rest = actions.takeAll()
    #expect(rest.count == 3, "\(rest)")
    let lamp = rest.first { $0.id == "lamp" }
    #expect(lamp == .init(kind: .light, name: "Sitter", id: "lamp", detail: "106", time: 106, began: 8, count: 50))
    let alarm = rest.first { $0.kind == .alarm }
    #expect(alarm == .init(kind: .alarm, name: "Sitter", id: "link", time: 100, began: 90, count: 3))
  }
}
