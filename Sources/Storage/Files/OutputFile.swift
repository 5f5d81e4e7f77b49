/// Output that is written piece by piece to where a person wants it.
public final class OutputFile {
  private enum Way {
    case file(PartialFile)
    case stream(OutputStream)
  }

  private let way: Way

  /// - Throws: `FileError` where the path is refused, or no file can be made.
  public init(_ output: OutputPath) throws(FileError) {
    way = try output.isStream() ? .stream(OutputStream(output)) : .file(PartialFile(path: output.path))
  }

  public func append(_ bytes: [UInt8]) throws(FileError) {
    switch way {
    case .file(let file): try file.append(bytes)
    case .stream(let stream): try stream.write(bytes)
    }
  }

  /// Everything is there: a file gets its name, in place of one that has it.
  public func finish() throws(FileError) {
    if case .file(let file) = way { try file.finish() }
  }
}
