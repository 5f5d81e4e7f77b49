import Codecs
import Foundation
import Frames
import Testing
import Wire

@testable import Pipelines

@Suite struct NarrowSoundTests {
  /// A tone of 440 Hz.
  private static func block(_ index: Int) -> AudioBlock {
    let samples = (0..<960).map { sample in
      Int16(8000 * sin(2 * Double.pi * 440 * Double(index * 960 + sample) / 48_000))
    }
    return AudioBlock(
      samples: samples, captureTime: .zero + .milliseconds(20 * index), samplePosition: UInt64(index * 960))
  }

  @Test func threeBlocksAreOnePacketOfTheirLengthAndOfAFewBytes() throws {
    let sound = try NarrowSound()
    let decoder = try OpusDecoder()
    var packets: [EncodedAudioPacket] = []
    for index in 0..<150 {
      #expect(sound.beginsPacket(with: Self.block(index)) == (index % 3 == 0))
      if let packet = try sound.add(Self.block(index)) { packets.append(packet) }
    }
    let positions = (0..<50).map { UInt64($0 * 3 * 960) }
    #expect(packets.map(\.samplePosition) == positions)
    #expect(packets.allSatisfy { $0.rendition == .narrow })
    #expect(packets[10].captureTime == .zero + .milliseconds(600))
    let bytes = packets.dropFirst(5).map(\.data.count).reduce(0, +)
    let bitsPerSecond = Double(bytes) * 8 / (45 * 0.06)
    #expect(bitsPerSecond < 20_000)
    let decoded = try packets.map { try decoder.decode($0.data) }
    #expect(decoded.allSatisfy { $0.count == 2880 })
    let squares = decoded[40].map { Double($0) * Double($0) }
    // The tone's is 5657.
    let rms = (squares.reduce(0, +) / 2880).squareRoot()
    #expect((5000..<6300).contains(rms))
  }

  @Test func blocksBeforeAGapAreLeftOut() throws {
    let sound = try NarrowSound()
    #expect(try sound.add(Self.block(0)) == nil)
    #expect(try sound.add(Self.block(1)) == nil)
    #expect(sound.beginsPacket(with: Self.block(5)))
    #expect(try sound.add(Self.block(5)) == nil)
    #expect(try sound.add(Self.block(6)) == nil)
    #expect(try sound.add(Self.block(7))?.samplePosition == 5 * 960)
  }
}
