internal import CSndfile
internal import Glibc

/// libsndfile, loaded while this lives. dlopen(3) counts references; the last one unloads it.
struct SndfileLibrary: ~Copyable {
  typealias Handle = OpaquePointer
  typealias OpenDescriptor =
    @convention(c) (Int32, Int32, UnsafeMutablePointer<SF_INFO>?, Int32) -> Handle?
  typealias ReadFrames = @convention(c) (Handle?, UnsafeMutablePointer<Float>?, sf_count_t) -> sf_count_t
  typealias Seek = @convention(c) (Handle?, sf_count_t, Int32) -> sf_count_t
  typealias Close = @convention(c) (Handle?) -> Int32
  typealias GetString = @convention(c) (Handle?, Int32) -> UnsafePointer<CChar>?

  let open: OpenDescriptor
  let readFrames: ReadFrames
  let seek: Seek
  let close: Close
  let getString: GetString
  private let library: UnsafeMutableRawPointer

  /// The soname includes the ABI version, which matches the header.
  private static let name = "libsndfile.so.1"

  init() throws(SoundFileError) {
    guard let library = dlopen(Self.name, RTLD_NOW | RTLD_LOCAL) else { throw .libraryMissing }
    let names = ["sf_open_fd", "sf_readf_float", "sf_seek", "sf_close", "sf_get_string"]
    let symbols = names.compactMap { dlsym(library, $0) }
    guard symbols.count == names.count else {
      dlclose(library)
      throw .libraryMissing
    }
    self.library = library
    open = unsafeBitCast(symbols[0], to: OpenDescriptor.self)
    readFrames = unsafeBitCast(symbols[1], to: ReadFrames.self)
    seek = unsafeBitCast(symbols[2], to: Seek.self)
    close = unsafeBitCast(symbols[3], to: Close.self)
    getString = unsafeBitCast(symbols[4], to: GetString.self)
  }

  deinit {
    dlclose(library)
  }

  func text(_ string: UnsafePointer<CChar>?) -> String? {
    string.map { String(cString: $0) }
  }
}
