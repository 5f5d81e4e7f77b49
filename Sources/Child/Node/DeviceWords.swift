internal import Devices

// Names of device states in status and metrics.
extension VideoPipeline.CameraState {
  var word: String {
    switch self {
    case .opening: "opening"
    case .running: "running"
    case .missing: "missing"
    }
  }
}

extension AudioPipeline.MicrophoneState {
  var word: String {
    switch self {
    case .off: "off"
    case .opening: "opening"
    case .running: "running"
    case .missing: "missing"
    }
  }
}
