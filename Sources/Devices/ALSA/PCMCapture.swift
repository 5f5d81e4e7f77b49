internal import CALSA
internal import CLinux
internal import Frames
internal import Glibc
internal import Wire

/// An ALSA PCM open for capture at 48 kHz; closed at deinit.
struct PCMCapture: ~Copyable, @unchecked Sendable {
  private let pcm: OpaquePointer
  /// The ALSA name that was opened in the end.
  let name: String
  /// The device's human-readable name.
  let title: String

  /// Interleaved in what is read.
  let channels: Int
  /// Samples of 32 bits, of which a microphone fills 18 to 24; else of 16.
  let hasMoreThan16Bits: Bool

  /// 10 periods of 20 ms: a thread that is late by less than that loses nothing.
  private static let periodsPerBuffer: UInt = 10

  /// The result of a read.
  enum Outcome {
    case samples(Int)
    /// No samples available yet.
    case nothing
    /// Samples were lost (overrun or suspend); capture was restarted.
    case interrupted
  }

  /// Tries `name` itself, then through ALSA's converters when the hardware cannot do 48 kHz mono.
  static func open(_ name: String) throws(DeviceError) -> PCMCapture {
    calsa_silence_messages()
    do throws(DeviceError) {
      return try PCMCapture(exactly: name, reportedAs: name)
    } catch {
      guard case .unsupportedFormat = error.reason, let converting = Self.convertingName(name) else { throw error }
      return try PCMCapture(exactly: converting, reportedAs: name)
    }
  }

  /// The same device through ALSA's `plug`; nil if it already goes through it.
  static func convertingName(_ name: String) -> String? {
    if name.hasPrefix("plug") { return nil }
    if name.hasPrefix("hw:") { return "plug" + name }
    return name.contains("'") ? nil : "plug:'\(name)'"
  }

  private init(exactly name: String, reportedAs asked: String) throws(DeviceError) {
    var handle: OpaquePointer?
    let status = snd_pcm_open(&handle, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
    guard status >= 0, let handle else { throw Self.openError(status, asked) }
    var setup = Self.setup(isLong: false, channels: 1)
    var refusal: PCMSetup.Refusal? = PCMSetup.Refusal(status: -EINVAL, operation: "any format")
    for candidate in Self.setups(of: handle) {
      setup = candidate
      refusal = setup.apply(to: handle)
      if refusal?.status != -EINVAL { break }
    }
    if let refusal {
      snd_pcm_close(handle)
      throw refusal.error(asked, kind: .microphone)
    }
    pcm = handle
    channels = setup.channels
    hasMoreThan16Bits = setup.isLong
    self.name = name
    title = Self.title(of: handle) ?? name
  }

  deinit { snd_pcm_close(pcm) }

  /// Starts capture.
  func start() throws(DeviceError) {
    let status = snd_pcm_start(pcm)
    if status < 0 { throw Self.error(status, name, "start") }
  }

  /// Descriptors to wait on; call `settle` after the wait.
  func pollDescriptors() -> PollSet {
    let count = max(0, snd_pcm_poll_descriptors_count(pcm))
    return PollSet(count: Int(count)) { snd_pcm_poll_descriptors(pcm, $0, UInt32(count)) }
  }

  /// Passes the events that poll(2) returned to the plug-ins.
  func settle(_ descriptors: inout PollSet) {
    var events: UInt16 = 0
    let count = UInt32(descriptors.count)
    descriptors.withEntries { snd_pcm_poll_descriptors_revents(pcm, $0, count, &events) }
  }

  /// Reads frames, full scale ±1, without blocking; recovers from overruns and suspends. `samples` of the outcome are frames.
  func read(into frames: inout [Float]) throws(DeviceError) -> Outcome {
    let wanted = frames.count / channels
    let count =
      hasMoreThan16Bits
      ? read(Int32.self, wanted, scale: 1 / 2_147_483_648, &frames)
      : read(Int16.self, wanted, scale: 1 / 32768, &frames)
    if count > 0 { return .samples(min(count, wanted)) }
    if count == 0 || count == -Int(EAGAIN) { return isDisconnected ? try fail(-ENODEV) : .nothing }
    switch Int32(count) {
    case -EPIPE: return try restart()
    case -ESTRPIPE: return try resume()
    case -EBADFD where isDisconnected: return try fail(-ENODEV)
    case let status: return try fail(status)
    }
  }

  private func read<Sample: FixedWidthInteger>(
    _: Sample.Type, _ wanted: Int, scale: Float, _ frames: inout [Float]
  ) -> Int {
    withUnsafeTemporaryAllocation(of: Sample.self, capacity: wanted * channels) { buffer in
      // ALSA's `file` plug-in passes on less than it says: what memory holds by chance is not for anybody's ears.
      buffer.initialize(repeating: 0)
      let count = snd_pcm_readi(pcm, buffer.baseAddress, snd_pcm_uframes_t(wanted))
      for index in 0..<min(max(0, count), wanted) * channels { frames[index] = Float(buffer[index]) * scale }
      return count
    }
  }

  /// Capture time of the next sample to be read: now, minus the samples waiting to be read.
  func timeOfNextSample() -> Instant {
    var delay: snd_pcm_sframes_t = 0
    let status = snd_pcm_delay(pcm, &delay)
    let now = MonotonicClock.now
    guard status >= 0, delay > 0 else { return now }
    return now - .nanoseconds(Int64(delay) * 1_000_000_000 / Int64(AudioFormat.sampleRate))
  }

  private var isDisconnected: Bool { snd_pcm_state(pcm) == SND_PCM_STATE_DISCONNECTED }

  private func restart() throws(DeviceError) -> Outcome {
    var status = snd_pcm_prepare(pcm)
    if status >= 0 { status = snd_pcm_start(pcm) }
    return status < 0 ? try fail(status) : .interrupted
  }

  /// After a system suspend; drivers that cannot resume are restarted.
  private func resume() throws(DeviceError) -> Outcome {
    switch snd_pcm_resume(pcm) {
    case 0: .interrupted
    case -EAGAIN: .nothing
    default: try restart()
    }
  }

  private func fail(_ status: Int32) throws(DeviceError) -> Outcome {
    throw Self.error(status, name, "read")
  }

  private static func setup(isLong: Bool, channels: Int) -> PCMSetup {
    let period = snd_pcm_uframes_t(AudioFormat.samplesPerBlock)
    return PCMSetup(isLong: isLong, channels: channels, period: period, buffer: period * periodsPerBuffer)
  }

  /// What to ask for, the best first: both channels, to find an empty one and opposite phase, and 32 bits for microphones
  /// that use 24. What has no hardware of its own, a file or a pipe, is taken for what `AudioFormat` is.
  private static func setups(of pcm: OpaquePointer) -> [PCMSetup] {
    let long = [setup(isLong: true, channels: 2), setup(isLong: true, channels: 1)]
    let short = [setup(isLong: false, channels: 1), setup(isLong: false, channels: 2)]
    let type = snd_pcm_type(pcm)
    return type == SND_PCM_TYPE_FILE || type == SND_PCM_TYPE_NULL ? short + long : long + short.reversed()
  }

  static func title(of pcm: OpaquePointer) -> String? {
    var info: OpaquePointer?
    snd_pcm_info_malloc(&info)
    defer { snd_pcm_info_free(info) }
    guard snd_pcm_info(pcm, info) >= 0, let name = snd_pcm_info_get_name(info) else { return nil }
    let card = snd_pcm_info_get_card(info)
    let text = String(cString: name)
    guard card >= 0, let cardName = ALSADevices.cardName(card) else { return text.isEmpty ? nil : text }
    return text.isEmpty || text == cardName ? cardName : "\(cardName), \(text)"
  }

  /// A missing card gives ENODEV or ENXIO, a name that is not configured ENOENT.
  static func openError(
    _ status: Int32, _ name: String, kind: DeviceError.Kind = .microphone
  ) -> DeviceError {
    let isMissing = [-ENOENT, -ENODEV, -ENXIO].contains(status)
    let number = isMissing ? (ALSADevices.areRefused ? EACCES : ENOENT) : -status
    return DeviceError.system(number, device: name, operation: "open", kind: kind)
  }

  private static func error(_ status: Int32, _ name: String, _ operation: String) -> DeviceError {
    DeviceError.system(-status, device: name, operation: operation, kind: .microphone)
  }
}
