internal import Devices
internal import Frames
internal import Secure
public import Storage
internal import Wire

/// What `cradle-child check` finds out: everything that the configuration names is opened once.
public enum ReadinessCheck {
  public struct Finding: Codable, Sendable {
    public var what: String
    public var ok: Bool
    /// What was found, or what is wrong and what to do.
    public var detail: String
  }

  /// A camera that shows nothing within this time is broken.
  private static let patience: Duration = .seconds(8)

  /// Opens devices, so the daemon must not hold them; a busy one is reported as such.
  public static func run(_ configuration: ChildConfiguration, stateDirectory: String) -> [Finding] {
    configuration.cameras.map(camera) + [microphone(configuration.microphone.device)] + [state(stateDirectory)]
  }

  private static func camera(_ camera: ChildConfiguration.Camera) -> Finding {
    let what = "camera \(camera.id)"
    let request = VideoRequest(
      width: camera.width, height: camera.height, framesPerSecond: Double(camera.framerate))
    do throws(DeviceError) {
      let source = try VideoSources.open(.init(camera.device), request: request)
      guard let error = firstElement(of: source) else {
        let info = source.info
        return Finding(
          what: what, ok: true,
          detail: "\(info.name) (\(info.device)), \(info.mode)"
            + (info.differsFromRequest ? "; asked for \(camera.width)x\(camera.height) at \(camera.framerate)" : ""))
      }
      return Finding(what: what, ok: false, detail: "\(error)")
    } catch {
      return Finding(what: what, ok: false, detail: "\(error)")
    }
  }

  private static func microphone(_ configured: Storage.AudioDevice) -> Finding {
    if configured == .none { return Finding(what: "microphone", ok: true, detail: "none is wanted") }
    do throws(DeviceError) {
      let source = try AudioSources.open(.init(configured))
      if let error = firstElement(of: source) { return Finding(what: "microphone", ok: false, detail: "\(error)") }
      return Finding(what: "microphone", ok: true, detail: "\(source.info.name) (\(source.info.device))")
    } catch {
      return Finding(what: "microphone", ok: false, detail: "\(error)")
    }
  }

  /// Nil when something was delivered.
  private static func firstElement<Info, Element>(of source: any MediaSource<Info, Element>) -> DeviceError? {
    let result = Mailbox<DeviceError?>(capacity: 1)
    source.start(deliver: { _ in result.put(nil) }, failed: { result.put($0) })
    defer { source.stop() }
    guard let outcome = result.take(until: MonotonicClock.now + patience) else {
      return DeviceError(device: "device", reason: .silent(milliseconds: Int(patience.inMilliseconds)))
    }
    return outcome
  }

  /// Looks without making or locking anything: the daemon may be running.
  private static func state(_ path: String) -> Finding {
    let what = "state directory \(path)"
    do {
      if let bytes = try AtomicFile(path: path + "/identity.pem").read() {
        _ = try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
      }
      let tokens = try TokenStore(file: AtomicFile(path: path + "/tokens.json"))
      return Finding(what: what, ok: true, detail: "\(tokens.tokens.count) tokens")
    } catch {
      return Finding(what: what, ok: false, detail: "\(error)")
    }
  }
}
