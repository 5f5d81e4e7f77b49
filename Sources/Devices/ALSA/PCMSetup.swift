internal import CALSA
internal import Frames
internal import Glibc

/// The hardware parameters of a PCM at 48 kHz with interleaved samples.
struct PCMSetup {
  /// Samples of 32 bits; else of 16.
  var isLong = false
  var channels: Int
  /// In frames: what is asked for, then what the device granted.
  var period: snd_pcm_uframes_t
  var buffer: snd_pcm_uframes_t

  /// What a device refused, with ALSA's negative status.
  struct Refusal {
    var status: Int32
    var operation: String

    func error(_ device: String, kind: DeviceError.Kind) -> DeviceError {
      status == -EINVAL
        ? DeviceError(device: device, reason: .unsupportedFormat("it refuses \(operation)"))
        : DeviceError.system(-status, device: device, operation: operation, kind: kind)
    }
  }

  /// Sets the parameters. Nil when the device took all of them.
  mutating func apply(to pcm: OpaquePointer) -> Refusal? {
    var parameters: OpaquePointer?
    snd_pcm_hw_params_malloc(&parameters)
    defer { snd_pcm_hw_params_free(parameters) }
    let (isLong, channels) = (isLong, channels)
    var (period, buffer) = (period, buffer)
    let framesPerMillisecond = snd_pcm_uframes_t(AudioFormat.sampleRate / 1000)
    let steps: [(String, () -> Int32)] = [
      ("any format", { snd_pcm_hw_params_any(pcm, parameters) }),
      ("interleaved samples", { snd_pcm_hw_params_set_access(pcm, parameters, SND_PCM_ACCESS_RW_INTERLEAVED) }),
      (
        isLong ? "32-bit samples" : "16-bit samples",
        { snd_pcm_hw_params_set_format(pcm, parameters, isLong ? SND_PCM_FORMAT_S32_LE : SND_PCM_FORMAT_S16_LE) }
      ),
      (
        channels == 1 ? "one channel" : "two channels",
        { snd_pcm_hw_params_set_channels(pcm, parameters, UInt32(channels)) }
      ),
      ("48 kHz", { snd_pcm_hw_params_set_rate(pcm, parameters, UInt32(AudioFormat.sampleRate), 0) }),
      (
        "periods of \(period / framesPerMillisecond) ms",
        { snd_pcm_hw_params_set_period_size_near(pcm, parameters, &period, nil) }
      ),
      (
        "a buffer of \(buffer / framesPerMillisecond) ms",
        { snd_pcm_hw_params_set_buffer_size_near(pcm, parameters, &buffer) }
      ),
      ("these parameters", { snd_pcm_hw_params(pcm, parameters) }),
    ]
    for (operation, step) in steps {
      let status = step()
      if status < 0 { return Refusal(status: status, operation: operation) }
    }
    (self.period, self.buffer) = (period, buffer)
    return nil
  }
}
