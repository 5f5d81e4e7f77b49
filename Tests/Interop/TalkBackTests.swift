import Foundation
import Testing

/// A WHEP player that sends sound as well: talk-back.
extension RealPeers {
  @Suite struct TalkBackTests {
    /// Amplitude of 440 Hz, the viewers' voice, in what the child's speaker played; of full scale. Its loudest half second.
    private func voice(
      afterWatchingWith viewer: ViewerProgram, allow: String, arguments: [String] = ["--talk"]
    ) throws -> Double {
      let played = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString).wav")
      defer { try? FileManager.default.removeItem(at: played) }
      let child = try ChildProcess(
        configuration: ChildProcess.testConfiguration + "\nspeaker: {device: \"file:\(played.path)\"}", allow: allow)
      let (result, log) = try viewer.watch(
        "https://127.0.0.1:\(child.port)/whep", token: child.token, arguments: arguments)
      let note = Comment(rawValue: "\(result)\n\(log.suffix(1500))\n\(child.logText)")
      #expect(result.framesDecoded >= 40, note)
      #expect(abs((result.audio.toneHz ?? 0) - 1000) < 40, note)
      #expect(child.stop() == 0)
      let bytes = try Data(contentsOf: played).dropFirst(44)
      let samples = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
        Double(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32768
      }
      return stride(from: 0, to: samples.count - 24_000, by: 24_000)
        .map { Self.amplitude(of: 440, in: samples[$0..<$0 + 24_000]) }.max() ?? 0
    }

    private static func amplitude(of hertz: Double, in samples: ArraySlice<Double>) -> Double {
      let step = 2 * Double.pi * hertz / 48_000
      var (real, imaginary) = (0.0, 0.0)
      for (index, sample) in samples.enumerated() {
        real += sample * cos(step * Double(index))
        imaginary += sample * sin(step * Double(index))
      }
      return 2 * (real * real + imaginary * imaginary).squareRoot() / Double(samples.count)
    }

    @Test func whatAPlayerSaysComesOutOfTheSpeaker() throws {
      // It says -20 dB; the speaker's limit of 60 % takes some of it.
      let voice = try voice(afterWatchingWith: .aiortc, allow: "view,listen,talk")
      #expect(voice > 0.005, "\(voice)")
    }

    /// aiortc refuses an answer in which one of its sections is rejected.
    @Test(arguments: ["first", "last"]) func aMicrophoneMayHaveASectionOfItsOwn(place: String) throws {
      let voice = try voice(
        afterWatchingWith: .aiortc, allow: "view,listen,talk", arguments: ["--microphone", place])
      #expect(voice > 0.005, "\(voice)")
    }

    @Test func aPlayerThatMayNotTalkIsNotHeardButWatches() throws {
      let voice = try voice(afterWatchingWith: .aiortc, allow: "view,listen")
      #expect(voice < 0.0001, "\(voice)")
    }
  }
}
