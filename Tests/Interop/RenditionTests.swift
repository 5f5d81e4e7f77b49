import Foundation
import Testing

/// A browser behind a path whose rate changes: the picture becomes smaller, and comes back, within one stream.
extension RealPeers {
  @Suite struct RenditionTests {
    struct Status: Decodable {
      struct Camera: Decodable {
        var renditions: [Rendition]
      }
      struct Rendition: Decodable {
        var name: String
        var keyFrames: Int
        var viewers: Int
      }
      struct Viewer: Decodable {
        var picture: String?
        var pictureReason: String?
      }
      var mediaPort: Int
      var cameras: [Camera]
      var viewers: [Viewer]
    }

    private static let configuration = """
      name: Test
      cameras:
        - {id: cot, device: test, width: 1280, height: 720, framerate: 30}
      microphone: {device: test}
      """

    private func status(_ child: ChildProcess) throws -> Status {
      try JSONDecoder().decode(Status.self, from: Data(try child.command(["status", "--json"]).output.utf8))
    }

    @Test func chromiumSeesASmallerPictureOnAWeakPathAndTheWholeOneAgain() throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let (result, log) = try ViewerProgram.chromium.watch(
        "https://127.0.0.1:\(child.port)/whep", token: child.token, duration: 60,
        arguments: ["--path", "\(try status(child).mediaPort)@0:6000,8:550,25:6000"])
      let note = Comment(rawValue: "\(result)\n\(child.logText.suffix(1500))\n\(log.suffix(1500))")
      #expect(result.error == nil, note)
      let sizes = try #require(result.sizes)
      let heights = sizes.map(\.height)
      #expect(heights.first == 720 && heights.last == 720, note)
      #expect(sizes.contains { $0.height == 360 && $0.width == 640 && $0.pictures > 60 }, note)
      // Nothing that it could not decode: it never had to ask for a key frame.
      #expect(result.browser?.pliCount ?? 1 == 0, note)
      #expect(result.browser?.framesDropped ?? 1000 < 30, note)
    }

    @Test func chromiumThatAsksForLessIsSentLess() throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let (result, log) = try ViewerProgram.chromium.watch(
        "https://127.0.0.1:\(child.port)/whep", token: child.token, duration: 5, arguments: ["--bandwidth", "AS:300"])
      let note = Comment(rawValue: "\(result)\n\(child.logText.suffix(1500))\n\(log.suffix(1500))")
      #expect(result.error == nil, note)
      #expect(result.sizes?.map(\.height) == [360], note)
      // From the first packet on, with 60 bytes of headers for each of at most 1100: kbit/s.
      let bytes = try #require(result.browser?.videoBytes)
      #expect(bytes * 8 * 1160 / 1100 / 5 / 1000 < 300, note)
      #expect(result.framesDecoded > 100 && result.audio.packets > 200, note)
    }

    /// On a thread of its own: the pool's are as many as the cores, and this one blocks.
    private func watch(_ url: String, _ token: String, _ arguments: [String] = []) async throws -> ViewerResult {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Result {
              try ViewerProgram.chromium.watch(url, token: token, duration: 25, arguments: arguments).result
            })
        }
      }
    }

    @Test func oneViewerOnAWeakPathLeavesThePictureOfTheOtherAlone() async throws {
      let child = try ChildProcess(configuration: Self.configuration)
      let (url, token) = ("https://127.0.0.1:\(child.port)/whep", child.token)
      let port = try status(child).mediaPort
      async let watchedWide = watch(url, token)
      async let watchedNarrow = watch(url, token, ["--path", "\(port)@0:400"])
      try await Task.sleep(for: .seconds(20))
      let told = try status(child)
      let (wide, narrow) = (try await watchedWide, try await watchedNarrow)
      #expect(told.viewers.contains { $0.picture == "high" && $0.pictureReason == nil }, "\(told)")
      #expect(told.viewers.contains { $0.pictureReason == "weak-connection" }, "\(told)")
      let high = told.cameras[0].renditions.first { $0.name == "high" }
      #expect(high?.viewers == 1, "\(told)")
      // One for each that came, and none for the other's troubles.
      #expect(high?.keyFrames ?? 100 <= 4, "\(told)")
      #expect(wide.sizes?.map(\.height) == [720], "\(wide)")
      #expect(narrow.sizes?.last?.height ?? 720 < 720, "\(narrow)")
      #expect(narrow.framesDecoded > 60, "\(narrow)")
    }
  }
}
