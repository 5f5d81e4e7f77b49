import SecureTransport
import Testing

@testable import Pairing

@Suite struct CheckWordsTests {
  @Test func listHasOneShortWordForEachByte() {
    #expect(CheckWords.list.count == 256)
    #expect(Set(CheckWords.list).count == 256)
    for word in CheckWords.list {
      #expect((3...8).contains(word.utf8.count), "\(word)")
      #expect(word.utf8.allSatisfy { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }, "\(word)")
    }
  }

  @Test func everyInputCounts() {
    func words(_ transcript: [UInt8], _ parent: [UInt8], _ child: [UInt8]) -> CheckWords {
      CheckWords(transcript: transcript, parentKey: parent, childKey: child, hashes: CryptoHashes())
    }
    let all = [words([1], [2], [3]), words([9], [2], [3]), words([1], [9], [3]), words([1], [2], [9])]
    #expect(Set(all + [words([1, 2], [], [3]), words([1], [3], [2])]).count == 6)
    #expect(words([1], [2], [3]) == all[0])
    #expect(all[0].description.split(separator: " ").count == CheckWords.count)
  }
}
