internal import COpenSSL

/// Owns a memory BIO, for PEM in and out. OpenSSL wipes it when it is freed.
struct MemoryBIO: ~Copyable {
  let pointer: OpaquePointer

  /// An empty BIO for writing.
  init() {
    guard let pointer = BIO_new(BIO_s_mem()) else { preconditionFailure("memory for a buffer") }
    self.pointer = pointer
  }

  /// A BIO from which `text` is read.
  init(_ text: String) {
    self.init()
    let bytes = Array(text.utf8)
    var written = 0
    let done = BIO_write_ex(pointer, bytes, bytes.count, &written)
    precondition(bytes.isEmpty || done == 1 && written == bytes.count, "memory for a buffer")
  }

  deinit {
    BIO_free(pointer)
  }

  /// Bytes written and not yet read.
  var text: String {
    var bytes: UnsafePointer<UInt8>?
    let count = copenssl_bio_memory(pointer, &bytes)
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
