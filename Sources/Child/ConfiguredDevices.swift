internal import Devices
internal import Storage

// The configuration names devices; the device room opens them. Neither knows the other.
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
