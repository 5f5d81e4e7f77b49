internal import Synchronization
public import Wire

/// One picture in I420 (planar YUV 4:2:0, BT.601 limited range), shared by reference between threads.
///
/// The creator fills a frame through the `mutable…` pointers before handing it on; after that nobody writes. Its memory
/// returns to its pool when the last reference is released.
public final class VideoFrame: @unchecked Sendable {
  /// Pixels; both even.
  public let width: Int
  public let height: Int
  /// Bytes per row of the Y plane; a multiple of 64.
  public let strideY: Int
  /// The same for the U and V planes.
  public let strideUV: Int
  /// When the sensor captured the picture (for V4L2: the buffer's timestamp).
  public let captureTime: Instant
  /// Counts the source's frames, so that gaps are visible.
  public let sequence: UInt64

  private let storage: UnsafeMutableRawPointer
  private let pool: VideoFramePool

  fileprivate init(
    width: Int, height: Int, captureTime: Instant, sequence: UInt64, storage: UnsafeMutableRawPointer,
    pool: VideoFramePool
  ) {
    self.width = width
    self.height = height
    self.captureTime = captureTime
    self.sequence = sequence
    self.storage = storage
    self.pool = pool
    strideY = pool.strideY
    strideUV = pool.strideUV
  }

  deinit {
    pool.recycle(storage)
  }

  /// `height` rows of `strideY` bytes.
  public var mutableY: UnsafeMutablePointer<UInt8> { storage.assumingMemoryBound(to: UInt8.self) }
  /// `height / 2` rows of `strideUV` bytes.
  public var mutableU: UnsafeMutablePointer<UInt8> { mutableY + strideY * height }
  public var mutableV: UnsafeMutablePointer<UInt8> { mutableU + strideUV * (height / 2) }
  public var y: UnsafePointer<UInt8> { UnsafePointer(mutableY) }
  public var u: UnsafePointer<UInt8> { UnsafePointer(mutableU) }
  public var v: UnsafePointer<UInt8> { UnsafePointer(mutableV) }
}

/// Hands out frames of one size and reuses their memory, so that a running camera does not allocate.
public final class VideoFramePool: Sendable {
  public let width: Int
  public let height: Int
  fileprivate let strideY: Int
  fileprivate let strideUV: Int
  private let free = Mutex<FreeList>(FreeList())
  /// A source, a mailbox and an encoder hold one frame each, and a released one is reused by the source next. More than
  /// this is freed: a block needed by a single late picture would otherwise stay for good.
  private static let maximumKept = 1

  private struct FreeList: @unchecked Sendable {
    var blocks: [UnsafeMutableRawPointer] = []
  }

  /// Sizes are rounded up to even numbers.
  public init(width: Int, height: Int) {
    precondition(width > 0 && height > 0 && width <= 16384 && height <= 16384, "a picture has a size VP8 can carry")
    self.width = (width + 1) & ~1
    self.height = (height + 1) & ~1
    strideY = (self.width + 63) & ~63
    strideUV = (self.width / 2 + 63) & ~63
  }

  deinit {
    free.withLock { list in list.blocks.forEach { $0.deallocate() } }
  }

  /// A frame with undefined pixels.
  public func makeFrame(captureTime: Instant, sequence: UInt64) -> VideoFrame {
    let storage =
      free.withLock { $0.blocks.popLast() }
      ?? UnsafeMutableRawPointer.allocate(byteCount: (strideY + strideUV) * height, alignment: 64)
    return VideoFrame(
      width: width, height: height, captureTime: captureTime, sequence: sequence, storage: storage, pool: self)
  }

  fileprivate func recycle(_ storage: UnsafeMutableRawPointer) {
    let isKept = free.withLock { list in
      guard list.blocks.count < Self.maximumKept else { return false }
      list.blocks.append(storage)
      return true
    }
    if !isKept { storage.deallocate() }
  }
}
