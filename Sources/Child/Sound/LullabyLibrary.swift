internal import Frames
internal import Linux
internal import Sound
internal import Synchronization

/// A sound that parents can play.
struct LullabyTrack: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case noise(NoiseGenerator.Colour)
    case heartbeat
    case melody(Melody)
    case file(path: String)
  }

  /// 1...64 of a-z, 0-9 and "-"; unique in its library.
  var id: String
  var title: String
  /// Nil for endless sounds, and for files that do not declare it.
  var seconds: Double?
  var content: Content

  /// Opens it at the beginning. Blocks while a file is opened.
  func open() throws(SoundFileError) -> any SoundSource {
    switch content {
    case .noise(let colour): NoiseGenerator(colour, seed: .random(in: 0 ... .max))
    case .heartbeat: Heartbeat()
    case .melody(let melody): MusicBox(melody)
    case .file(let path): try SoundFile(path: path)
    }
  }
}

/// The built-in sounds, and the files of the configured directory.
final class LullabyLibrary: Sendable {
  /// A file with the ending of a sound file that cannot be played.
  struct Refusal: Hashable, Sendable {
    var file: String
    var reason: SoundFileError
  }

  /// Further files are not offered: the list has to fit into one message of 16 KiB.
  static let maximumFiles = 100
  private static let extensions: Set = ["wav", "flac", "ogg", "oga", "opus", "mp3"]
  /// Sound that libsndfile does not read: such a file is named, not left out without a word.
  private static let otherExtensions: Set = [
    "m4a", "m4b", "m4r", "mp4", "aac", "wma", "mka", "webm", "weba", "amr", "3gp", "ac3", "ape", "wv", "mid", "midi",
    "aif", "aiff", "caf",
  ]
  private static let longestTitle = 80
  /// Samples. Nobody falls asleep to a shorter file, and in a loop it costs much.
  private static let shortest = AudioFormat.sampleRate

  static let builtIn = [
    LullabyTrack(id: "white-noise", title: "White noise", content: .noise(.white)),
    LullabyTrack(id: "pink-noise", title: "Pink noise", content: .noise(.pink)),
    LullabyTrack(id: "brown-noise", title: "Brown noise", content: .noise(.brown)),
    LullabyTrack(id: "heartbeat", title: "Heartbeat", content: .heartbeat),
    melody(id: "wiegenlied", title: "Brahms: Wiegenlied", .wiegenlied),
    melody(id: "twinkle", title: "Twinkle, twinkle, little star", .maman),
  ]

  private struct Known {
    /// Nil: there was none.
    var version: SystemFiles.Version?
    var result: Result<LullabyTrack, SoundFileError>
  }

  private let folder: String
  /// By file name: a file is reopened only when it has changed.
  private let known = Mutex<[String: Known]>([:])

  /// `folder` need not exist.
  init(folder: String) {
    self.folder = folder
  }

  /// What is there now.
  struct Scan: Sendable {
    /// Built-in sounds first, then the files by name.
    var tracks: [LullabyTrack]
    var refusals: [Refusal] = []
    /// Sound files beyond `maximumFiles`: not opened, not offered.
    var surplus = 0
  }

  /// Blocks: it opens new files.
  func scan() -> Scan {
    var scan = Scan(tracks: Self.builtIn)
    var ids = Set(scan.tracks.map(\.id))
    known.withLock { known in
      let all = fileNames()
      let names = all.playable.prefix(Self.maximumFiles)
      scan.refusals += all.other.prefix(Self.maximumFiles).map { Refusal(file: $0, reason: .unknownFormat) }
      scan.surplus = all.playable.count - names.count
      known = known.filter { names.contains($0.key) }
      for name in names {
        let entry = read(name, known[name])
        known[name] = entry
        switch entry.result {
        case .success(var track):
          track.id = Self.unique(track.id, among: &ids)
          scan.tracks.append(track)
        case .failure(let reason):
          scan.refusals.append(Refusal(file: name, reason: reason))
        }
      }
    }
    return scan
  }

  /// Blocks as `scan` does.
  func track(_ id: String) -> LullabyTrack? {
    Self.builtIn.first { $0.id == id } ?? scan().tracks.first { $0.id == id }
  }

  /// The track after `id`, wrapping around. Blocks as `scan` does.
  func track(after id: String?) -> LullabyTrack {
    let tracks = scan().tracks
    let index = tracks.firstIndex { $0.id == id } ?? -1
    return tracks[(index + 1) % tracks.count]
  }

  private func read(_ name: String, _ known: Known?) -> Known {
    let path = "\(folder)/\(name)"
    let version = SystemFiles().version(path)
    if let known, known.version == version { return known }
    do throws(SoundFileError) {
      let file = try SoundFile(path: path)
      // Its header may say anything. Converting its rate may cost some samples.
      var samples = [Float](repeating: 0, count: Self.shortest / 100 * 99)
      guard file.read(into: &samples) == samples.count else { throw .tooShort }
      let base = Self.withoutExtension(name)
      let track = LullabyTrack(
        id: Self.id(of: base), title: Self.title(file.title, base),
        seconds: file.length.map { Double($0) / Double(AudioFormat.sampleRate) }, content: .file(path: path))
      return Known(version: version, result: .success(track))
    } catch {
      return Known(version: version, result: .failure(error))
    }
  }

  /// Sound files by their endings, in the order of their names.
  private func fileNames() -> (playable: [String], other: [String]) {
    let names = SystemFiles().names(folder).map { name in
      (name, name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased() ?? "")
    }
    return (
      names.filter { Self.extensions.contains($0.1) }.map(\.0),
      names.filter { Self.otherExtensions.contains($0.1) }.map(\.0)
    )
  }

  /// "01. La Le Lu.mp3" → "01. La Le Lu".
  private static func withoutExtension(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  /// "Schlaf, Kindlein.mp3" → "schlaf-kindlein".
  private static func id(of name: String) -> String {
    let words = name.lowercased().utf8.split { !(0x61...0x7A).contains($0) && !(0x30...0x39).contains($0) }
    let id = words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-").prefix(56)
    return id.isEmpty ? "sound" : String(id)
  }

  private static func unique(_ id: String, among ids: inout Set<String>) -> String {
    var candidate = id
    var number = 2
    while !ids.insert(candidate).inserted {
      candidate = "\(id)-\(number)"
      number += 1
    }
    return candidate
  }

  /// A file's title tag may contain anything; without one, the file name is used.
  private static func title(_ title: String?, _ name: String) -> String {
    let printable = (title ?? "").unicodeScalars.filter { $0.properties.generalCategory != .control }
    let text = String(String.UnicodeScalarView(printable)).prefix(longestTitle)
    return text.isEmpty ? String(name.prefix(longestTitle)) : String(text)
  }

  private static func melody(id: String, title: String, _ melody: Melody) -> LullabyTrack {
    let seconds = MusicBox(melody).length.map { Double($0) / Double(AudioFormat.sampleRate) }
    return LullabyTrack(id: id, title: title, seconds: seconds, content: .melody(melody))
  }
}
