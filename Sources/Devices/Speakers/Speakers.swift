public import DeviceNames
internal import Glibc

/// Opens the speaker that the configuration names.
public enum Speakers {
  /// Opens a device; `pull` is called from `start` to `stop`.
  ///
  /// For `auto` the system's default is tried first, then the cards in order, with those in `avoiding` (ALSA names)
  /// last. `off` throws `notFound`: without a speaker there is nothing to open.
  public static func open(
    _ device: SpeakerDevice, avoiding: Set<String> = [], pull: @escaping PlaybackPull
  ) throws(DeviceError) -> any Speaker {
    switch device {
    case .auto: try openFirst(avoiding, pull)
    case .pcm(let name): try ALSASpeaker(pcm: name, pull: pull)
    case .file(let path): try file(path, pull)
    case .null: null(pull)
    case .off: throw DeviceError(device: "none", reason: .notFound, advice: "The configuration wants no speaker.")
    }
  }

  /// Whether `open` would do on this file, which it empties. Changes nothing.
  public static func check(file path: String) throws(DeviceError) { try WAVFile.check(path: path) }

  private static func openFirst(
    _ avoiding: Set<String>, _ pull: @escaping PlaybackPull
  ) throws(DeviceError) -> ALSASpeaker {
    let hardware = ALSADevices.hardware(.playback).map { "plug\($0.name)" }
    // alsa-lib offers a "default" even where there is no card at all.
    let all = ["default"] + hardware
    var nearest: DeviceError?
    for name in all.filter({ !avoiding.contains($0) }) + all.filter({ avoiding.contains($0) }) {
      do throws(DeviceError) {
        return try ALSASpeaker(pcm: name, pull: pull)
      } catch {
        if name != "default" { nearest = nearest ?? error }
      }
    }
    if let nearest { throw nearest }
    if ALSADevices.areRefused {
      throw DeviceError.system(EACCES, device: "speaker", operation: "open", kind: .speaker)
    }
    throw DeviceError(
      device: "speaker", reason: .notFound, advice: "Plug one in; it is used as soon as it is there.")
  }

  private static func null(_ pull: @escaping PlaybackPull) -> PacedSpeaker {
    let info = SpeakerInfo(device: "null", name: "Nothing", channels: 1, latency: .zero)
    return PacedSpeaker(info: info, pull: pull) { _ in }
  }

  private static func file(_ path: String, _ pull: @escaping PlaybackPull) throws(DeviceError) -> PacedSpeaker {
    let file = try WAVFile(path: path)
    let info = SpeakerInfo(device: path, name: VideoSources.fileName(path), channels: 1, latency: .zero)
    return PacedSpeaker(
      info: info, pull: pull, finish: { try? file.patchHeader() },
      consume: { (samples) throws(DeviceError) in try file.append(samples) })
  }
}
