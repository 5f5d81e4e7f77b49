import Control
import Testing
import Wire

@testable import Monitoring
@testable import Parent

@Suite struct WatchViewTests {
  private func view(_ events: WatchEvent...) -> WatchView {
    var view = WatchView(name: "Nursery")
    for event in events { view.note(event) }
    return view
  }

  private func report(_ kind: Alarm.Kind, isAcknowledged: Bool = false) -> Alarm.Report {
    Alarm.Report(
      kind: kind, level: .alarm, since: .zero, isAcknowledged: isAcknowledged, loudness: isAcknowledged ? 0 : 0.3)
  }

  @Test func everyKeyHasItsMeaning() {
    for key in WatchKey.allCases {
      #expect(!key.meaning(isHeld: true).isEmpty && !key.meaning(isHeld: false).isEmpty)
      #expect(WatchKey(rawValue: key.rawValue) == key)
    }
    #expect(WatchKey(rawValue: "x") == nil)
  }

  @Test func oneOfSeveralRoomsKeepsItsNameAndSaysWhatIsWrong() {
    var (one, other) = (
      WatchView(name: "Nursery", isOneOfSeveral: true), WatchView(name: "Nursery #2", isOneOfSeveral: true)
    )
    let hello = HelloDocument(
      name: "Nursery", id: "", version: "", capabilities: [], permissions: [], viewer: "1", state: StateDocument())
    other.note(.push(.hello(hello)))
    #expect(other.name == "Nursery #2" && other.problem == "connecting")
    for index in 0..<2 { index == 0 ? one.note(.state(.connected)) : other.note(.state(.connected)) }
    #expect(other.problem == nil && WatchRooms.answered([one, other], chosen: 0) == 0)
    var late = report(.camera)
    late.since = .zero + .seconds(9)
    one.note(.alarm(late))
    other.note(.alarm(report(.link)))
    #expect(one.problem == Alarm.Kind.camera.title && WatchRooms.answered([one, other], chosen: 0) == 1)
    other.note(.alarm(report(.link, isAcknowledged: true)))
    #expect(other.problem == "\(Alarm.Kind.link.title) (seen)" && WatchRooms.answered([one, other], chosen: 1) == 0)
    other.end = "over"
    #expect(other.problem == "nobody listens here")
  }

  @Test func steadySoundIsSaid() {
    var view = view(.state(.connected))
    #expect(!view.parts.contains("smoother sound"))
    view.isSteady = true
    #expect(view.parts.contains("smoother sound"))
  }

  @Test func whatIsKnownOfTheChildIsShownAndForgottenWithTheLink() {
    let light = LightDocument(id: "lamp", state: .on, brightness: 100, dimmable: false)
    var view = view(.state(.connected), .push(.state(StateDocument(lights: [light]))))
    #expect(view.parts.contains("lamp is on"))
    // What is not said stays as it was.
    view.note(.push(.state(StateDocument(talk: TalkDocument(holder: "Grandma", viewer: "3")))))
    #expect(view.parts.contains("lamp is on") && view.parts.contains("Grandma talks"))
    view.note(.state(.reconnecting))
    view.note(.lost("no route"))
    #expect(!view.parts.contains("lamp is on"))
    #expect(view.parts.contains("Nursery: reconnecting"))
    #expect(view.banner == WatchView.Banner(title: "Reconnecting", lines: ["no route"], isAlarm: false))
  }

  @Test func thatNoMovingPictureIsLeftIsSaidOnceAndWhenItIsBack() {
    var shortfall = PictureShortfall()
    func weak(_ rendition: PictureStep) -> WatchNotice? {
      shortfall.note(PictureDocument(rendition: rendition, reason: PictureDocument.weakConnection))
    }
    #expect(weak(.middle) == nil && weak(.low) == nil)
    #expect(weak(.stills) == WatchNotice(.trouble, "weak connection: a picture every few seconds"))
    #expect(weak(.stills) == nil && shortfall.note(nil) == nil)
    #expect(weak(.soundAlone) == WatchNotice(.trouble, "weak connection: sound alone"))
    #expect(weak(.low) == WatchNotice(.information, "the picture moves again"))
    #expect(weak(.high) == nil)
  }

  @Test(arguments: PictureStep.allCases)
  func whatAWeakConnectionLeavesOfThePictureIsSaid(_ rendition: PictureStep) {
    func beat(_ rendition: PictureStep, _ reason: String?) -> WatchEvent {
      .push(
        .heartbeat(
          HeartbeatDocument(
            time: 0, uptimeSeconds: 0,
            video: .init(
              state: .running, captured: 0, encoded: 0, keyFrames: 0, sent: 0, targetKbps: 0,
              picture: PictureDocument(rendition: rendition, reason: reason)), audio: nil)))
    }
    var view = view(.state(.connected), beat(rendition, PictureDocument.weakConnection))
    #expect(view.parts.contains { $0.hasPrefix("weak connection") } == (rendition != .high))
    #expect((view.banner != nil) == (rendition == PictureStep.soundAlone))
    view.note(beat(.soundAlone, PictureDocument.relayData))
    #expect(view.parts.contains { $0.contains("the relay's data for tonight is used up") } && view.banner != nil)
    view.note(beat(rendition, nil))
    #expect(!view.parts.contains { $0.hasPrefix("weak connection") })
    view.note(beat(.low, PictureDocument.weakConnection))
    view.note(.state(.reconnecting))
    #expect(!view.parts.contains { $0.hasPrefix("weak connection") })
  }

  @Test func anAlarmStandsBeforeEverythingUntilItIsSeen() {
    var view = view(.state(.reconnecting), .alarm(report(.link)))
    #expect(view.isRinging)
    #expect(view.banner?.title == "No contact with the camera")
    #expect(view.isOnlyListener && view.buttons.map(\.key) == [.help])
    view.note(.alarm(report(.link, isAcknowledged: true)))
    #expect(!view.isRinging && view.banner?.lines == [])
    view.note(.alarm(nil))
    #expect(view.banner?.title == "Reconnecting")
  }

  @Test func everyAlarmSaysWhatToDo() {
    for kind in Alarm.Kind.allCases { #expect(!kind.title.isEmpty && !kind.advice.isEmpty) }
  }

  @Test func aRemarkGoesByItself() {
    var view = view()
    view.say("saved", now: .zero)
    #expect(view.said(now: .zero + .seconds(5)) == "saved")
    #expect(view.said(now: .zero + .seconds(7)) == nil)
  }

  @Test func theLullabyKeyDoesWhatFits() {
    var view = view(.push(.state(StateDocument(lullaby: LullabyDocument(state: .playing, volume: 40)))))
    #expect(view.lullabyOrder is LullabyStop)
    view.note(.push(.state(StateDocument(lullaby: LullabyDocument(state: .paused, volume: 40)))))
    #expect(view.lullabyOrder is LullabyResume)
    view.note(.push(.state(StateDocument(lullaby: LullabyDocument(state: .stopped, volume: 40)))))
    #expect(view.lullabyOrder as? LullabyPlay == LullabyPlay())
  }
}
