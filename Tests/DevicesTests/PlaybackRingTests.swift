import Testing

@testable import Devices

struct PlaybackRingTests {
  private func read(_ ring: PlaybackRing, _ count: Int = 480) -> [Int16] {
    var samples = [Int16](repeating: -1, count: count)
    ring.read(into: &samples)
    return samples
  }

  /// Neighbours differ by no more than a click would not.
  private func isSmooth(_ samples: [Int16], step: Int) -> Bool {
    zip(samples, samples.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= step }
  }

  @Test func soundComesOutAsItCameInOnceThereIsAStock() {
    let ring = PlaybackRing(target: .milliseconds(20))
    ring.write([Int16](1...960))
    #expect(read(ring).allSatisfy { $0 == 0 })
    ring.write([Int16](961...1920))
    let sound = (0..<4).flatMap { _ in read(ring) }
    #expect(Array(sound[120...]) == Array(121...1920))
    #expect(isSmooth(Array(sound[..<121]), step: 5))
    #expect(ring.statistics.underruns == 0 && ring.statistics.silentSamples == 0 && ring.statistics.level == 0)
  }

  @Test func aProducerThatStopsIsFollowedBySilenceAndBeginsAnew() {
    let ring = PlaybackRing()
    ring.write([Int16](repeating: 6000, count: 2100))
    var sound = (0..<20).flatMap { _ in read(ring) }
    #expect(sound.suffix(480 * 14).allSatisfy { $0 == 0 } && isSmooth(sound, step: 51))
    #expect(ring.statistics.underruns == 1)
    #expect(ring.statistics.silentSamples == 20 * 480 - 2100)
    ring.write([Int16](repeating: 6000, count: 1900))
    #expect(read(ring).allSatisfy { $0 == 0 })
    ring.write([Int16](repeating: 6000, count: 500))
    sound = (0..<5).flatMap { _ in read(ring) }
    #expect(sound.contains(6000) && isSmooth(sound, step: 51))
  }

  @Test func soundThatEndsWithABlockFadesToo() {
    let ring = PlaybackRing()
    ring.write([Int16](repeating: 6000, count: 1920))
    let sound = (0..<6).flatMap { _ in read(ring) }
    #expect(isSmooth(sound, step: 51) && sound.last == 0)
  }

  @Test func anOwnerThatDoesNotReadLosesTheOldest() {
    let ring = PlaybackRing()
    for _ in 0..<200 { ring.write([Int16](repeating: 1, count: 960)) }
    let before = ring.statistics
    #expect(before.level <= 48_000 && before.overruns > 0)
    #expect(before.level + before.lostSamples == 200 * 960)
  }

  @Test func aBurstIsJumpedOverWithoutAClick() {
    let ring = PlaybackRing()
    ring.write((0..<1920).map { Int16($0) })
    var sound = read(ring)
    ring.write((1920..<15_000).map { Int16($0) })
    sound += read(ring) + read(ring)
    let statistics = ring.statistics
    #expect(statistics.overruns == 1 && statistics.lostSamples > 11_000 && statistics.level < 1920)
    // 12 000 within 480 samples.
    #expect(isSmooth(sound, step: 40))
  }

  @Test func clearingLetsEverythingGo() {
    let ring = PlaybackRing()
    ring.write([Int16](repeating: 9, count: 4000))
    ring.clear()
    #expect(read(ring).allSatisfy { $0 == 0 } && ring.statistics.level == 0)
  }

  @Test func moreSamplesThanItHoldsAreTheNewest() {
    let ring = PlaybackRing()
    ring.write((0..<100_000).map { Int16(truncatingIfNeeded: $0) })
    #expect(ring.statistics.level < 48_000)
    let sound = (0..<4).flatMap { _ in read(ring) }
    #expect(sound.last == Int16(truncatingIfNeeded: 99_999))
  }

  @Test func stretchedSoundKeepsItsShape() {
    for length in [476, 479, 481, 484] {
      var fifo = SampleFIFO(capacity: 5000)
      #expect(fifo.append((0..<4000).map { Int16($0) }) == 0)
      var sound: [Int16] = []
      for _ in 0..<8 {
        var part = [Int16](repeating: 0, count: 480)
        fifo.read(into: &part, from: length)
        sound += part
      }
      #expect(fifo.count == 4000 - 8 * length)
      // A ramp stays a ramp across the blocks, as steep as it is fast.
      let steps = zip(sound, sound.dropFirst()).map { Int($1) - Int($0) }
      #expect(steps.allSatisfy { (0...2).contains($0) } && abs(Int(sound.last ?? 0) - 8 * length) <= 2)
    }
  }

  @Test func writersAndReadersMayBeOnAnyThread() async {
    let ring = PlaybackRing()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<200 { ring.write([Int16](repeating: 5, count: 97)) } }
        group.addTask {
          var samples = [Int16](repeating: 0, count: 480)
          for _ in 0..<50 { ring.read(into: &samples) }
        }
      }
    }
    #expect(ring.statistics.level <= 48_000)
  }
}
