internal import DeviceNames
internal import Devices
internal import Discovery
internal import Logging
internal import Monitoring
internal import Pipelines

/// Logs devices that appear and disappear.
enum NodeLog {
  static func camera(
    _ id: String, _ state: VideoPipeline.CameraState, _ logged: LoggedRemarks, _ logger: Logger
  ) {
    switch state {
    case .off:
      logged.forget { $0.hasPrefix(runs) }
      logger.notice("camera is paused", metadata: ["camera": "\(id)"])
    case .opening: break
    case .running(let info):
      for remark in logged.news(of: info.remarks) {
        logger.notice("about this camera", metadata: ["camera": "\(id)", "remark": "\(remark)"])
      }
      // It comes again when more is known of the camera.
      guard !logged.news(of: [runs + info.mode]).isEmpty else { return }
      logger.info(
        "camera is running", metadata: ["camera": "\(id)", "device": "\(info.device)", "mode": "\(info.mode)"])
      for problem in info.controlProblems {
        logger.warning(
          "a control is not as configured; `cradle-child devices` lists the camera's",
          metadata: ["camera": "\(id)", "reason": "\(problem)"])
      }
      if info.differsFromRequest, info.refusedMode == nil {
        let (request, size) = (info.request, info.request.pictureSize)
        logger.notice(
          "the camera has no such mode; the nearest was taken",
          metadata: [
            "camera": "\(id)", "asked": "\(size.width)x\(size.height) at \(request.framesPerSecond) frames/s",
            "got": "\(info.mode)",
          ])
      }
    case .missing(let error):
      logged.forget { $0.hasPrefix(runs) }
      logger.warning("camera is missing; it is tried again", metadata: ["camera": "\(id)", "reason": "\(error)"])
    }
  }

  /// Begins what `LoggedRemarks` knows of a device that runs.
  private static let runs = "runs: "

  /// A folder of music in another format is no reason for hundreds of lines.
  private static let maximumRefusals = 5

  static func lullabies(_ refusals: [LullabyLibrary.Refusal], surplus: Int, in folder: String, _ logger: Logger) {
    for refusal in refusals.prefix(maximumRefusals) {
      logger.warning(
        "a lullaby file cannot be played and is not offered",
        metadata: ["file": "\(refusal.file)", "reason": "\(refusal.reason)"])
    }
    if refusals.count > maximumRefusals {
      logger.warning(
        "further lullaby files cannot be played and are not offered; `cradle-child check` counts them",
        metadata: ["files": "\(refusals.count - maximumRefusals)", "folder": "\(folder)"])
    }
    if surplus > 0 {
      logger.warning(
        "the lullaby folder has more files than are offered",
        metadata: ["folder": "\(folder)", "limit": "\(LullabyLibrary.maximumFiles)", "left-out": "\(surplus)"])
    }
  }

  static func sound(_ event: SoundOutput.Event, _ logger: Logger) {
    switch event {
    case .lullabyEnded(let track, let reason):
      logger.info("lullaby ended", metadata: ["track": "\(track.id)", "because": "\(reason)"])
    case .speaker(.running(let info)):
      logger.info("speaker is running", metadata: ["device": "\(info.device)", "name": "\(info.name)"])
    case .speaker(.missing(let error)):
      logger.warning("speaker is missing; it is tried again", metadata: ["reason": "\(error)"])
    case .speaker(.off), .speaker(.opening): break
    }
  }

  static func advertising(_ state: AdvertisingState, _ logger: Logger) {
    switch state {
    case .advertised(let name):
      logger.info("viewers find this baby unit in the network", metadata: ["name": "\(name)"])
    case .waiting(let problem):
      logger.warning(
        "viewers do not find this baby unit by themselves; an address still works", metadata: ["reason": "\(problem)"])
    }
  }

  static func health(_ change: HealthLog.Change, _ logger: Logger) {
    switch change {
    case .begins(let condition):
      logger.warning(
        "something about this machine is not as it should be; `cradle-child doctor` says what to do",
        metadata: ["what": "\(condition.concern.rawValue)", "reason": "\(condition.detail)"])
    case .over(let concern, _): logger.notice("it is well again", metadata: ["what": "\(concern.rawValue)"])
    }
  }

  static func microphone(_ state: AudioPipeline.MicrophoneState, _ logged: LoggedRemarks, _ logger: Logger) {
    switch state {
    case .off, .opening: break
    case .running(let info):
      // It comes again when more is known of the microphone.
      if info.measuredRate == nil {
        logger.info("microphone is running", metadata: ["device": "\(info.device)", "name": "\(info.name)"])
      }
      for remark in logged.news(of: info.remarks) {
        logger.warning("about this microphone", metadata: ["device": "\(info.device)", "remark": "\(remark)"])
      }
    case .missing(let error):
      logger.warning("microphone is missing; it is tried again", metadata: ["reason": "\(error)"])
    }
  }
}
