internal import Frames
internal import Glibc
internal import Wire

enum TestTone {
  static func maker() -> PacedAudio.Next {
    return { (time, position) throws(DeviceError) in
      (0..<960).map { Int16(2317 * sin(Double((Int(position) + $0) % 48) / 48 * 2 * .pi)) }
    }
  }
}
