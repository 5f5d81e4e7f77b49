internal import Frames

extension VideoFrame {
  /// From full range (0...255, JPEG) to the limited range of video (16...235, chroma 16...240), in place: ITU-R BT.601.
  /// Only the frame's creator may call it, before the frame is handed on.
  func limitRange() {
    Self.map(mutableY, count: strideY * height, factor: 220)
    Self.map(mutableU, count: strideUV * (height / 2), factor: 225)
    Self.map(mutableV, count: strideUV * (height / 2), factor: 225)
  }

  /// 16 + value * factor / 256, for 16 bytes at a time. `count` is a multiple of 64.
  private static func map(_ bytes: UnsafeMutablePointer<UInt8>, count: Int, factor: UInt16) {
    let raw = UnsafeMutableRawPointer(bytes)
    for offset in stride(from: 0, to: count, by: 16) {
      let values = SIMD16<UInt16>(truncatingIfNeeded: raw.load(fromByteOffset: offset, as: SIMD16<UInt8>.self))
      let mapped = (values &* factor &+ 4096) &>> 8
      raw.storeBytes(of: SIMD16<UInt8>(truncatingIfNeeded: mapped), toByteOffset: offset, as: SIMD16<UInt8>.self)
    }
  }
}
