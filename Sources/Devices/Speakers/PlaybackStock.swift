internal import Sound

/// The samples queued in a ring, and how they are handed out.
struct PlaybackStock: Sendable {
  private var regulator: PlaybackRegulator
  private var fifo: SampleFIFO
  private var counts = PlaybackRing.Statistics()
  private var last: Int16 = 0
  private var isPlaying = false

  /// Length of the fade between sound and silence, in samples: 2.5 ms.
  private static let fade = 120

  /// Both in samples.
  init(target: Int, patience: Int) {
    regulator = PlaybackRegulator(target: target, patience: patience)
    fifo = SampleFIFO(capacity: regulator.capacity)
  }

  var statistics: PlaybackRing.Statistics {
    var result = counts
    result.level = fifo.count
    return result
  }

  mutating func write(_ samples: [Int16]) {
    let lost = fifo.append(samples)
    guard lost > 0 else { return }
    counts.overruns += 1
    counts.lostSamples += lost
  }

  mutating func takeExcess() -> Int? { regulator.takeExcess() }

  mutating func clear() {
    fifo.drop(fifo.count)
    isPlaying = false
    regulator.restart()
  }

  mutating func read(into samples: inout [Int16]) {
    guard isPlaying || fifo.count >= regulator.startLevel(reading: samples.count) else {
      fadeAway(&samples)
      if counts.underruns > 0 { counts.silentSamples += samples.count }
      return
    }
    if fifo.count > regulator.maximumLevel {
      jump(into: &samples)
    } else if fifo.count >= samples.count {
      follow(into: &samples)
    } else {
      return runDry(into: &samples)
    }
    if !isPlaying { Crossfade.fadeIn(&samples, 0..<min(Self.fade, samples.count)) }
    isPlaying = true
    last = samples.last ?? 0
  }

  /// A plain copy, or a few samples faster or slower.
  private mutating func follow(into samples: inout [Int16]) {
    let wanted = regulator.step(level: fifo.count, reading: samples.count)
    let step = max(-samples.count / 2, min(wanted, fifo.count - samples.count))
    fifo.read(into: &samples, from: samples.count + step)
    if step > 0 { counts.droppedSamples += step } else { counts.repeatedSamples -= step }
  }

  /// Far too much queued after a stall of the network or the speaker: crossfades to the newest sound within this block.
  private mutating func jump(into samples: inout [Int16]) {
    let excess = fifo.count - regulator.startLevel(reading: samples.count)
    var new = samples
    fifo.peek(into: &samples)
    fifo.drop(excess)
    fifo.peek(into: &new)
    fifo.drop(samples.count)
    for index in samples.indices {
      samples[index] = Crossfade.mix(samples[index], new[index], step: index, of: samples.count)
    }
    counts.overruns += 1
    counts.lostSamples += excess
    regulator.restart()
  }

  /// Plays what is left and fades to silence. Nothing more is played until the stock has built up again.
  private mutating func runDry(into samples: inout [Int16]) {
    let left = fifo.count
    if left > 0 {
      fifo.peek(into: &samples)
      fifo.drop(left)
      Crossfade.fadeOut(&samples, max(0, left - Self.fade)..<left)
      last = 0
    } else {
      fadeAway(&samples)
    }
    isPlaying = false
    regulator.restart()
    counts.underruns += 1
    counts.silentSamples += samples.count - left
  }

  /// Silence; if sound was cut off, its last sample is faded out.
  private mutating func fadeAway(_ samples: inout [Int16]) {
    for index in samples.indices {
      samples[index] = index < Self.fade ? Crossfade.mix(last, 0, step: index + 1, of: Self.fade) : 0
    }
    last = 0
  }
}
