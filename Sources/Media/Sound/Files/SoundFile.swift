internal import CSndfile
internal import Frames
internal import Glibc

/// A WAV, FLAC, Ogg (Opus, Vorbis) or MP3 file as a sound source, read during playback with libsndfile.
///
/// A file shorter than its header says simply ends early. Reading blocks; used from one thread at a time.
public final class SoundFile: SoundSource {
  public static let maximumBytes = 2 << 30
  /// The title in the file's metadata.
  public let title: String?
  /// Samples after conversion to 48 kHz; nil if the file does not say.
  public let length: Int?

  private let library: SndfileLibrary
  private let handle: SndfileLibrary.Handle
  private let channels: Int
  private let sampleRate: Int
  private let resampler: Resampler?
  /// One sample per frame at the file's rate; those from `inputStart` on are still unread.
  private var input: [Float] = []
  private var inputStart = 0
  private var frames: [Float]
  private var end = End.ahead

  private enum End {
    case ahead
    /// The file is at its end, and the resampler has been fed silence to flush its last samples.
    case flushed
  }

  private static let framesPerRead = 2048
  private static let channelRange = 1...8
  private static let rateRange = 4000...192_000

  public init(path: String) throws(SoundFileError) {
    let library = try SndfileLibrary()
    let descriptor = try Self.open(path)
    var info = SF_INFO()
    // From here on the library closes the descriptor, even if it rejects the file.
    guard let handle = library.open(descriptor, Int32(SFM_READ), &info, 1) else {
      throw .damaged
    }
    guard Self.channelRange.contains(Int(info.channels)), Self.rateRange.contains(Int(info.samplerate)) else {
      _ = library.close(handle)
      throw .unreadable("\(info.channels) channels at \(info.samplerate) Hz are not played")
    }
    channels = Int(info.channels)
    sampleRate = Int(info.samplerate)
    length = Self.length(of: info)
    title = library.text(library.getString(handle, Int32(SF_STR_TITLE))).flatMap { $0.isEmpty ? nil : $0 }
    frames = [Float](repeating: 0, count: Self.framesPerRead * channels)
    resampler = sampleRate == AudioFormat.sampleRate ? nil : Resampler(from: sampleRate)
    guard sampleRate == AudioFormat.sampleRate || resampler != nil else {
      _ = library.close(handle)
      throw .unreadable("no memory to convert it")
    }
    self.handle = handle
    self.library = library
  }

  deinit {
    _ = library.close(handle)
  }

  public func read(into samples: inout [Float]) -> Int {
    var count = 0
    samples.withUnsafeMutableBufferPointer { output in
      while count < output.count {
        if inputStart == input.count, !refill() { break }
        let room = UnsafeMutableBufferPointer(rebasing: output[count...])
        let step = convert(into: room)
        guard step.taken > 0 || step.given > 0 else { break }
        inputStart += step.taken
        count += step.given
      }
    }
    return count
  }

  public func seek(to position: Int) {
    let (product, isTooLarge) = max(0, position).multipliedReportingOverflow(by: sampleRate)
    let frame = isTooLarge ? .max : sf_count_t(product / AudioFormat.sampleRate)
    // The library rejects a position beyond the end and stays where it is.
    end = library.seek(handle, frame, SEEK_SET) < 0 ? .flushed : .ahead
    resampler?.reset()
    (input, inputStart) = ([], 0)
  }

  private func convert(into room: UnsafeMutableBufferPointer<Float>) -> (taken: Int, given: Int) {
    input.withUnsafeBufferPointer { input in
      let rest = UnsafeBufferPointer(rebasing: input[inputStart...])
      if let resampler { return resampler.process(rest, into: room) }
      let count = min(rest.count, room.count)
      for index in 0..<count { room[index] = rest[index] }
      return (count, count)
    }
  }

  /// False at the end.
  private func refill() -> Bool {
    guard case .ahead = end else { return false }
    inputStart = 0
    input.removeAll(keepingCapacity: true)
    let count = min(Self.framesPerRead, Int(library.readFrames(handle, &frames, sf_count_t(Self.framesPerRead))))
    guard count > 0 else {
      end = .flushed
      if let resampler { input.append(contentsOf: repeatElement(0, count: resampler.latency)) }
      return !input.isEmpty
    }
    for frame in 0..<count {
      var sum: Float = 0
      for channel in 0..<channels { sum += frames[frame * channels + channel] }
      // Files with float samples may contain anything, including infinity.
      let value = sum / Float(channels)
      input.append(value.isFinite ? min(1, max(-1, value)) : 0)
    }
    return true
  }

  private static func length(of info: SF_INFO) -> Int? {
    guard info.frames > 0 else { return nil }
    let samples = Int(info.frames).multipliedReportingOverflow(by: AudioFormat.sampleRate)
    return samples.overflow ? nil : samples.partialValue / Int(info.samplerate)
  }

  /// Opens a file that looks like one of our formats. The library reads many more, most of them little tested.
  private static func open(_ path: String) throws(SoundFileError) -> Int32 {
    // Without O_NONBLOCK opening a named pipe would wait for a writer.
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR: throw .notFound
      case EACCES, EPERM: throw .permissionDenied
      case let number: throw .io(errno: number)
      }
    }
    do throws(SoundFileError) {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw .io(errno: errno) }
      guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile }
      guard status.st_size <= maximumBytes else { throw .tooLarge }
      var start = [UInt8](repeating: 0, count: 12)
      let count = pread(descriptor, &start, start.count, 0)
      guard count >= 0 else { throw .io(errno: errno) }
      guard isKnown(start) else { throw .unknownFormat }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func isKnown(_ start: [UInt8]) -> Bool {
    func has(_ text: String, at offset: Int = 0) -> Bool { start[offset...].starts(with: text.utf8) }
    if has("RIFF") { return has("WAVE", at: 8) }
    // MP3 starts with an ID3 tag or directly with a frame: eleven one bits. ISO/IEC 11172-3 section 2.4.1.3.
    return has("fLaC") || has("OggS") || has("ID3") || (start[0] == 0xFF && start[1] & 0xE0 == 0xE0)
  }
}
