internal import Frames
internal import Glibc

extension VideoFrame {
  /// Pads an odd-sized picture of `width` × `height` to the frame's even size by repeating its last column and row.
  /// Chroma planes are (size + 1) / 2 in both and need no padding.
  func repeatEdge(width sourceWidth: Int, height sourceHeight: Int) {
    if sourceWidth < width {
      for row in 0..<min(sourceHeight, height) {
        mutableY[row * strideY + sourceWidth] = mutableY[row * strideY + sourceWidth - 1]
      }
    }
    if sourceHeight < height {
      memcpy(mutableY + sourceHeight * strideY, mutableY + (sourceHeight - 1) * strideY, width)
    }
  }
}
