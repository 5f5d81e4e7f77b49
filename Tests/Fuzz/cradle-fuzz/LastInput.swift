import Foundation

/// The input that is being run, in a mapped file: it is there when the process is not any more.
struct LastInput {
  private static let mostBytes = 1 << 20
  private let memory: UnsafeMutableRawPointer

  /// The file holds the input's length, 8 bytes in the machine's order, and the input.
  init(path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0, ftruncate(descriptor, off_t(Self.mostBytes + 8)) == 0,
      let memory = mmap(nil, Self.mostBytes + 8, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      memory != MAP_FAILED
    else { throw Misuse(text: "\(path) cannot be written") }
    close(descriptor)
    self.memory = memory
  }

  func keep(_ input: [UInt8]) {
    let count = min(input.count, Self.mostBytes)
    memory.storeBytes(of: UInt64(count), as: UInt64.self)
    input.withUnsafeBytes { (memory + 8).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(memory), byteCount: count) }
  }
}
