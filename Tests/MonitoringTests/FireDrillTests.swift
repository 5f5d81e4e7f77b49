import Control
import Monitoring
import Testing
import Wire

@Suite struct FireDrillTests {
  private static let mum = FireDrill.Parent(id: "m", name: "Mum", stages: [.link, .camera, .microphone])
  private static let radio = FireDrill.Parent(id: "r", name: "Radio", stages: [.link, .microphone])

  /// A drill with a clock of tenths of a second.
  private struct Lab {
    var drill: FireDrill
    var now = Instant.zero
    var present: Set<String> = ["m", "r"]

    init(_ stages: [FireDrill.Stage] = FireDrill.Stage.allCases, parents: [FireDrill.Parent] = [mum, radio]) {
      drill = FireDrill(number: 1, stages: stages, parents: parents, now: .zero)
    }

    mutating func run(_ seconds: Double) {
      for _ in 0..<Int(seconds * 10) {
        now += .milliseconds(100)
        _ = drill.handleTimeout(now: now, present: present)
      }
    }
  }

  @Test func eachStageIsWithheldUntilEachParentHasAcknowledgedIt() {
    var lab = Lab()
    // People are told first.
    #expect(lab.drill.withheld(from: "m") == nil && lab.drill.stage == .link)
    lab.run(4)
    #expect(lab.drill.withheld(from: "m") == .link && lab.drill.withheld(from: "r") == .link)
    #expect(lab.drill.withheld(from: "stranger") == nil)
    lab.run(4)
    lab.drill.rang("link", isAcknowledged: true, at: "m")
    #expect(lab.drill.withheld(from: "m") == nil && lab.drill.withheld(from: "r") == .link)
    lab.drill.rang("link", isAcknowledged: true, at: "r")
    lab.run(7)
    // A radio has no picture to miss.
    #expect(lab.drill.withheld(from: "m") == .camera && lab.drill.withheld(from: "r") == nil)
    lab.drill.rang("frozen-picture", isAcknowledged: true, at: "m")
    lab.run(7)
    #expect(lab.drill.withheld(from: "m") == .microphone && lab.drill.withheld(from: "r") == .microphone)
    lab.drill.rang("microphone", isAcknowledged: true, at: "m")
    lab.drill.rang("digital-silence", isAcknowledged: true, at: "r")
    lab.run(7)
    #expect(lab.drill.isOver && lab.drill.isPassed && lab.drill.stage == nil)
    #expect(
      lab.drill.results == [
        .init(name: "Mum", link: .acknowledged, camera: .acknowledged, microphone: .acknowledged),
        .init(name: "Radio", link: .acknowledged, microphone: .acknowledged),
      ])
  }

  @Test func whoDoesNotRingOrIsNotHeardFails() {
    var lab = Lab([.microphone])
    lab.run(34)
    // It rang, nobody came, and it is told when it is over.
    lab.drill.rang("microphone", isAcknowledged: false, at: "m")
    lab.run(6)
    #expect(lab.drill.isOver && !lab.drill.isPassed)
    #expect(lab.drill.results == [.init(name: "Mum", microphone: .rang), .init(name: "Radio", microphone: .silent)])
  }

  @Test func realAlarmsAreNotTheDrillsAndWhoLeftIsNamed() {
    var lab = Lab([.link])
    lab.drill.rang("link", isAcknowledged: true, at: "m")
    lab.run(4)
    lab.drill.rang("microphone", isAcknowledged: true, at: "m")
    lab.present = ["m"]
    lab.run(40)
    #expect(lab.drill.isOver)
    #expect(lab.drill.results == [.init(name: "Mum", link: .silent), .init(name: "Radio", link: .left)])
  }

  private static let guest = FireDrill.Parent(
    id: "g", name: "Sitter", stages: [.link, .camera, .microphone], isRequired: false)

  @Test func aGuestTakesPartAndFailsNothing() {
    for rings in [false, true] {
      var lab = Lab([.link], parents: [Self.guest, Self.radio])
      lab.present = ["g", "r"]
      lab.run(4)
      #expect(lab.drill.withheld(from: "g") == .link)
      lab.drill.rang("link", isAcknowledged: false, at: "g")
      if rings { lab.drill.rang("link", isAcknowledged: true, at: "g") }
      lab.drill.rang("link", isAcknowledged: true, at: "r")
      lab.run(1)
      #expect(lab.drill.withheld(from: "g") == nil, "nobody waits for it")
      lab.run(7)
      #expect(lab.drill.isOver && lab.drill.isPassed)
      let radio = DrillDocument.Parent(name: "Radio", link: .acknowledged)
      #expect(lab.drill.results == (rings ? [.init(name: "Sitter", link: .acknowledged), radio] : [radio]))
    }
    // Its acknowledgement is not the family's, and a drill for it alone is none.
    var lab = Lab([.link], parents: [Self.guest, Self.radio])
    lab.run(4)
    lab.drill.rang("link", isAcknowledged: true, at: "g")
    lab.run(40)
    #expect(lab.drill.isOver && !lab.drill.isPassed)
    #expect(Lab(parents: [Self.guest]).drill.stage == nil)
  }

  @Test func itEndsWithinItsLimitWhateverHappens() {
    for stages in [[FireDrill.Stage.link], [.link, .camera], FireDrill.Stage.allCases] {
      var lab = Lab(stages)
      lab.run(FireDrill.limit(stages: stages.count).inSeconds + 1)
      #expect(lab.drill.isOver)
      #expect(lab.drill.withheld(from: "m") == nil)
    }
  }

  @Test func stagesThatConcernNobodyAreLeftOut() {
    #expect(Lab([.camera], parents: [Self.radio]).drill.stage == nil)
    #expect(Lab(parents: []).drill.stage == nil)
    #expect(Lab([.camera, .link], parents: [Self.radio]).drill.stage == .link)
  }
}
