import Testing

@testable import Child

@Suite struct TimeTextTests {
  @Test(arguments: [
    (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (12_060, "3 h 21 min"),
    (172_799, "47 h 59 min"), (172_800, "2 days"), (176_400, "2 days 1 h"), (364 * 86_400, "364 days"),
    (365 * 86_400, "1 year"), (366 * 86_400, "1 year 1 day"),
    // From 1970 to 2060, and 17870400 min.
    (32_872 * 86_400, "90 years"), (1_072_224_000, "33 years 357 days"),
  ])
  func lengthsAreInWords(seconds: Int, words: String) {
    #expect(TimeText.words(seconds: Int64(seconds)) == words)
  }

  @Test func nothingIsTooLong() {
    #expect(TimeText.words(seconds: .max / 2).contains("years"))
  }
}
