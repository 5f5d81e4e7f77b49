import CSndfile
import Glibc
import Testing

/// Writes the files that the tests read, with the same library.
enum SoundFileWriter {
  enum Format: String, CaseIterable {
    case wav, flac, opus, ogg, mp3

    var code: Int32 {
      switch self {
      case .wav: Int32(SF_FORMAT_WAV | SF_FORMAT_FLOAT)
      case .flac: Int32(SF_FORMAT_FLAC | SF_FORMAT_PCM_16)
      case .opus: Int32(SF_FORMAT_OGG | SF_FORMAT_OPUS)
      case .ogg: Int32(SF_FORMAT_OGG | SF_FORMAT_VORBIS)
      case .mp3: Int32(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III)
      }
    }
  }

  private typealias Open = @convention(c) (UnsafePointer<CChar>, Int32, UnsafeMutablePointer<SF_INFO>) -> OpaquePointer?
  private typealias Write = @convention(c) (OpaquePointer, UnsafePointer<Float>, sf_count_t) -> sf_count_t
  private typealias Close = @convention(c) (OpaquePointer) -> Int32

  /// `samples` has `channels` for each frame.
  static func write(
    _ samples: [Float], to path: String, _ format: Format, sampleRate: Int, channels: Int = 1
  ) throws {
    let library = try #require(dlopen("libsndfile.so.1", RTLD_NOW))
    defer { dlclose(library) }
    let open = unsafeBitCast(try #require(dlsym(library, "sf_open")), to: Open.self)
    let write = unsafeBitCast(try #require(dlsym(library, "sf_writef_float")), to: Write.self)
    let close = unsafeBitCast(try #require(dlsym(library, "sf_close")), to: Close.self)
    var info = SF_INFO()
    info.samplerate = Int32(sampleRate)
    info.channels = Int32(channels)
    info.format = format.code
    let file = try #require(open(path, Int32(SFM_WRITE), &info))
    _ = write(file, samples, sf_count_t(samples.count / channels))
    _ = close(file)
  }

  /// A sine at -12 dBFS on the left, silence on the right if there is one.
  static func tone(hertz: Double, seconds: Double, sampleRate: Int, channels: Int) -> [Float] {
    (0..<Int(seconds * Double(sampleRate))).flatMap { frame in
      let value = Float(0.25 * sin(2 * .pi * hertz * Double(frame) / Double(sampleRate)))
      return [value] + [Float](repeating: 0, count: channels - 1)
    }
  }
}

/// A directory for one test.
final class SoundFolder {
  let path: String

  init() {
    path = "/tmp/cradle-sound-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    mkdir(path, 0o700)
  }

  deinit {
    guard let directory = opendir(path) else { return }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      unlink("\(path)/\(name)")
    }
    closedir(directory)
    rmdir(path)
  }

  func write(_ bytes: [UInt8], to name: String) {
    let file = fopen("\(path)/\(name)", "we")!
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  func bytes(of name: String) -> [UInt8] {
    guard let file = fopen("\(path)/\(name)", "re") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
  }
}
