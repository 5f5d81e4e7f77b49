import Control
import Foundation
import Monitoring
import Testing
import Wire

/// The table that the phone page's alarm is tested with, too: Tests/Fixtures/alarm-cases.json.
@Suite struct AlarmTests {
  struct Case: Decodable, CustomTestStringConvertible {
    struct Limits: Decodable {
      var picture: Bool?
      var microphone: Bool?
      var ringAtLoudness: Double?
    }

    struct Step: Decodable {
      struct Track: Decodable {
        var state: String
        var captured: UInt64
        var fault: String?
        var picture: Picture?
      }
      struct Picture: Decodable { var rendition: String }
      struct Refusal: Decodable { var reason: String? }
      struct Details: Decodable {
        var phase: String?
        var refusal: Refusal?
        var audioOnly: Bool?
        var isLent: Bool?
        var digest: String?
        var video: Track?
        var audio: Track?
        var reason: String?
        var seconds: Double?
      }
      /// Added to `captured` with each second.
      struct Rate: Decodable {
        var video: Double?
        var audio: Double?
      }

      var at: Double?
      var from: Double?
      var to: Double?
      var every: Double?
      var note: String?
      var data: Details?
      var rate: Rate?
      var acknowledge: Bool?
      var test: Bool?
    }

    struct Expectation: Decodable {
      struct Report: Decodable {
        var kind: String
        var level: String
        var since: Double?
        var acknowledged: Bool?
        var loudness: Double?
      }
      var at: Double
      var alarm: Report?
    }

    var name: String
    var limits: Limits?
    var steps: [Step]
    var expect: [Expectation]
    var testDescription: String { name }
  }

  static let cases: [Case] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/alarm-cases.json")
    let bytes = (try? Data(contentsOf: file)) ?? Data()
    return (try? JSONDecoder().decode([Case].self, from: bytes)) ?? []
  }()

  @Test func theTableIsThere() {
    #expect(Self.cases.count > 40)
  }

  @Test(arguments: cases) func theTableIsKept(_ row: Case) throws {
    var limits = Alarm.Limits()
    limits.ringsForPicture = row.limits?.picture ?? true
    limits.ringsForMicrophone = row.limits?.microphone ?? true
    limits.leastLoudness = row.limits?.ringAtLoudness ?? 0
    var alarm = Alarm(limits: limits)
    for (time, entry) in try Self.timeline(row) {
      let now = Self.instant(time)
      switch entry {
      case .note(let note): alarm.note(note, now: now)
      case .acknowledge: alarm.acknowledge(now: now)
      case .test: alarm.test(now: now)
      case .expect(let wanted):
        let report = alarm.evaluate(now: now)
        let what: Comment = "\(row.name) at \(time): \(String(describing: report))"
        #expect(report?.kind.rawValue == wanted?.kind, what)
        #expect(report?.level.rawValue == wanted?.level, what)
        if let since = wanted?.since { #expect(report?.since == Self.instant(since), what) }
        if let known = wanted?.acknowledged { #expect(report?.isAcknowledged == known, what) }
        if let loudness = wanted?.loudness { #expect(abs((report?.loudness ?? -1) - loudness) < 0.001, what) }
      }
    }
  }

  /// What `Parent` adds to the page's rules: a server of others may send a picture alone.
  @Test func soundThatNeverCameIsNotMissedWithoutHeartbeats() {
    var alarm = Alarm()
    alarm.note(.phase(.live, isAudioOnly: false), now: .zero)
    for half in 0..<40 { alarm.note(.picture(), now: Self.instant(Double(half) / 2)) }
    #expect(alarm.evaluate(now: Self.instant(20)) == nil)
  }

  private enum Entry {
    case note(Alarm.Note)
    case acknowledge, test
    case expect(Case.Expectation.Report?)
  }

  private static func instant(_ seconds: Double) -> Instant {
    .zero + .nanoseconds(Int64((seconds * 1e9).rounded()))
  }

  /// By time; at the same time in the order of the file, expectations last.
  private static func timeline(_ row: Case) throws -> [(Double, Entry)] {
    var entries: [(Double, Entry)] = []
    for step in row.steps {
      guard let first = step.from ?? step.at else { throw CocoaError(.formatting) }
      var count = 0.0
      while first + count * (step.every ?? 1) <= (step.to ?? first) + 1e-9 {
        let time = first + count * (step.every ?? 1)
        if step.acknowledge == true {
          entries.append((time, .acknowledge))
        } else if step.test == true {
          entries.append((time, .test))
        } else {
          entries.append((time, .note(try note(step, after: time - first))))
        }
        count += 1
      }
    }
    for expectation in row.expect { entries.append((expectation.at, .expect(expectation.alarm))) }
    return entries.enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }.map(\.element)
  }

  private static func note(_ step: Case.Step, after seconds: Double) throws -> Alarm.Note {
    func track(_ told: Case.Step.Track?, _ rate: Double?) throws -> Alarm.Track? {
      try told.map { told in
        Alarm.Track(
          state: try #require(.init(rawValue: told.state)), captured: told.captured + UInt64((rate ?? 0) * seconds),
          fault: told.fault.flatMap(DeviceFault.init),
          picture: (told.picture?.rendition).flatMap(PictureStep.init))
      }
    }
    let data = step.data
    switch step.note {
    case "picture": return .picture(digest: data?.digest.map { $0.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) } })
    case "sound": return .sound
    case "heartbeat":
      return .heartbeat(
        video: try track(data?.video, step.rate?.video), audio: try track(data?.audio, step.rate?.audio))
    case "hello": return .hello
    case "goodbye": return .goodbye
    case "own-sound": return .ownSound(isFaulty: ["stopped", "made-up"].contains(data?.reason))
    case "woke": return .woke(.nanoseconds(Int64((data?.seconds ?? 0) * 1e9)))
    case "phase":
      let phase: Alarm.Phase =
        switch data?.phase {
        case "connecting": .connecting
        case "live": .live
        case "reconnecting": .reconnecting
        case "stopped": .stopped
        default:
          .refused(
            isFinal: ["not-paired", "expired", "token"].contains(data?.refusal?.reason ?? ""),
            isExpected: data?.isLent == true || data?.refusal?.reason == "expired")
        }
      return .phase(phase, isAudioOnly: data?.audioOnly)
    default: throw CocoaError(.formatting)
    }
  }
}
