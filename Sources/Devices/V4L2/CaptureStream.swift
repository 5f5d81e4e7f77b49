internal import CLinux
internal import Frames
internal import Glibc
internal import Wire

/// A streaming camera with its memory-mapped driver buffers. Stopped and unmapped at deinit.
struct CaptureStream: ~Copyable, Sendable {
  private let file: DeviceFile
  private var mappings: [Mapping] = []

  /// Driver memory, read only by the stream's single owner.
  private struct Mapping: @unchecked Sendable {
    let bytes: UnsafeRawBufferPointer
  }

  /// One picture; its pixels are valid until the buffer is queued again.
  struct Filled {
    let index: UInt32
    let pixels: UnsafeRawBufferPointer
    /// The driver's timestamp if it is monotonic and plausible, else the time of dequeuing.
    let captureTime: Instant
    /// Counts the sensor's pictures, including those not dequeued. Wraps.
    let sequence: UInt32
    /// The driver flagged the picture as damaged.
    let isDamaged: Bool
  }

  /// Four: one being filled, one queued, one being converted, one spare for a late thread.
  private static let wanted: UInt32 = 4

  /// Takes a device whose format is set, maps the buffers and starts streaming.
  static func begin(_ file: consuming DeviceFile) throws(DeviceError) -> CaptureStream {
    var stream = CaptureStream(file: file)
    try stream.mapBuffers()
    var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    try stream.file.require("VIDIOC_STREAMON", CLINUX_VIDIOC_STREAMON, &type)
    return stream
  }

  private init(file: consuming DeviceFile) {
    self.file = file
  }

  private mutating func mapBuffers() throws(DeviceError) {
    var request = v4l2_requestbuffers()
    request.count = Self.wanted
    request.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    request.memory = V4L2_MEMORY_MMAP.rawValue
    try file.require("VIDIOC_REQBUFS", CLINUX_VIDIOC_REQBUFS, &request)
    for index in 0..<min(request.count, 32) {
      var buffer = Self.blank(index: index)
      try file.require("VIDIOC_QUERYBUF", CLINUX_VIDIOC_QUERYBUF, &buffer)
      let address = mmap(nil, Int(buffer.length), PROT_READ, MAP_SHARED, file.descriptor, off_t(buffer.m.offset))
      guard let address, address != MAP_FAILED else { throw file.error(errno, "mmap") }
      mappings.append(Mapping(bytes: UnsafeRawBufferPointer(start: address, count: Int(buffer.length))))
      try file.require("VIDIOC_QBUF", CLINUX_VIDIOC_QBUF, &buffer)
    }
    guard mappings.count >= 2 else { throw file.error(ENOMEM, "VIDIOC_REQBUFS") }
  }

  deinit {
    var type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    _ = file.control(CLINUX_VIDIOC_STREAMOFF, &type)
    for mapping in mappings {
      munmap(UnsafeMutableRawPointer(mutating: mapping.bytes.baseAddress), mapping.bytes.count)
    }
  }

  var descriptor: Int32 { file.descriptor }

  /// For a fault that poll(2) reports but VIDIOC_DQBUF does not.
  func fault() -> DeviceError { file.error(EIO, "poll") }

  /// The oldest filled buffer; nil if none is ready.
  func dequeue() throws(DeviceError) -> Filled? {
    var buffer = Self.blank(index: 0)
    let number = file.control(CLINUX_VIDIOC_DQBUF, &buffer)
    if number == EAGAIN { return nil }
    if number != 0 { throw file.error(number, "VIDIOC_DQBUF") }
    guard mappings.indices.contains(Int(buffer.index)) else { throw file.error(EIO, "VIDIOC_DQBUF") }
    let mapping = mappings[Int(buffer.index)].bytes
    return Filled(
      index: buffer.index, pixels: UnsafeRawBufferPointer(rebasing: mapping.prefix(Int(buffer.bytesused))),
      captureTime: Self.captureTime(of: buffer, now: MonotonicClock.now), sequence: buffer.sequence,
      isDamaged: buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0 || buffer.bytesused == 0)
  }

  /// The newest filled buffer; older ones are stale and are requeued at once. Nil if none is ready.
  func dequeueNewest() throws(DeviceError) -> Filled? {
    guard var newest = try dequeue() else { return nil }
    while let next = try dequeue() {
      // An intact picture is better than a newer damaged one.
      let (kept, other) = next.isDamaged && !newest.isDamaged ? (newest, next) : (next, newest)
      try queue(other)
      newest = kept
    }
    return newest
  }

  func queue(_ filled: Filled) throws(DeviceError) {
    var buffer = Self.blank(index: filled.index)
    try file.require("VIDIOC_QBUF", CLINUX_VIDIOC_QBUF, &buffer)
  }

  private static func blank(index: UInt32) -> v4l2_buffer {
    var buffer = v4l2_buffer()
    buffer.index = index
    buffer.type = V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue
    buffer.memory = V4L2_MEMORY_MMAP.rawValue
    return buffer
  }

  private static func captureTime(of buffer: v4l2_buffer, now: Instant) -> Instant {
    guard buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK) == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC) else {
      return now
    }
    let stamp = Instant(
      nanoseconds: Int64(buffer.timestamp.tv_sec) &* 1_000_000_000 &+ Int64(buffer.timestamp.tv_usec) &* 1000)
    // Some webcams' clocks run wild: a picture is neither from the future nor older than the buffers can hold.
    return stamp > now + .milliseconds(5) || stamp < now - .seconds(10) ? now : stamp
  }
}
