internal import Glibc

/// Why a camera, a microphone, a speaker, a lamp or a file in place of one cannot be used, and what to do about it.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    /// No device has that name.
    case notFound
    /// In use by another program.
    case busy
    case permissionDenied
    /// The device has no usable format; the text says what it does offer.
    case unsupportedFormat(String)
    /// The device was unplugged.
    case disconnected
    /// It is open but has delivered no picture or sound for this many milliseconds.
    case silent(milliseconds: Int)
    /// It delivers the same picture over and over, bit for bit.
    case frozen
    /// It delivers nothing but zeros, or the same sound over and over.
    case digitalSilence
    /// A microphone delivers another number of samples a second than it was set to, and not evenly, so that they cannot be
    /// resampled.
    case wrongRate(delivered: Int, expected: Int)
    /// It delivers pictures, and none of them is whole; the text says what is wrong with them.
    case damaged(String)
    /// The file's content is not what its name says; the text says where it goes wrong.
    case invalidFile(String)
    /// A level between off and on was asked of a lamp that cannot be dimmed.
    case notDimmable
    /// A program that delivers pictures failed; the text is its own last words, or how it ended.
    case program(String)
    /// Any other system error: the operation that failed, and errno.
    case io(operation: String, errno: Int32)
  }

  /// The device as requested: a path, an ALSA name, or "camera" when any would do.
  public var device: String
  public var reason: Reason
  /// What the user can do next, one sentence; nil when there is nothing to say.
  public var advice: String?

  public init(device: String, reason: Reason, advice: String? = nil) {
    self.device = device
    self.reason = reason
    self.advice = advice
  }

  /// What is wrong in a few words, without the device and the advice: short enough for a card.
  public var summary: String {
    switch reason {
    case .notFound: "not found"
    case .busy: "in use by another program"
    case .permissionDenied: "permission denied"
    case .unsupportedFormat(let detail): "no usable format (\(detail))"
    case .disconnected: "disconnected"
    case .silent(let milliseconds): "delivered nothing for \(milliseconds) ms"
    case .frozen: "frozen: every picture is the same"
    case .digitalSilence: "dead: it delivers perfect silence"
    case .wrongRate(let delivered, let expected):
      "delivers \(delivered) of \(expected) samples a second, with gaps between them"
    case .damaged(let detail): "none of its pictures is whole (\(detail))"
    case .invalidFile(let detail): detail
    case .notDimmable: "can only be switched on and off"
    case .program(let words): words
    case .io(let operation, let number): "\(operation): \(Self.text(of: number))"
    }
  }

  /// ENOSPC of a camera: the USB bus has no room.
  var isFullBus: Bool {
    if case .io(_, ENOSPC) = reason { true } else { false }
  }

  /// Device and what is wrong, without the advice, which is for the child.
  public var plain: String { "\(device): \(summary)" }

  /// One line: device, what is wrong, what to do.
  public var description: String {
    plain + (advice.map { ". \($0)" } ?? "")
  }

  /// The error for a system errno, with the advice for a device of `kind`.
  static func system(_ number: Int32, device: String, operation: String, kind: Kind) -> DeviceError {
    switch number {
    case ENOENT:
      DeviceError(device: device, reason: .notFound, advice: kind.adviceWhenMissing)
    case ENODEV, ENXIO:
      DeviceError(device: device, reason: .disconnected, advice: kind.adviceWhenGone)
    case EBUSY:
      DeviceError(device: device, reason: .busy, advice: kind.adviceWhenBusy(device))
    case EACCES, EPERM:
      DeviceError(device: device, reason: .permissionDenied, advice: kind.adviceWhenRefused)
    case ENOSPC where kind == .camera:
      DeviceError(
        device: device, reason: .io(operation: operation, errno: number),
        advice: "The USB bus has no room for this picture: ask for a smaller size or use another port.")
    default:
      DeviceError(device: device, reason: .io(operation: operation, errno: number))
    }
  }

  private static func text(of number: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 128)
    let status = buffer.withUnsafeMutableBytes { bytes in
      strerror_r(number, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    return status == 0 ? String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self) : "error \(number)"
  }
}

extension DeviceError {
  /// The kind of device; decides the advice.
  enum Kind: Sendable {
    case camera, microphone, speaker, gpio, led, file
    /// A file opened for writing.
    case output

    var adviceWhenMissing: String {
      switch self {
      case .camera: "Plug it in; `cradle-child devices` lists the cameras that are there."
      case .microphone: "Plug it in; `cradle-child devices` lists the microphones that are there."
      case .speaker: "Plug it in; `cradle-child devices` lists the speakers that are there."
      case .gpio, .led: "Check the path in the configuration; `cradle-child devices` lists what is there."
      case .file, .output: "Check the path in the configuration."
      }
    }

    var adviceWhenGone: String? {
      self == .file || self == .output ? nil : "Check its cable; it is used again as soon as it is back."
    }

    func adviceWhenBusy(_ device: String) -> String {
      switch self {
      case .camera: "Close the other program; `fuser -v \(device)` names it."
      case .microphone, .speaker: "Close the other program; `fuser -v /dev/snd/*` names it."
      case .gpio: "Close the other program; `cradle-child devices` names it."
      case .led, .file, .output: "Close the other program."
      }
    }

    var adviceWhenRefused: String {
      switch self {
      case .camera: "Add the daemon's user to the group `video`."
      case .microphone, .speaker: "Add the daemon's user to the group `audio`."
      case .gpio: "Add the daemon's user to the group `gpio`."
      case .led: "Let the daemon's user write the lamp's files, with a udev rule."
      case .file: "Let the daemon's user read the file."
      case .output: "Let the daemon's user write there."
      }
    }
  }
}
