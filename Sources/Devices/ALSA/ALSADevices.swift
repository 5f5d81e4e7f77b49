internal import CALSA
internal import Glibc
internal import Linux
internal import Wire

/// The sound devices known to ALSA.
enum ALSADevices {
  enum Direction { case capture, playback }

  /// One PCM device of a sound card.
  struct Hardware: Sendable {
    /// `hw:CARD=Loopback,DEV=0`: the card id stays the same when another card is plugged in.
    let name: String
    /// Human-readable.
    let title: String
  }

  /// The PCM devices of all cards, in card order.
  static func hardware(_ direction: Direction) -> [Hardware] {
    calsa_silence_messages()
    var result: [Hardware] = []
    var card: Int32 = -1
    while snd_card_next(&card) >= 0, card >= 0, result.count < 64 {
      result += devices(ofCard: card, direction)
    }
    return result
  }

  /// PCM names from the system's ALSA configuration ("default", "sysdefault:CARD=…", "pipewire", …).
  static func configured(_ direction: Direction) -> [(name: String, title: String)] {
    calsa_silence_messages()
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard snd_device_name_hint(-1, "pcm", &hints) >= 0, let hints else { return [] }
    defer { snd_device_name_free_hint(hints) }
    var result: [(name: String, title: String)] = []
    var next = hints
    while let hint = next.pointee, result.count < 256 {
      next += 1
      // No IOID means both directions.
      let way = text(snd_device_name_get_hint(hint, "IOID"))
      guard way == nil || way == (direction == .capture ? "Input" : "Output") else { continue }
      guard let name = text(snd_device_name_get_hint(hint, "NAME")), name != "null" else { continue }
      let description = text(snd_device_name_get_hint(hint, "DESC")) ?? name
      result.append((name, description.split(separator: "\n").joined(separator: ", ")))
    }
    return result
  }

  /// True if there are cards but none may be opened. alsa-lib itself only reports that there is no such card.
  static var areRefused: Bool {
    let cards = SystemFiles().names("/dev/snd").filter { $0.hasPrefix("controlC") }
    return !cards.isEmpty && cards.allSatisfy { access("/dev/snd/\($0)", R_OK | W_OK) != 0 }
  }

  static func cardName(_ card: Int32) -> String? {
    var name: UnsafeMutablePointer<CChar>?
    guard snd_card_get_name(card, &name) >= 0 else { return nil }
    // A sound card's own words: USB lets it send any.
    return text(name)?.printable()
  }

  private static func devices(ofCard card: Int32, _ direction: Direction) -> [Hardware] {
    var control: OpaquePointer?
    guard snd_ctl_open(&control, "hw:\(card)", Int32(SND_CTL_NONBLOCK)) >= 0 else { return [] }
    defer { snd_ctl_close(control) }
    var cardInfo: OpaquePointer?
    snd_ctl_card_info_malloc(&cardInfo)
    defer { snd_ctl_card_info_free(cardInfo) }
    guard snd_ctl_card_info(control, cardInfo) >= 0, let id = snd_ctl_card_info_get_id(cardInfo) else { return [] }
    let cardTitle = cardName(card) ?? String(cString: id)
    var info: OpaquePointer?
    snd_pcm_info_malloc(&info)
    defer { snd_pcm_info_free(info) }
    var result: [Hardware] = []
    var device: Int32 = -1
    while snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0, result.count < 32 {
      snd_pcm_info_set_device(info, UInt32(device))
      snd_pcm_info_set_subdevice(info, 0)
      snd_pcm_info_set_stream(info, direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK)
      guard snd_ctl_pcm_info(control, info) >= 0 else { continue }
      let title = snd_pcm_info_get_name(info).map { "\(cardTitle), \(String(cString: $0).printable())" } ?? cardTitle
      result.append(Hardware(name: "hw:CARD=\(String(cString: id)),DEV=\(device)", title: title))
    }
    return result
  }

  /// Takes ownership of a string allocated by ALSA.
  private static func text(_ string: UnsafeMutablePointer<CChar>?) -> String? {
    guard let string else { return nil }
    defer { free(string) }
    return String(cString: string)
  }
}
