import Foundation
import TestSupport
import Testing

/// Microphones that are not what they say, with the real programs.
extension RealPeers {
  @Suite struct MicrophoneTests {
    private static let configuration = """
      name: Nursery
      cameras: [{id: cot, device: test, width: 320, height: 240, framerate: 10}]
      microphone: {device: room}
      speaker: {device: "null"}
      """

    /// It takes 48,000 samples a second and delivers 16,000, with a tone of 1 kHz.
    @Test func oneOfAnotherRateIsNamedAndHeardAtItsOwnPitch() throws {
      let microphone = try FIFOMicrophone(rate: 16_000) { 0.3 * sin(2 * .pi * 1000 * Double($0) / 16_000) }
      defer { microphone.stop() }
      let file = microphone.folder.appending(path: "child.yaml")
      try Self.configuration.write(to: file, atomically: true, encoding: .utf8)
      let checked = try ChildProcess.run(
        microphone.environment,
        [
          ChildProcess.program.path, "check", "--config", file.path, "--state-directory",
          microphone.folder.appending(path: "state").path,
        ])
      let remark = /It delivers 1(5[5-9]|6[0-4])\d\d samples a second where 48000 are set; they are resampled/
      #expect(checked.output.contains(remark) && !checked.output.contains(/ok +microphone/), "\(checked)")

      let house = try Household(configuration: Self.configuration, prefix: [microphone.environment])
      try house.pair()
      var status = ""
      for _ in 0..<150 where !status.contains(remark) {
        usleep(200_000)
        status = try house.child.command(["status"]).output
      }
      #expect(status.contains(remark) && house.child.logText.contains("samples a second"), "\(house.child.logText)")
      let doctor = try house.child.command(["doctor", "--config", file.path]).output
      #expect(doctor.contains(remark), "\(doctor)")

      let heard = microphone.folder.appending(path: "heard.wav")
      let watched = try house.parent(
        "watch", "--no-window", "--speaker", "file:\(heard.path)", "--duration", "4")
      #expect(!watched.error.contains("ALARM"), "\(watched)")
      let samples = Self.samples(try Data(contentsOf: heard).dropFirst(44).suffix(2 * 48_000))
      // Pieces of 50 ms: one that is filled in does not matter.
      let levels = stride(from: 0, to: samples.count - 2400, by: 2400).map { place in
        [1000, 3000, 333.3].map { ToneDetector.level(of: samples[place..<place + 2400], hertz: $0) }
      }
      #expect(levels.count { $0[0] > -16 && $0[1] < $0[0] - 20 && $0[2] < $0[0] - 20 } > levels.count / 2, "\(levels)")
    }

    /// A gate (VOX) lets nothing through: what the sound card gets all the same is inaudible, and not zero.
    @Test func aParentsSpeakerThatSleepsInZerosStaysAwake() throws {
      let card = try FIFOMicrophone(rate: 48_000) { _ in 0 }
      defer { card.stop() }
      let house = try Household()
      try house.pair()
      let watched = try ChildProcess.run(
        card.environment,
        [
          ParentProcess.program.path, "watch", "--audio-only", "--vox", "-3", "--speaker", "box", "--duration", "3",
          "--state-directory", house.state.path,
        ])
      let samples = Self.samples((try? Data(contentsOf: card.played)) ?? Data())
      let blocks = stride(from: 0, to: samples.count - 480, by: 480).map { samples[$0..<$0 + 480] }
      #expect(blocks.count > 50 && blocks.allSatisfy { $0.contains { $0 != 0 } }, "\(watched)")
      #expect(blocks.count { $0.allSatisfy { abs(Int($0)) <= 1 } } > 50)
    }

    private static func samples(_ data: Data) -> [Int16] {
      data.withUnsafeBytes { bytes in
        stride(from: 0, to: bytes.count - 1, by: 2).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int16.self) }
      }
    }
  }
}
