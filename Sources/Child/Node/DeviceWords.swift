internal import Devices
internal import Pipelines

// How device states are called in heartbeats, status and metrics.
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
