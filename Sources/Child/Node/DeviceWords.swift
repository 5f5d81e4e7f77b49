internal import Control
internal import Devices

// Describes devices for heartbeats, state, status and metrics.
extension DeviceStatus {
  /// The state's name.
  var deviceState: DeviceState {
    switch self {
    case .off: .off
    case .opening: .opening
    case .running: .running
    case .missing: .missing
    }
  }

  /// What is wrong with a missing device that delivers nevertheless.
  var fault: DeviceFault? {
    guard case .missing(let error) = self else { return nil }
    return switch error.reason {
    case .frozen: .frozen
    case .digitalSilence: .digitalSilence
    default: nil
    }
  }

  /// - Parameter name: the device's own name, for display.
  fileprivate func document(_ name: KeyPath<Info, String>) -> DeviceDocument {
    switch self {
    case .off, .opening: DeviceDocument(state: deviceState, name: "")
    case .running(let info): DeviceDocument(state: deviceState, name: info[keyPath: name])
    case .missing(let error): DeviceDocument(state: deviceState, name: "\(error)")
    }
  }
}

extension DeviceStatus<AudioSourceInfo> {
  var document: DeviceDocument { document(\.name) }
}

extension DeviceStatus<SpeakerInfo> {
  var document: DeviceDocument { document(\.name) }
}
