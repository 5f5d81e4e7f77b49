internal import Codecs
internal import Storage

/// Where `WatchOptions.recording` goes.
enum RecordingOutput {
  /// A new file, or what is written through.
  static func open(_ path: String) throws(ParentError) -> any WebMFile {
    do {
      let output = OutputPath(path)
      return try output.isStream() ? RecordingStream(output) : WebMDiskFile(path: path)
    } catch let error as FileError {
      throw ParentError("\(error)")
    } catch {
      throw ParentError("cannot record to \(path): \(error)")
    }
  }
}

/// A recording through a pipe, a FIFO, a device or standard output.
final class RecordingStream: WebMFile {
  private let stream: OutputStream

  /// A reader that takes nothing does not hold up the end of the command longer than this.
  private static let patienceMilliseconds: Int64 = 1000

  init(_ output: OutputPath) {
    stream = OutputStream(output)
  }

  var isSeekable: Bool { false }

  func append(_ bytes: [UInt8]) throws(WebMError) {
    do throws(FileError) {
      try stream.write(bytes)
    } catch {
      throw .stream(reason: "\(error)")
    }
  }

  func overwrite(_ bytes: [UInt8], at offset: Int) {
    preconditionFailure("a stream is never overwritten: isSeekable")
  }

  func truncate(to count: Int) {
    preconditionFailure("a stream is never truncated: isSeekable")
  }

  func synchronize() {}

  func hurry() { stream.giveUp(afterMilliseconds: Self.patienceMilliseconds) }
}
