import Wire

/// The negotiated ids of the header extensions we know; nil for those not negotiated. RFC 8285 section 5.
public struct RTPExtensionIDs: Hashable, Sendable {
  public var mid: UInt8?
  public var transportSequenceNumber: UInt8?
  public var absoluteSendTime: UInt8?
  public var absoluteCaptureTime: UInt8?
  public var playoutDelay: UInt8?

  public init(
    mid: UInt8? = nil, transportSequenceNumber: UInt8? = nil, absoluteSendTime: UInt8? = nil,
    absoluteCaptureTime: UInt8? = nil, playoutDelay: UInt8? = nil
  ) {
    self.mid = mid
    self.transportSequenceNumber = transportSequenceNumber
    self.absoluteSendTime = absoluteSendTime
    self.absoluteCaptureTime = absoluteCaptureTime
    self.playoutDelay = playoutDelay
  }
}

/// When the first sample of a frame was captured. "Absolute Capture Time", webrtc.org/experiments/rtp-hdrext.
public struct AbsoluteCaptureTime: Hashable, Sendable {
  /// NTP time (32.32) on the capturing system's clock.
  public var ntpTime: UInt64
  /// Signed 32.32 seconds from the capturer's clock to the sender's, where the sender knows it.
  public var clockOffset: Int64?

  public init(ntpTime: UInt64, clockOffset: Int64? = nil) {
    self.ntpTime = ntpTime
    self.clockOffset = clockOffset
  }
}

/// The sender's limits for the delay from capture to rendering. "Playout Delay", webrtc.org/experiments/rtp-hdrext.
public struct PlayoutDelay: Hashable, Sendable {
  /// Units of 10 ms, 0...4095.
  public var minimum: UInt16
  public var maximum: UInt16

  public init(minimum: UInt16, maximum: UInt16) {
    self.minimum = Swift.min(minimum, 4095)
    self.maximum = Swift.min(maximum, 4095)
  }

  /// Show each frame as soon as it can be decoded, and none later than 400 ms after its capture.
  ///
  /// libwebrtc renders without smoothing while the minimum is 0 and the maximum at most 500 ms (timing.cc,
  /// `UseLowLatencyRendering`). A maximum of 0 means the same, but then a frame that waited for a retransmission counts
  /// as late and is dropped once a newer one can be decoded (frame_decode_timing.cc).
  public static let live = PlayoutDelay(minimum: 0, maximum: 40)

  /// Wait for packets that were lost: 150 ms suffice for a retransmission of a retransmission on a home network.
  public static let patient = PlayoutDelay(minimum: 15, maximum: 40)

  /// Wait for one retransmission, but no longer than `patient`. The next picture shows that the last packet of one is
  /// missing, a thirtieth of a second later; the rest of the 60 ms is for sending and decoding.
  public static func awaitingRetransmission(roundTrip: Duration) -> PlayoutDelay {
    let milliseconds = 60 + max(0, roundTrip.nanoseconds / 1_000_000)
    return PlayoutDelay(minimum: UInt16(min((milliseconds + 9) / 10, Int64(patient.minimum))), maximum: patient.maximum)
  }
}

/// The header extensions of one packet as values; nil for those absent.
public struct RTPHeaderExtensions: Hashable, Sendable {
  /// RFC 9143 section 15, at most 255 bytes.
  public var mid: String?
  public var transportSequenceNumber: UInt16?
  /// Seconds as 6.18 fixed point in 24 bits, on the sender's clock.
  public var absoluteSendTime: UInt32?
  public var absoluteCaptureTime: AbsoluteCaptureTime?
  public var playoutDelay: PlayoutDelay?

  public init() {}

  /// Reads the elements listed in `ids` that have a valid length; of duplicates, the first counts.
  public init(parsing block: RTPHeaderExtensionBlock, ids: RTPExtensionIDs) {
    for element in block.elements {
      var reader = ByteReader(element.data)
      switch element.id {
      case ids.mid where mid == nil:
        mid = String(validating: element.data, as: UTF8.self)
      case ids.transportSequenceNumber where transportSequenceNumber == nil:
        transportSequenceNumber = try? reader.readUInt16()
      case ids.absoluteSendTime where absoluteSendTime == nil:
        absoluteSendTime = try? reader.readUInt24()
      case ids.absoluteCaptureTime where absoluteCaptureTime == nil:
        guard let time = try? reader.readUInt64() else { continue }
        let offset = (try? reader.readUInt64()).map { Int64(bitPattern: $0) }
        absoluteCaptureTime = AbsoluteCaptureTime(ntpTime: time, clockOffset: offset)
      case ids.playoutDelay where playoutDelay == nil:
        guard let value = try? reader.readUInt24() else { continue }
        playoutDelay = PlayoutDelay(
          minimum: UInt16(truncatingIfNeeded: value >> 12), maximum: UInt16(truncatingIfNeeded: value & 0xfff))
      default:
        continue
      }
    }
  }
}

extension RTPHeaderExtensions {
  enum Form { case oneByte, twoByte }

  /// The form needed for the extensions to write; nil if there are none.
  func form(ids: RTPExtensionIDs) -> Form? {
    var highest: UInt8 = 0
    if let id = ids.mid, let mid, !mid.isEmpty { highest = mid.utf8.count > 16 ? .max : id }
    if let id = ids.transportSequenceNumber, transportSequenceNumber != nil { highest = max(highest, id) }
    if let id = ids.absoluteSendTime, absoluteSendTime != nil { highest = max(highest, id) }
    if let id = ids.absoluteCaptureTime, absoluteCaptureTime != nil { highest = max(highest, id) }
    if let id = ids.playoutDelay, playoutDelay != nil { highest = max(highest, id) }
    // RFC 8285 section 4.2: identifiers 1...14 and 1...16 bytes are what the one-byte form can carry.
    return highest == 0 ? nil : highest <= 14 ? .oneByte : .twoByte
  }

  func write(to writer: inout ByteWriter, ids: RTPExtensionIDs, form: Form) {
    writer.write(form == .oneByte ? RTPHeaderExtensionBlock.oneByteProfile : RTPHeaderExtensionBlock.twoByteProfile)
    let lengthOffset = writer.count
    writer.write(UInt16(0))
    if let id = ids.mid, let mid, !mid.isEmpty {
      let count = min(mid.utf8.count, 255)
      Self.writeHead(to: &writer, id: id, count: count, form: form)
      writer.write(contentsOf: mid.utf8.prefix(count))
    }
    if let id = ids.transportSequenceNumber, let transportSequenceNumber {
      Self.writeHead(to: &writer, id: id, count: 2, form: form)
      writer.write(transportSequenceNumber)
    }
    if let id = ids.absoluteSendTime, let absoluteSendTime {
      Self.writeHead(to: &writer, id: id, count: 3, form: form)
      writer.write24(absoluteSendTime)
    }
    if let id = ids.playoutDelay, let playoutDelay {
      Self.writeHead(to: &writer, id: id, count: 3, form: form)
      writer.write24(UInt32(playoutDelay.minimum & 0xfff) << 12 | UInt32(playoutDelay.maximum & 0xfff))
    }
    if let id = ids.absoluteCaptureTime, let absoluteCaptureTime {
      Self.writeHead(to: &writer, id: id, count: absoluteCaptureTime.clockOffset == nil ? 8 : 16, form: form)
      writer.write(absoluteCaptureTime.ntpTime)
      if let offset = absoluteCaptureTime.clockOffset { writer.write(UInt64(bitPattern: offset)) }
    }
    let count = writer.count - lengthOffset - 2
    writer.write(zeros: (4 - count % 4) % 4)
    writer.patch(UInt16((count + 3) / 4), at: lengthOffset)
  }

  private static func writeHead(to writer: inout ByteWriter, id: UInt8, count: Int, form: Form) {
    switch form {
    case .oneByte:
      writer.write(id << 4 | UInt8(truncatingIfNeeded: count - 1))
    case .twoByte:
      writer.write(id)
      writer.write(UInt8(truncatingIfNeeded: count))
    }
  }
}
