internal import Devices
internal import Storage

// Maps configured device names to the device module's types. Neither module depends on the other.
extension Devices.VideoDevice {
  init(_ configured: Storage.VideoDevice) {
    switch configured {
    case .auto: self = .auto
    case .test: self = .test
    case .path(let path): self = .camera(path: path)
    case .file(let path): self = .file(path: path)
    }
  }
}

extension Devices.AudioDevice {
  init(_ configured: Storage.AudioDevice) {
    switch configured {
    case .auto: self = .auto
    case .none: self = .off
    case .test: self = .test
    case .pcm(let name): self = .pcm(name: name)
    case .file(let path): self = .file(path: path)
    }
  }
}

extension Devices.SpeakerDevice {
  init(_ configured: Storage.SpeakerDevice) {
    switch configured {
    case .auto: self = .auto
    case .none: self = .off
    case .null: self = .null
    case .pcm(let name): self = .pcm(name: name)
    case .file(let path): self = .file(path: path)
    }
  }
}

extension Devices.LightDevice {
  /// Nil for `none`.
  init?(_ configured: Storage.LightDevice) {
    switch configured {
    case .none: return nil
    case .simulated: self = .simulated
    case .gpio(let chip, let line, let isActiveLow):
      self = .gpio(chip: chip, line: .init(line), isActiveLow: isActiveLow)
    case .led(let path): self = .led(path: path)
    }
  }
}

extension Devices.GPIOLine {
  init(_ configured: Storage.GPIOLine) {
    switch configured {
    case .offset(let offset): self = .offset(offset)
    case .name(let name): self = .name(name)
    }
  }
}
