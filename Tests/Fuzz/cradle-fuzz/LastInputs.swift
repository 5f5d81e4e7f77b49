import Foundation

/// The input that is being run and those before it, in a mapped file: they are there when the process is not any more.
///
/// The file begins with how many inputs there were, how many places for them follow, and how many bytes one has; numbers
/// are of 8 bytes, in the machine's order. Input n is at place n mod places: its length, then its bytes.
struct LastInputs {
  static let places = 64
  private static let placeBytes = 8 + 65536
  private static let headerBytes = 24
  private let memory: UnsafeMutableRawPointer
  private var count = 0

  init(path: String) throws {
    let bytes = Self.headerBytes + Self.places * Self.placeBytes
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o644)
    guard descriptor >= 0, ftruncate(descriptor, off_t(bytes)) == 0,
      let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw Misuse(text: "\(path) cannot be written") }
    close(descriptor)
    self.memory = memory
    memory.storeBytes(of: Self.places, toByteOffset: 8, as: Int.self)
    memory.storeBytes(of: Self.placeBytes, toByteOffset: 16, as: Int.self)
  }

  mutating func keep(_ input: [UInt8]) {
    let place = memory + Self.headerBytes + count % Self.places * Self.placeBytes
    let length = min(input.count, Self.placeBytes - 8)
    count += 1
    memory.storeBytes(of: count, as: Int.self)
    place.storeBytes(of: length, as: Int.self)
    input.withUnsafeBytes { if let bytes = $0.baseAddress { (place + 8).copyMemory(from: bytes, byteCount: length) } }
  }
}
