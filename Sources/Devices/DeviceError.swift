internal import Glibc

/// Why a camera, a microphone, a speaker, a lamp or a file that stands in for one cannot be used, and what to do about it.
public struct DeviceError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    /// Nothing of that name is there.
    case notFound
    /// Another program has it.
    case busy
    case permissionDenied
    /// The device offers nothing that can be read; the text says what it does offer.
    case unsupportedFormat(String)
    /// It was there and has gone.
    case disconnected
    /// It is open, and no picture or sound has come from it for so many milliseconds.
    case silent(milliseconds: Int)
    /// A file that is not what its name says; the text says where it goes wrong.
    case invalidFile(String)
    /// A lamp that is only on or off was asked for something between.
    case notDimmable
    /// Any other refusal of the system: what was tried, and errno.
    case io(operation: String, errno: Int32)
  }

  /// The device as it was asked for: a path, an ALSA name, or "camera" when any would do.
  public var device: String
  public var reason: Reason
  /// What a person can do next, one sentence; nil when there is nothing to say.
  public var advice: String?

  public init(device: String, reason: Reason, advice: String? = nil) {
    self.device = device
    self.reason = reason
    self.advice = advice
  }

  /// What is wrong in a few words, without the device and the advice: fits on a card.
  public var summary: String {
    switch reason {
    case .notFound: "not found"
    case .busy: "in use by another program"
    case .permissionDenied: "permission denied"
    case .unsupportedFormat(let detail): "no usable format (\(detail))"
    case .disconnected: "disconnected"
    case .silent(let milliseconds): "delivered nothing for \(milliseconds) ms"
    case .invalidFile(let detail): detail
    case .notDimmable: "can only be switched on and off"
    case .io(let operation, let number): "\(operation): \(Self.text(of: number))"
    }
  }

  /// One line: device, what is wrong, what to do.
  public var description: String {
    "\(device): \(summary)" + (advice.map { ". \($0)" } ?? "")
  }

  /// The error for an errno of the system, with the advice that fits a device of `kind`.
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
  /// What sort of thing was opened; decides the advice.
  enum Kind: Sendable {
    case camera, microphone, speaker, gpio, led, file
    /// A file that is written.
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
