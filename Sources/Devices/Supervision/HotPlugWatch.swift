internal import CLinux
internal import Glibc

/// Reports when a node in /dev that may be a camera or a sound card appears or gets its permissions. inotify(7). Where
/// /dev cannot be watched it never fires; the supervisor's timer then has to do.
struct HotPlugWatch: ~Copyable, Sendable {
  /// Readable on an event; -1 if nothing can be watched.
  let descriptor: Int32

  init() {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    watchFolders()
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads all events; true if one of them is relevant.
  func drain() -> Bool {
    guard descriptor >= 0 else { return false }
    var isOfInterest = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        isOfInterest =
          Self.names(in: UnsafeRawBufferPointer(rebasing: buffer.prefix(count))).contains {
            Self.isDevice($0)
          } || isOfInterest
      }
    }
    // /dev/snd appears with the first card.
    if isOfInterest { watchFolders() }
    return isOfInterest
  }

  /// Adding a watch twice is no error; a missing folder is tried again on the next event.
  private func watchFolders() {
    guard descriptor >= 0 else { return }
    for folder in ["/dev", "/dev/snd", "/dev/v4l/by-id"] {
      inotify_add_watch(descriptor, folder, UInt32(IN_CREATE | IN_ATTRIB | IN_MOVED_TO | IN_ONLYDIR))
    }
  }

  static func isDevice(_ name: String) -> Bool {
    ["video", "snd", "v4l", "controlC", "pcmC", "usb-"].contains { name.hasPrefix($0) }
  }

  private static func names(in bytes: UnsafeRawBufferPointer) -> [String] {
    let headerSize = MemoryLayout<inotify_event>.size
    var names: [String] = []
    var offset = 0
    while offset + headerSize <= bytes.count {
      let header = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
      let end = min(bytes.count, offset + headerSize + Int(header.len))
      names.append(String(decoding: bytes[offset + headerSize..<end].prefix { $0 != 0 }, as: UTF8.self))
      offset = end
    }
    return names
  }
}
