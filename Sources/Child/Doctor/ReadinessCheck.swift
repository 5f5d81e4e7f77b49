internal import DeviceNames
internal import Devices
internal import Frames
internal import Glibc
public import Health
internal import Identity
internal import Linux
internal import Pairing
internal import SecureTransport
public import Storage
internal import Wire

/// `cradle-child check`: opens every configured device once, and looks at every file and folder that is configured.
public enum ReadinessCheck {
  /// A camera that delivers nothing within this time is broken.
  private static let patience: Duration = .seconds(8)

  /// Opens devices, so the daemon must not hold them; a busy one is reported as such.
  ///
  /// - Parameter running: what the daemon says of itself; nil when it does not run.
  public static func run(
    _ configuration: ChildConfiguration, stateDirectory: String, running: StatusReport? = nil
  ) -> [Finding] {
    let files = SystemFiles()
    var findings = configuration.cameras.map(camera)
    findings.append(microphone(configuration.microphone.device))
    findings.append(speaker(configuration.speaker.device))
    findings += lullabies(configuration.lullabies)
    findings += ScheduleCheck.run(configuration)
    findings += LightCheck.lamps(
      configuration.lights, cameras: configuration.cameras, isDaemonRunning: false, files: files)
    let permissions = PermissionCheck.run(configuration, account: .daemon(stateDirectory, files), files: files)
    if permissions.state == .problem { findings.append(permissions) }
    findings.append(state(stateDirectory, running))
    findings += RoomCheck.run(stateDirectory: stateDirectory, recording: configuration.recording)
    findings += directories(stateDirectory, configuration.recording.folder)
    findings += NamedFilesCheck.servers(configuration.iceServers)
    findings += NamedFilesCheck.meetings(configuration.away.meetings)
    findings += NamedFilesCheck.notifiers(configuration.notifiers)
    findings += [
      NamedFilesCheck.push(configuration.push), folder(configuration.recording), configuration.tls.map(certificate),
      PushContactCheck.run(configuration.push, stateDirectory: stateDirectory),
    ].compactMap(\.self)
    return findings
  }

  /// Key, certificate and its dates.
  static func certificate(_ files: ChildConfiguration.TLSFiles) -> Finding {
    let what = "certificate \(files.certificate)"
    do {
      let validity = try NodeTLS.context(files).validity
      let now = MonotonicClock.unixSeconds
      guard let term = validity.map({ CertificateTerm($0, now: now) }) else {
        return Finding(what, .problem, "its dates cannot be read")
      }
      let remedy = "Renew it; the running daemon uses the new one within a minute."
      return switch term {
      case .good: Finding(what, .ok, "it goes with its key \(files.key), and \(term)")
      case .expiring: Finding(what, .warning, "it \(term)", remedy: remedy)
      case .expired: Finding(what, .problem, "it \(term): browsers refuse it", remedy: remedy)
      case .notYet: Finding(what, .problem, "it \(term); or this machine's clock is wrong", remedy: "timedatectl")
      }
    } catch {
      return Finding(what, .problem, "\(error)")
    }
  }

  /// Empty when the folder has no sound files. Only the package's own need not exist.
  static func lullabies(_ path: String) -> [Finding] {
    let what = "lullabies in \(path)"
    if let number = SystemFiles().listingError(path) {
      if number == ENOENT, path == ChildConfiguration.defaults.lullabies { return [] }
      let reason = number == ENOENT ? "there is no such folder" : String(cString: strerror(number))
      return [
        Finding(
          what, .problem, reason,
          remedy: number == EACCES ? "ls -ld '\(path)'" : "Look at `lullabies` in child.yaml, or make the folder.")
      ]
    }
    let scan = LullabyLibrary(folder: path).scan()
    let count = scan.tracks.count - LullabyLibrary.builtIn.count
    var findings: [Finding] = []
    if !scan.refusals.isEmpty {
      let named = scan.refusals.prefix(5).map { "\($0.file) (\($0.reason))" }.joined(separator: ", ")
      let more = scan.refusals.count > 5 ? " and \(scan.refusals.count - 5) more" : ""
      findings.append(
        Finding(
          what, .warning, "\(files(count)); not offered: \(named)\(more)",
          remedy: "Convert them to WAV, FLAC, Ogg or MP3, or remove them."))
    }
    if scan.surplus > 0 {
      let limit = LullabyLibrary.maximumFiles
      findings.append(
        Finding(
          what, .warning,
          "\(limit + scan.surplus) files; the limit is \(limit), so \(scan.surplus) are not offered",
          remedy: "Move those that nobody plays out of the folder."))
    }
    return findings.isEmpty && count > 0 ? [Finding(what, .ok, files(count))] : findings
  }

  private static func files(_ count: Int) -> String { "\(count) \(count == 1 ? "file" : "files")" }

  /// Nil when nothing is recorded, or in the state directory.
  private static func folder(_ recording: ChildConfiguration.Recording) -> Finding? {
    guard recording.mode != .off, let path = recording.folder else { return nil }
    do throws(FileError) {
      try RecordingFolder(path: path).check()
      return Finding("recordings in \(path)", .ok, "\(try RecordingFolder(path: path).parts().count) parts")
    } catch {
      return Finding("recordings in \(path)", .problem, "\(error)")
    }
  }

  private static func camera(_ camera: ChildConfiguration.Camera) -> Finding {
    let what = "camera \(camera.id)"
    do throws(DeviceError) {
      let info = try info(of: camera)
      let words = info.differsFromRequest ? "\(info.sentences); asked for \(camera.mode)" : info.sentences
      guard info.controlProblems.isEmpty else {
        return Finding(what, .problem, "\(words); but " + info.controlProblems.joined(separator: "; "))
      }
      return Finding(what, .ok, words)
    } catch {
      let note = camera.request.controls.isEmpty ? "" : " Its controls could not be checked."
      return Finding(what, .problem, "\(error)\(note)")
    }
  }

  private static func microphone(_ configured: AudioDevice) -> Finding {
    if configured == .off { return Finding("microphone", .ok, "none is wanted") }
    do throws(DeviceError) {
      return try SoundCheck.opened(configured)
    } catch {
      return Finding("microphone", .problem, "\(error)")
    }
  }

  private static func speaker(_ configured: SpeakerDevice) -> Finding {
    do throws(DeviceError) {
      return Finding("speaker", .ok, try SoundCheck.words(opening: configured))
    } catch {
      return Finding("speaker", SoundCheck.state(of: error, configured), "\(error)")
    }
  }

  /// Reads without creating or locking anything, because the daemon may be running.
  private static func state(_ path: String, _ running: StatusReport?) -> Finding {
    let what = "state directory \(path)"
    do {
      try StateDirectory.checkPrivacy(path)
      let stores = try stores(path)
      let words = words(stores.pairs, stores.tokens)
      // What was removed comes back with a restart until that is on disk.
      if let pairs = running?.pairs, let tokens = running?.tokens, pairs < stores.pairs || tokens < stores.tokens {
        return Finding(
          what, .problem,
          "a removal is not kept yet: \(words) on disk, \(self.words(pairs, tokens)) in the running daemon. A restart "
            + "would bring back what was removed",
          remedy: "Make room on the disk, or make it writable again; the daemon then stores it by itself.")
      }
      return Finding(what, .ok, words)
    } catch {
      return Finding(what, .problem, "\(error)")
    }
  }

  /// `1 paired parent, 2 tokens`
  static func words(_ pairs: Int, _ tokens: Int) -> String {
    "\(pairs) paired \(pairs == 1 ? "parent" : "parents"), \(tokens) \(tokens == 1 ? "token" : "tokens")"
  }

  /// As the daemon's user would find them.
  private static func directories(_ path: String, _ recordings: String?) -> [Finding] {
    let files = SystemFiles()
    return DirectoryCheck.run(
      StateDirectory.writtenDirectories(path) + [recordings].compactMap(\.self), account: .daemon(path, files),
      files: files)
  }

  // MARK: Shared with the doctor

  /// Opens the camera and waits for a picture.
  static func info(of camera: ChildConfiguration.Camera) throws(DeviceError) -> VideoSourceInfo {
    let source = try VideoSources.open(camera.device, request: camera.request)
    if let error = firstElement(of: source) { throw error }
    return source.info
  }

  /// Opens the microphone and waits for sound.
  static func info(of microphone: AudioDevice) throws(DeviceError) -> AudioSourceInfo {
    let source = try AudioSources.open(microphone)
    let patience = microphone.isDevice ? ratePatience : .zero
    if let error = firstElement(of: source, andUntil: { source.info.measuredRate != nil }, within: patience) {
      throw error
    }
    return source.info
  }

  /// Reads the state directory: the node's id, nil before the first start, and the number of pairs and tokens.
  static func stores(_ path: String) throws -> (id: String?, pairs: Int, tokens: Int) {
    let identity = try AtomicFile(path: path + "/identity.pem").read().map { bytes in
      try NodeIdentity(pem: String(decoding: bytes, as: UTF8.self))
    }
    let pairs = try PairStore(file: AtomicFile(path: path + "/pairs.json"), hashes: CryptoHashes()).book.records
    let tokens = try TokenStore(file: AtomicFile(path: path + "/tokens.json"), hashes: CryptoHashes())
    return (identity?.id, pairs.count, tokens.tokens.count)
  }

  /// So long a microphone's real rate is waited for: it takes four seconds, on a busy machine more.
  private static let ratePatience: Duration = .seconds(15)

  /// Nil once an element has been delivered, and something is known or `time` is over.
  private static func firstElement<Info, Element>(
    of source: any MediaSource<Info, Element>, andUntil isKnown: () -> Bool = { true }, within time: Duration = .zero
  ) -> DeviceError? {
    let result = Mailbox<DeviceError?>(capacity: 1)
    source.start(deliver: { _ in result.put(nil) }, failed: { result.put($0) })
    defer { source.stop() }
    guard let outcome = result.take(until: MonotonicClock.now + patience) else {
      return DeviceError(device: "device", reason: .silent(milliseconds: Int(patience.inMilliseconds)))
    }
    let deadline = MonotonicClock.now + time
    while outcome == nil, !isKnown(), MonotonicClock.now < deadline {
      // What fails after the first element is reported as well.
      if case .some(.some(let error)) = result.take(until: MonotonicClock.now + .milliseconds(50)) { return error }
    }
    return outcome
  }
}

extension AudioDevice {
  /// Not a file, and not the test tone.
  var isDevice: Bool {
    switch self {
    case .auto, .pcm: true
    case .off, .test, .file: false
    }
  }
}

extension VideoSourceInfo {
  /// `Webcam (/dev/video0), 1280x720 at 30 frames/s, MJPG`
  var words: String { "\(name) (\(device)), \(mode)" }

  /// The same with `remarks`.
  var sentences: String { words.followed(by: remarks) }
}

extension String {
  /// With whole sentences behind it.
  func followed(by sentences: [String]) -> String {
    sentences.isEmpty ? self : "\(self). \(sentences.joined(separator: " "))"
  }
}

extension AudioSourceInfo {
  /// `Webcam, USB Audio (plughw:CARD=Webcam,DEV=0)`
  var words: String { "\(name) (\(device))" }
}

extension ChildConfiguration.Camera {
  /// `1280x720`: of its pictures, once they are turned.
  var size: String { "\(request.pictureSize.width)x\(request.pictureSize.height)" }

  /// `1280x720 at 30`
  var mode: String { "\(size) at \(framerate)" }

  /// Frames a second.
  var framerate: Int { Int(saturating: request.framesPerSecond) }
}
