import Foundation

/// The input that is being run, in a mapped file: it is there when the process is not any more.
struct LastInput {
  private static let mostBytes = 1 << 20
  /// Two numbers of 8 bytes, in the machine's order.
  private static let headerBytes = 16
  private let memory: UnsafeMutableRawPointer
  private var count: UInt64 = 0

  /// The file holds how many inputs there were, the length of this one, and the input.
  init(path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0, ftruncate(descriptor, off_t(Self.mostBytes + Self.headerBytes)) == 0,
      let memory = mmap(nil, Self.mostBytes + Self.headerBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { throw Misuse(text: "\(path) cannot be written") }
    close(descriptor)
    self.memory = memory
  }

  mutating func keep(_ input: [UInt8]) {
    let length = min(input.count, Self.mostBytes)
    count += 1
    memory.storeBytes(of: count, as: UInt64.self)
    memory.storeBytes(of: UInt64(length), toByteOffset: 8, as: UInt64.self)
    input.withUnsafeBytes {
      (memory + Self.headerBytes).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: length)
    }
  }
}
