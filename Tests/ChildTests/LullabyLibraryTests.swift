import Glibc
import Health
import Sound
import Storage
import Testing

@testable import Child

@Suite final class LullabyLibraryTests {
  private let folder = "/tmp/cradle-lullabies-\(getpid())-\(UInt64.random(in: 0 ... .max))"

  init() { mkdir(folder, 0o700) }

  deinit {
    let directory = opendir(folder)!
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      unlink("\(folder)/\(name)")
    }
    closedir(directory)
    rmdir(folder)
  }

  private func write(_ bytes: [UInt8], to name: String) {
    let file = fopen("\(folder)/\(name)", "we")!
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  /// Silence of so many tenths of a second at 8 kHz.
  private func wav(tenths: Int) -> [UInt8] {
    let size = UInt8(truncatingIfNeeded: tenths * 1600)
    let high = UInt8(truncatingIfNeeded: tenths * 1600 / 256)
    // Appended one by one: one sum of them all takes the type checker too long.
    var header = Array("RIFF".utf8) + [36 &+ size, high, 0, 0]
    header += Array("WAVEfmt ".utf8)
    header += [16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1F, 0, 0, 0x80, 0x3E, 0, 0, 2, 0, 16, 0]
    header += Array("data".utf8) + [size, high, 0, 0]
    return header + [UInt8](repeating: 0, count: tenths * 1600)
  }

  @Test func builtInSoundsNeedNoFolder() throws {
    let library = LullabyLibrary(folder: "/nonexistent")
    let scan = library.scan()
    let tracks = scan.tracks
    #expect(
      tracks.map(\.id) == ["white-noise", "pink-noise", "brown-noise", "heartbeat", "wiegenlied", "twinkle"])
    #expect(scan.refusals.isEmpty && scan.surplus == 0)
    #expect(tracks[0].seconds == nil && (30...60).contains(tracks[4].seconds ?? 0))
    for track in tracks {
      var source = try track.open()
      var samples = [Float](repeating: 0, count: 4800)
      #expect(source.read(into: &samples) == 4800 && samples.contains { $0 != 0 }, "\(track.id)")
    }
  }

  @Test func filesAreOfferedByNameAndBadOnesNamed() throws {
    write(wav(tenths: 15), to: "Schlaf, Kindlein.wav")
    write(wav(tenths: 20), to: "schlaf kindlein.WAV")
    write(wav(tenths: 11), to: "heartbeat.wav")
    write(Array("no sound".utf8), to: "broken.mp3")
    write(wav(tenths: 11), to: "notes.txt")
    write(wav(tenths: 11), to: ".hidden.wav")
    let library = LullabyLibrary(folder: folder)
    let scan = library.scan()
    let files = scan.tracks.dropFirst(LullabyLibrary.builtIn.count)
    #expect(files.map(\.id) == ["schlaf-kindlein", "heartbeat-2", "schlaf-kindlein-2"])
    #expect(files.map(\.title) == ["Schlaf, Kindlein", "heartbeat", "schlaf kindlein"])
    #expect(files.map(\.seconds) == [1.5, 1.1, 2])
    #expect(scan.refusals == [.init(file: "broken.mp3", reason: .unknownFormat)])
    #expect(library.track("heartbeat-2")?.seconds == 1.1 && library.track("heartbeat")?.seconds == nil)
    #expect(library.track("nothing") == nil)
    #expect(library.track(after: "twinkle").id == "schlaf-kindlein")
    #expect(
      library.track(after: "schlaf-kindlein-2").id == "white-noise" && library.track(after: nil).id == "white-noise")
  }

  /// In a loop it would cost a core's time, and without a length it looked endless.
  @Test func whatIsTooShortIsNamed() {
    write(wav(tenths: 0), to: "empty.wav")
    write(Array(wav(tenths: 1).prefix(44 + 16)), to: "millisecond.wav")
    write(wav(tenths: 9), to: "short.wav")
    // Shorter than its header says.
    write(Array(wav(tenths: 30).prefix(2000)), to: "cut.wav")
    write(wav(tenths: 10), to: "second.wav")
    let scan = LullabyLibrary(folder: folder).scan()
    #expect(scan.tracks.dropFirst(LullabyLibrary.builtIn.count).map(\.id) == ["second"])
    #expect(scan.refusals.map(\.file) == ["cut.wav", "empty.wav", "millisecond.wav", "short.wav"])
    #expect(scan.refusals.allSatisfy { $0.reason == .tooShort })
  }

  @Test func aTitleEndsAtTheLastDot() {
    for name in ["01. La Le Lu", "Vol. 2 - x", "a.b.c", "...and good night"] {
      write(wav(tenths: 11), to: "\(name).wav")
    }
    let tracks = LullabyLibrary(folder: folder).scan().tracks.dropFirst(LullabyLibrary.builtIn.count)
    #expect(Set(tracks.map(\.title)) == ["01. La Le Lu", "Vol. 2 - x", "a.b.c"])
    #expect(Set(tracks.map(\.id)) == ["01-la-le-lu", "vol-2-x", "a-b-c"])
  }

  /// Sound of another kind, and what comes after the hundredth file.
  @Test func whatIsLeftOutIsNamed() throws {
    write(Array("ftypM4A".utf8), to: "song.m4a")
    write([], to: "empty.mp3")
    for number in 0..<101 { write(wav(tenths: 11), to: "track-\(number).wav") }
    let scan = LullabyLibrary(folder: folder).scan()
    #expect(scan.tracks.count == LullabyLibrary.builtIn.count + LullabyLibrary.maximumFiles - 1)
    #expect(Set(scan.refusals.map(\.file)) == ["song.m4a", "empty.mp3"] && scan.surplus == 2)
    let findings = ReadinessCheck.lullabies(folder)
    try #require(findings.map(\.state) == [.warning, .warning])
    #expect(findings[0].detail.contains("empty.mp3") && findings[0].detail.contains("song.m4a"))
    #expect(findings[1].detail == "102 files; the limit is 100, so 2 are not offered")
    // No other format would help.
    #expect(findings[1].remedy?.contains("Convert") == false)
  }

  /// The folder of the package need not be there; one that somebody has named has to.
  @Test func aFolderThatIsNotThereIsAProblem() throws {
    #expect(ReadinessCheck.lullabies(folder).isEmpty)
    let problem = { (path: String) in ReadinessCheck.lullabies(path).first.map { "\($0.state): \($0.detail)" } }
    #expect(problem("/nonexistent") == "problem: there is no such folder")
    #expect(ReadinessCheck.lullabies(ChildConfiguration.defaults.lullabies).allSatisfy { $0.state != .problem })
    write([], to: "a.txt")
    #expect(problem("\(folder)/a.txt") == "problem: Not a directory")
  }

  /// Nothing waits for whoever writes into it.
  @Test func aFIFOIsNoSound() {
    mkfifo("\(folder)/a.wav", 0o600)
    #expect(LullabyLibrary(folder: folder).scan().refusals == [.init(file: "a.wav", reason: .notARegularFile)])
  }

  @Test func filesThatComeGoAndChangeAreSeen() {
    let library = LullabyLibrary(folder: folder)
    #expect(library.scan().tracks.count == LullabyLibrary.builtIn.count)
    write(wav(tenths: 15), to: "a.wav")
    #expect(library.track("a")?.seconds == 1.5)
    write(wav(tenths: 17), to: "a.wav")
    #expect(library.track("a")?.seconds == 1.7)
    unlink("\(folder)/a.wav")
    #expect(library.track("a") == nil)
  }

  @Test func namesThatHaveNoLetterOfOursGetAnId() {
    write(wav(tenths: 11), to: "子守唄.wav")
    let track = LullabyLibrary(folder: folder).scan().tracks.last
    #expect(track?.id == "sound" && track?.title == "子守唄")
  }
}
