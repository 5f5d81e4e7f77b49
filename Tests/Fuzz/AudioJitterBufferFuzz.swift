import RTPReceiving
import TestSupport
import Wire

/// Packets and time steps into a jitter buffer: the input is a list of steps, each a byte that says what to do and some
/// bytes that say how.
enum AudioJitterBufferFuzz: FuzzBody {
  static let name = "audio-jitter-buffer"

  /// A steady stream, one with loss and copies, one with pauses and 60 ms packets, one that begins anew.
  static let seeds: [[UInt8]] = [
    repeated([0, 1, 8, 8, 0, 2, 20], 40),
    repeated([0, 1, 8, 8, 0x40, 2, 20, 0, 2, 16, 8, 0x40, 2, 40], 20),
    repeated([0, 1, 24, 0x18, 0x10, 2, 60, 0, 1, 80, 0x18, 0, 2, 200], 12),
    repeated([0, 1, 8, 8, 0, 2, 20, 6, 1, 0x10, 0, 0, 0, 0, 0, 8, 0, 4, 5, 40], 12),
    repeated([0, 1, 1, 0x80, 1, 0, 255, 255, 0x83, 3, 2, 3, 3, 4, 0], 20),
  ]

  private static func repeated(_ steps: [UInt8], _ times: Int) -> [UInt8] {
    (0..<times).flatMap { _ in steps }
  }

  static func run(_ input: [UInt8]) {
    var machine = Machine()
    var reader = ByteReader(input)
    // Each step takes a second of fake time at most, and time costs.
    var steps = 0
    while steps < 2000, (try? machine.step(&reader)) != nil { steps += 1 }
    machine.advance(milliseconds: 4000)
    precondition(machine.buffer.nextDeadline == nil, "playing ends when nothing comes")
  }

  private struct Machine {
    var buffer = AudioJitterBuffer(configuration: AudioJitterBufferConfiguration(), clockRate: 48_000)
    var now = Instant.zero
    var sequence: Int64 = 100
    var timestamp: UInt32 = 0
    var playedSamples: Int64 = 0

    mutating func step(_ reader: inout ByteReader) throws(WireError) {
      switch try reader.readUInt8() % 8 {
      case 0:
        sequence += Int64(Int8(bitPattern: try reader.readUInt8()))
        timestamp &+= UInt32(truncatingIfNeeded: Int(Int8(bitPattern: try reader.readUInt8())) * 120)
        try insert(&reader)
      case 1:
        sequence += Int64(Int16(bitPattern: try reader.readUInt16()))
        timestamp = try reader.readUInt32()
        try insert(&reader)
      case 2: advance(milliseconds: Int(try reader.readUInt8()))
      case 3: advance(milliseconds: Int(try reader.readUInt8()) * 4)
      case 4: buffer.handleTimeout(now: now - .milliseconds(Int(try reader.readUInt8())))
      case 5: buffer.setRecoveryTime(.milliseconds(Int(try reader.readUInt8())))
      case 6: buffer.reset()
      default: buffer.setRecoveryTime(nil)
      }
      check()
    }

    private mutating func insert(_ reader: inout ByteReader) throws(WireError) {
      let head = [try reader.readUInt8(), try reader.readUInt8()]
      let payload = head + Array(repeating: head[1], count: Int(head[0] & 0x7f) * 16)
      buffer.insert(payload, sequence: sequence, timestamp: timestamp, isRecovered: head[0] & 3 == 3, now: now)
    }

    mutating func advance(milliseconds: Int) {
      now += .milliseconds(milliseconds)
      buffer.handleTimeout(now: now)
      while let element = buffer.poll() {
        precondition((1...5760).contains(element.samples) && element.samples % 120 == 0, "an element has a sane length")
        playedSamples += Int64(element.samples)
      }
      if let deadline = buffer.nextDeadline { precondition(deadline > now, "what is due has been handed out") }
      check()
    }

    private func check() {
      let buffered = buffer.buffered
      precondition(buffered.packets <= 256 && buffered.bytes <= 256 * 1024, "what waits is bounded")
      precondition(buffered.packets > 0 || buffered.bytes == 0, "bytes are counted")
      precondition(buffer.currentDelay >= .zero, "what waits is not negative")
      precondition((20...500).contains(buffer.targetDelay.inMilliseconds), "the target keeps its bounds")
      precondition(
        playedSamples <= now.nanoseconds * 48 / 1_000_000 + 5760, "no more is played than time goes by")
      if let deadline = buffer.nextDeadline {
        precondition(deadline - now <= .milliseconds(620), "the next element is due soon")
      }
    }
  }
}
