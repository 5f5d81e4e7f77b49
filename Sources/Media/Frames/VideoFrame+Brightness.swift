extension VideoFrame {
  /// The mean of every 16th pixel of every 16th row: 0 for black (16) and below, 1 for white (235) and above. At 720p that
  /// reads 3600 bytes.
  public var brightness: Double {
    var (sum, count) = (0, 0)
    for row in stride(from: min(8, height / 2), to: height, by: 16) {
      let line = y + row * strideY
      for column in stride(from: min(8, width / 2), to: width, by: 16) {
        sum += Int(line[column])
        count += 1
      }
    }
    return min(max((Double(sum) / Double(max(1, count)) - 16) / 219, 0), 1)
  }
}
