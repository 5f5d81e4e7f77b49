/// The byte stream format of ITU-T H.264 annex B: NAL units, each behind a start code.
public enum AnnexB {
  public static let startCode: [UInt8] = [0, 0, 0, 1]

  /// The NAL units of a stream in order, without start codes and the zeros that may follow a unit. What stands before the first
  /// start code is not one.
  public static func units(of stream: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var units: [ArraySlice<UInt8>] = []
    var start: Int?
    func end(_ at: Int) {
      guard let begin = start else { return }
      var end = at
      // Section 7.4.1: a NAL unit never ends with a zero.
      while end > begin, stream[end - 1] == 0 { end -= 1 }
      if end > begin { units.append(stream[begin..<end]) }
    }
    // Of a start code, this would be the 1.
    var index = stream.startIndex + 2
    while index < stream.endIndex {
      switch stream[index] {
      case 0: index += 1
      case 1:
        if stream[index - 1] == 0, stream[index - 2] == 0 {
          end(index - 2)
          start = index + 1
        }
        index += 3
      default: index += 3
      }
    }
    end(stream.endIndex)
    return units
  }

  public static func units(of stream: [UInt8]) -> [ArraySlice<UInt8>] { units(of: stream[...]) }

  /// Each unit behind a start code.
  public static func stream(of units: some Sequence<some Collection<UInt8>>) -> [UInt8] {
    var bytes: [UInt8] = []
    for unit in units {
      bytes += startCode
      bytes += unit
    }
    return bytes
  }
}
