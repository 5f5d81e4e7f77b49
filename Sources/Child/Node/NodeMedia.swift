internal import Devices
internal import Frames
internal import Linux
internal import Logging
internal import NIOCore
internal import Pipelines
internal import Storage
internal import VideoFormats
internal import Wire

/// The devices and their encoders: cameras, microphone, speaker. Each has its own threads; `bridge` passes their output
/// to the event loop.
struct NodeMedia: Sendable {
  let bridge: LoopBridge
  let cameras: [VideoPipeline]
  let audio: AudioPipeline
  let converter: SoundConverter
  let sound: SoundOutput
  /// Initial rate of the encoders, in kbit/s.
  let startKbps: Int

  /// How long closing the devices may take. They take milliseconds; a hanging one does not keep the process alive.
  private static let devicePatience: Duration = .milliseconds(500)

  /// Opens nothing yet.
  init(_ configuration: ChildConfiguration, loop: any EventLoop, logger: Logger) {
    let bridge = LoopBridge(cameras: configuration.cameras.count) { body in loop.execute(body) }
    let range = configuration.video.bitrateKbps
    let startKbps = min(max(ChildNode.startKbps, range.lowerBound), range.upperBound)
    cameras = configuration.cameras.enumerated().map { index, camera in
      let logged = LoggedRemarks()
      return VideoPipeline(
        settings: .init(
          cameraID: camera.id, device: camera.device, request: camera.request, startKbps: startKbps),
        deliver: { frame in bridge.video(frame, camera: index) },
        cameraChanged: { state in NodeLog.camera(camera.id, state, logged, logger) })
    }
    let sound = SoundOutput(
      speaker: configuration.speaker.device, maximumVolume: configuration.speaker.maximumVolume
    ) { event in NodeLog.sound(event, logger) }
    let logged = LoggedRemarks()
    audio = AudioPipeline(
      device: configuration.microphone.device, gain: configuration.microphone.gain,
      mayBeSilent: configuration.microphone.mayBeSilent, echo: sound.echo,
      deliver: { packet in bridge.audio(packet) },
      levelMeasured: { bridge.levelMeasured() },
      microphoneChanged: { state in NodeLog.microphone(state, logged, logger) })
    converter = SoundConverter(audio) { sound in bridge.converted(sound) }
    self.bridge = bridge
    self.sound = sound
    self.startKbps = startKbps
  }

  func start() {
    cameras.forEach { $0.start() }
    sound.start()
    audio.start()
  }

  /// What cameras and microphone do, by their names for the log.
  var standing: [(name: String, state: LastResort.State)] {
    cameras.map { ("camera \($0.settings.cameraID)", LastResort.State($0.camera)) }
      + [("the microphone", LastResort.State(audio.microphone))]
  }

  /// What the encoders take and deliver.
  var outputs: [OutputWatch.Track] {
    cameras.flatMap { camera in
      let (counters, targets, captured) = (camera.renditionCounters, camera.targets, camera.counters.captured)
      return VideoCodec.allCases.flatMap { codec in
        Rendition.allCases.map { rendition in
          let name = "the encoder of camera \(camera.settings.cameraID)"
          let which = codec == .vp8 ? "\(rendition)" : "\(rendition), \(codec.name)"
          return OutputWatch.Track(
            name: VideoEncoding(codec, rendition) == VideoEncoding(.vp8, .high) ? name : "\(name) (\(which))",
            isWanted: camera.isEncoding && targets[codec][rendition] != nil, captured: captured,
            encoded: counters[codec][rendition].encoded)
        }
      }
    } + [
      OutputWatch.Track(
        name: "the encoder of the microphone", isWanted: audio.isWanted, captured: audio.counters.captured,
        encoded: audio.counters.encoded)
    ]
  }

  /// The loops supervised by the watchdog.
  var watched: [Watchdog.Loop] {
    cameras.flatMap { camera in
      let id = camera.settings.cameraID
      return [
        Watchdog.Loop(name: "camera \(id)", pulse: camera.capturePulse, patience: Watchdog.devicePatience),
        Watchdog.Loop(
          name: "the encoder of camera \(id)", pulse: camera.encoderPulse, patience: Watchdog.encoderPatience),
      ]
    } + [Watchdog.Loop(name: "the microphone", pulse: audio.pulse, patience: Watchdog.devicePatience)]
  }

  /// Closes the devices.
  ///
  /// - Parameter others: further work to finish in the same time; each may block.
  /// - Returns: false if one hangs; it is abandoned.
  func stop(and others: [@Sendable () -> Void]) -> Bool {
    converter.setDemand([])
    var stops: [@Sendable () -> Void] = [{ audio.stop() }, { sound.stop() }] + others
    for camera in cameras { stops.append { camera.stop() } }
    let stopped = Mailbox<Bool>(capacity: stops.count)
    for stop in stops {
      _ = WorkerThread(name: "stop") {
        stop()
        stopped.put(true)
      }
    }
    let deadline = MonotonicClock.now + Self.devicePatience
    return stops.allSatisfy { _ in stopped.take(until: deadline) != nil }
  }
}
