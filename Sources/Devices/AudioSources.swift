public import DeviceNames
internal import Frames
internal import Glibc
internal import Sound
internal import Wire

/// Opens the microphone that the configuration names.
public enum AudioSources {
  /// Opens a device; it delivers `AudioFormat`, whatever its own format is.
  ///
  /// For `auto` the system's default is tried first, then the cards in order, with those in `avoiding` (ALSA names)
  /// last. `gain` is applied to microphones and files. `off` throws `notFound`: without a microphone there is nothing to open.
  public static func open(
    _ device: AudioDevice, gain: MicrophoneGain = .none, avoiding: Set<String> = []
  ) throws(DeviceError) -> any AudioSource {
    try open(device, gain: gain, avoiding: avoiding, stableName: StableName())
  }

  static func open(
    _ device: AudioDevice, gain: MicrophoneGain, avoiding: Set<String>, stableName: StableName
  ) throws(DeviceError) -> any AudioSource {
    switch device {
    case .auto: return try openFirst(gain, avoiding)
    case .pcm(let configured):
      let name = stableName.pcm(for: configured)
      let microphone = try ALSAMicrophone(pcm: name, gain: gain)
      stableName.remember(pcm: name)
      return microphone
    case .file(let path): return try wav(path, gain)
    case .test: return test()
    case .off: throw DeviceError(device: "none", reason: .notFound, advice: "The configuration wants no microphone.")
    }
  }

  private static func openFirst(_ gain: MicrophoneGain, _ avoiding: Set<String>) throws(DeviceError) -> ALSAMicrophone {
    let hardware = ALSADevices.hardware(.capture).map { "plug\($0.name)" }
    // alsa-lib offers a "default" even where there is no card at all.
    let all = ["default"] + hardware
    var nearest: DeviceError?
    for name in all.filter({ !avoiding.contains($0) }) + all.filter({ avoiding.contains($0) }) {
      do throws(DeviceError) {
        return try ALSAMicrophone(pcm: name, gain: gain)
      } catch {
        if name != "default" { nearest = nearest ?? error }
      }
    }
    if let nearest { throw nearest }
    if ALSADevices.areRefused {
      throw DeviceError.system(EACCES, device: "microphone", operation: "open", kind: .microphone)
    }
    throw DeviceError(
      device: "microphone", reason: .notFound, advice: "Plug one in; it is used as soon as it is there.")
  }

  private static func wav(_ path: String, _ gain: MicrophoneGain) throws(DeviceError) -> PacedAudio {
    let reader = try WAVReader(MediaFile(path: path), name: path)
    let info = AudioSourceInfo(
      device: path, name: VideoSources.fileName(path), sampleRate: reader.header.sampleRate,
      channels: reader.header.channels)
    return PacedAudio(info: info) {
      var reader = reader
      // Without a gain a file is played as it is.
      let amplifier = gain == .none ? nil : MicrophoneAmplifier(gain: gain)
      return { (time, position) throws(DeviceError) in
        let samples = try reader.nextBlock()
        return AudioBlock(
          samples: amplifier?.amplify(samples) ?? samples, captureTime: time, samplePosition: position)
      }
    }
  }

  private static func test() -> PacedAudio {
    let info = AudioSourceInfo(
      device: "test", name: "Test tone", sampleRate: AudioFormat.sampleRate, channels: 1)
    return PacedAudio(info: info) {
      var generator = ToneGenerator()
      return { (time, position) throws(DeviceError) in
        generator.makeBlock(
          captureTime: time, samplePosition: position,
          unixNanoseconds: MonotonicClock.wallClockReference.unixNanoseconds(at: time))
      }
    }
  }
}
