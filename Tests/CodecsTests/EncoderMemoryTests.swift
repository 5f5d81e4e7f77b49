import Frames
import Glibc
import Testing

@testable import Codecs

@Suite struct EncoderMemoryTests {
  @Test func aPeepholeSeesWhatIsMappedAndNothingElse() throws {
    let pageSize = Int(getpagesize())
    let mapped = mmap(nil, pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    try #require(mapped != MAP_FAILED)
    let memory = mapped!
    memory.storeBytes(of: 7, toByteOffset: 64, as: UInt.self)
    memory.storeBytes(of: 9, toByteOffset: 72, as: UInt.self)
    guard let peephole = MemoryPeephole() else { return #expect(Bool(false), "no descriptor left") }
    let address = Int(bitPattern: memory)
    let seen = peephole.words(at: address + 64)
    #expect(seen?.0 == 7 && seen?.1 == 9)
    munmap(memory, pageSize)
    let (gone, never) = (peephole.words(at: address + 64), peephole.words(at: 0))
    #expect(gone == nil && never == nil)
  }

  /// Room for all tokens that a picture can have, which libvpx clears, would be 22 MB of it.
  @Test func whatAnEncoderClearsAndDoesNotUseIsGivenBack() throws {
    let tokens = 22_000_000
    let before = Self.anonymousBytes()
    let encoder = try VP8Encoder(configuration: VP8EncoderConfiguration(width: 1280, height: 720))
    #expect(Self.anonymousBytes() - before < tokens / 2)
    withExtendedLifetime(encoder) {}
  }

  private static func anonymousBytes() -> Int {
    MemoryMapping.current().filter { !$0.isFile }.map(\.ownBytes).reduce(0, +)
  }
}
