public import Wire

/// The contents of a recording.
public struct WebMSummary: Hashable, Sendable {
  /// From the first key frame to the end of the last frame, in whole milliseconds.
  public var duration: Duration = .zero
  /// File size.
  public var bytes = 0
  public var videoFrames = 0
  public var audioPackets = 0
  /// Size of the largest picture, in pixels; 0 without pictures.
  public var width = 0
  public var height = 0
  /// How often a key frame's size differed from the one before.
  public var sizeChanges = 0

  public init() {}
}

/// Muxes VP8 and Opus into a WebM file without re-encoding (RFC 8794, RFC 9559, the WebM container guidelines).
///
/// The recording begins with the first key frame; earlier frames are dropped. Without a video track it begins with the
/// first packet. The file can be played while it grows, and stays playable if the program is killed or the disk fills
/// up; `finish` adds the duration and the cues. Players seek to key frames: request one every few seconds while
/// recording.
///
/// Synchronous; blocks on file I/O; used from one thread at a time. Memory is bounded: half a second of frames and 8192
/// cues.
public final class WebMWriter {
  private enum State {
    case waiting(BlockInterleaver)
    case recording(BlockInterleaver, WebMSegment)
    case ended(WebMSummary)
  }

  private let file: any WebMFile
  private let tracks: WebMTracks
  private let startedAt: (@Sendable () -> Int64)?
  private var state: State

  /// `unixTime` returns the wall clock in nanoseconds since 1970, called when the recording begins; without it the file
  /// has no date.
  public init(file: any WebMFile, tracks: WebMTracks = WebMTracks(), unixTime: (@Sendable () -> Int64)? = nil) {
    self.file = file
    self.tracks = tracks
    startedAt = unixTime
    state = .waiting(BlockInterleaver(tracks: tracks))
  }

  /// What has been written so far, without frames held back for the other track.
  public var summary: WebMSummary {
    switch state {
    case .waiting: WebMSummary()
    case .recording(_, let segment): segment.summary
    case .ended(let summary): summary
    }
  }

  /// False until the first key frame.
  public var hasBegun: Bool {
    if case .waiting = state { false } else { true }
  }

  /// True after `finish` and after a failure; nothing more is written then.
  public var hasEnded: Bool {
    if case .ended = state { true } else { false }
  }

  /// Writes a complete VP8 frame with its capture time. Anything else is ignored.
  ///
  /// Throws once, when the file cannot grow. The recording has then ended, with everything so far intact.
  public func write(video frame: [UInt8], at time: Instant) throws(WebMError) {
    guard tracks.hasVideo, let header = VP8FrameHeader(frame), header.keyFrameSize?.area != 0 else { return }
    try write(WebMBlock(content: .video(header), time: time, data: frame))
  }

  /// Writes an Opus packet with its capture time. Anything else is ignored. Throws as for pictures.
  public func write(audio packet: [UInt8], at time: Instant) throws(WebMError) {
    guard tracks.audioChannels != nil, let nanoseconds = OpusDuration.nanoseconds(of: packet) else { return }
    try write(WebMBlock(content: .audio(nanoseconds: nanoseconds), time: time, data: packet))
  }

  /// Ends the recording and waits until it is on disk. Idempotent; a recording that never began leaves an empty file.
  @discardableResult
  public func finish() throws(WebMError) -> WebMSummary {
    guard case .recording(var interleaver, var segment) = state else {
      state = .ended(summary)
      return summary
    }
    state = .ended(segment.summary)
    do throws(WebMError) {
      while let block = interleaver.next(flushing: true) { try segment.write(block) }
      try segment.finish()
    } catch {
      segment.salvage()
      state = .ended(segment.summary)
      throw error
    }
    state = .ended(segment.summary)
    return segment.summary
  }

  private func write(_ block: WebMBlock) throws(WebMError) {
    switch state {
    case .ended: return
    case .waiting(var interleaver):
      let picture: PictureSize?
      switch block.content {
      case .video(let header): picture = header.keyFrameSize
      case .audio: picture = nil
      }
      guard picture != nil || !tracks.hasVideo else {
        if !block.isVideo { _ = interleaver.add(block) }
        state = .waiting(interleaver)
        return
      }
      interleaver.begin(at: block.time)
      _ = interleaver.add(block)
      // A failure before the header is written leaves nothing.
      state = .ended(WebMSummary())
      var segment = try WebMSegment(
        file: file, tracks: tracks, picture: picture, start: block.time, startedAt: startedAt?())
      try write(from: &interleaver, to: &segment)
    case .recording(var interleaver, var segment):
      // Release the state's copy; otherwise adding to the queues would copy them.
      state = .ended(segment.summary)
      _ = interleaver.add(block)
      try write(from: &interleaver, to: &segment)
    }
  }

  private func write(from interleaver: inout BlockInterleaver, to segment: inout WebMSegment) throws(WebMError) {
    do throws(WebMError) {
      while let block = interleaver.next() { try segment.write(block) }
    } catch {
      segment.salvage()
      state = .ended(segment.summary)
      throw error
    }
    state = .recording(interleaver, segment)
  }
}
