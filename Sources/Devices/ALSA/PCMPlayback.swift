internal import CALSA
internal import CLinux
internal import Glibc

/// An ALSA PCM open for playback of 48 kHz 16-bit sound; closed at deinit.
struct PCMPlayback: ~Copyable, @unchecked Sendable, PlaybackPort {
  private let pcm: OpaquePointer
  /// The ALSA name that was opened in the end.
  let name: String
  /// The device's human-readable name.
  let title: String
  /// 1, or 2 with the same samples in both.
  let channels: Int
  let target: Int
  private let bufferSize: Int

  /// Three periods of 10 ms: one playing, one waiting, one being filled.
  private static let periodsPerBuffer: UInt = 3

  /// Tries `name` itself, mono and stereo, then through ALSA's converters.
  static func open(_ name: String) throws(DeviceError) -> PCMPlayback {
    calsa_silence_messages()
    var refusal: DeviceError?
    for channels in [1, 2] {
      do throws(DeviceError) {
        return try PCMPlayback(exactly: name, reportedAs: name, channels: channels)
      } catch {
        guard case .unsupportedFormat = error.reason else { throw error }
        refusal = refusal ?? error
      }
    }
    guard let converting = PCMCapture.convertingName(name) else {
      throw refusal ?? DeviceError(device: name, reason: .notFound)
    }
    return try PCMPlayback(exactly: converting, reportedAs: name, channels: 1)
  }

  private init(exactly name: String, reportedAs asked: String, channels: Int) throws(DeviceError) {
    var handle: OpaquePointer?
    let status = snd_pcm_open(&handle, name, SND_PCM_STREAM_PLAYBACK, Int32(SND_PCM_NONBLOCK))
    guard status >= 0, let handle else { throw PCMCapture.openError(status, asked, kind: .speaker) }
    let period = snd_pcm_uframes_t(PlaybackFormat.samplesPerBlock)
    var setup = PCMSetup(channels: channels, period: period, buffer: period * Self.periodsPerBuffer)
    if let refusal = setup.apply(to: handle) ?? Self.setStart(handle, setup) {
      snd_pcm_close(handle)
      throw refusal.error(asked, kind: .speaker)
    }
    pcm = handle
    self.name = name
    self.channels = channels
    title = PCMCapture.title(of: handle) ?? name
    bufferSize = Int(setup.buffer)
    target = Self.target(setup)
  }

  deinit {
    snd_pcm_drop(pcm)
    snd_pcm_close(pcm)
  }

  func queued() throws(DeviceError) -> PlaybackQueue {
    let room = snd_pcm_avail(pcm)
    guard room < 0 else {
      // A stream that has not started does so at its threshold; a card that was unplugged may still answer.
      return isDisconnected ? try fail(-ENODEV) : .samples(max(0, bufferSize - Int(room)))
    }
    return try recover(Int32(room)) ? .interrupted : .notReady
  }

  func delay() -> Int {
    var delay: snd_pcm_sframes_t = 0
    return snd_pcm_delay(pcm, &delay) >= 0 ? max(0, Int(delay)) : 0
  }

  func write(_ samples: ArraySlice<Int16>) throws(DeviceError) -> PlaybackOutcome {
    let count =
      if channels == 1 {
        samples.withUnsafeBufferPointer { snd_pcm_writei(pcm, $0.baseAddress, snd_pcm_uframes_t($0.count)) }
      } else {
        Self.doubled(samples).withUnsafeBufferPointer {
          snd_pcm_writei(pcm, $0.baseAddress, snd_pcm_uframes_t(samples.count))
        }
      }
    if count >= 0 { return .samples(min(count, samples.count)) }
    if count == -Int(EAGAIN) { return isDisconnected ? try fail(-ENODEV) : .samples(0) }
    return try recover(Int32(count)) ? .interrupted : .samples(0)
  }

  /// True if the device is ready again, false if not yet; throws on anything else.
  private func recover(_ status: Int32) throws(DeviceError) -> Bool {
    switch status {
    case -EPIPE: return try prepare()
    case -ESTRPIPE:
      // After a system suspend; drivers that cannot resume are restarted.
      switch snd_pcm_resume(pcm) {
      case 0: return true
      case -EAGAIN: return false
      default: return try prepare()
      }
    case -EBADFD where isDisconnected: return try fail(-ENODEV)
    default: return try fail(status)
    }
  }

  private func prepare() throws(DeviceError) -> Bool {
    let status = snd_pcm_prepare(pcm)
    return status < 0 ? try fail(status) : true
  }

  private var isDisconnected: Bool { snd_pcm_state(pcm) == SND_PCM_STATE_DISCONNECTED }

  private func fail<Result>(_ status: Int32) throws(DeviceError) -> Result {
    throw Self.error(status, name, "write")
  }

  private static func doubled(_ samples: ArraySlice<Int16>) -> [Int16] {
    var result: [Int16] = []
    result.reserveCapacity(2 * samples.count)
    for sample in samples {
      result.append(sample)
      result.append(sample)
    }
    return result
  }

  /// The samples that the buffer is to hold: at least two of the periods that the device granted, because samples leave the
  /// buffer a period at a time; rounded down to whole blocks, at least one, and no more than the buffer holds.
  private static func target(_ setup: PCMSetup) -> Int {
    let block = PlaybackFormat.samplesPerBlock
    let wanted = max(block * Int(periodsPerBuffer), 2 * Int(setup.period))
    return max(block, min(Int(setup.buffer), wanted) / block * block)
  }

  /// Playback starts once the buffer holds the amount that is kept there afterwards.
  private static func setStart(_ pcm: OpaquePointer, _ setup: PCMSetup) -> PCMSetup.Refusal? {
    var parameters: OpaquePointer?
    snd_pcm_sw_params_malloc(&parameters)
    defer { snd_pcm_sw_params_free(parameters) }
    let threshold = min(setup.buffer, snd_pcm_uframes_t(target(setup)))
    var status = snd_pcm_sw_params_current(pcm, parameters)
    if status >= 0 { status = snd_pcm_sw_params_set_start_threshold(pcm, parameters, threshold) }
    if status >= 0 { status = snd_pcm_sw_params(pcm, parameters) }
    return status < 0 ? PCMSetup.Refusal(status: status, operation: "to start by itself") : nil
  }

  private static func error(_ status: Int32, _ name: String, _ operation: String) -> DeviceError {
    DeviceError.system(-status, device: name, operation: operation, kind: .speaker)
  }
}
