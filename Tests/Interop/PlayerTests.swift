import Foundation
import Testing

/// Players that we did not write, and what their offers look like.
extension RealPeers {
  @Suite struct PlayerTests {
    struct Status: Decodable {
      struct Camera: Decodable { var renditions: [Rendition] }
      struct Rendition: Decodable { var name: String, codec: String?, encoded: Int, keyFrames: Int, viewers: Int }
      struct Viewer: Decodable { var name: String, state: String, picture: String?, problems: [String]? }
      var cameras: [Camera]
      var viewers: [Viewer]
    }

    private func status(_ child: ChildProcess) throws -> Status {
      try JSONDecoder().decode(Status.self, from: Data(try child.command(["status", "--json"]).output.utf8))
    }

    private func fixture(_ name: String) throws -> String {
      let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      return try String(contentsOf: folder.appending(path: "Fixtures/offer-\(name).sdp"), encoding: .utf8)
    }

    /// The answer, or the problem.
    private func post(
      _ offer: String, to child: ChildProcess, token: String? = nil, path: String = "/whep"
    ) throws -> (status: Int, head: String, body: String) {
      let file = child.folder.appending(path: "offer.sdp")
      try offer.write(to: file, atomically: true, encoding: .utf8)
      let (output, _, _) = try ChildProcess.run(
        "curl",
        [
          "-sik", "--max-time", "10", "-H", "Authorization: Bearer \(token ?? child.token)", "-H",
          "Content-Type: application/sdp", "-H", "Expect:", "--data-binary", "@\(file.path)",
          "https://127.0.0.1:\(child.port)\(path)",
        ])
      let parts = output.components(separatedBy: "\r\n\r\n")
      return (Int(output.split(separator: " ")[1]) ?? 0, parts[0], parts.dropFirst().joined(separator: "\r\n\r\n"))
    }

    private func token(_ child: ChildProcess, name: String? = nil, allow: String) throws -> String {
      struct Added: Decodable { var token: String }
      let added = try child.command(["token", "add", "--name", name ?? allow, "--allow", allow, "--json"])
      return try JSONDecoder().decode(Added.self, from: Data(added.output.utf8)).token
    }

    /// Pion's own rule: every dynamic payload type of an answer has an `rtpmap` in its section.
    private func checkForPion(_ answer: String) {
      for section in answer.components(separatedBy: "\r\nm=").dropFirst() {
        let line = section.prefix { $0 != "\r\n" }.split(separator: " ")
        guard line[0] == "audio" || line[0] == "video" else { continue }
        for format in line.dropFirst(3) where format != "0" {
          #expect(section.contains("a=rtpmap:\(format) "), "\(answer)")
        }
      }
    }

    /// As go2rtc offers: constrained baseline among others, and no VP8.
    @Test func aPlayerOfH264IsAnsweredWithTheProfileThatIsSent() throws {
      let child = try ChildProcess()
      let answer = try post(fixture("h264"), to: child)
      #expect(answer.status == 201 && answer.body.contains("m=video 9 UDP/TLS/RTP/SAVPF 97\r\n"), "\(answer)")
      #expect(
        answer.body.contains(
          "a=fmtp:97 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n"), "\(answer)")
      checkForPion(answer.body)
      #expect(try status(child).viewers.map(\.problems) == [nil])
    }

    /// H.264 alone beside VP8: each with its own encoder, which is there only as long as somebody is on it.
    @Test(arguments: [ViewerProgram.aiortc, .chromium, .gstreamer])
    func whoKnowsH264AloneSeesThePicture(program: ViewerProgram) async throws {
      let child = try ChildProcess(listen: "127.0.0.1:0")
      let (url, token) = ("https://127.0.0.1:\(child.port)/whep", child.token)
      func renditions(_ codec: String) throws -> [Status.Rendition] {
        try status(child).cameras[0].renditions.filter { $0.codec == codec }
      }
      let parent = try ParentProcess(url, token: token, arguments: ["--stats"])
      try await wait { try renditions("VP8").contains { $0.viewers == 1 && $0.encoded > 0 } }
      #expect(try renditions("H264").isEmpty, "no encoder for nobody")
      let player = Task.detached {
        try program.watch(url, token: token, duration: 5, arguments: ["--video-codec", "H264"])
      }
      try await wait { try renditions("H264").contains { $0.viewers == 1 && $0.encoded > 0 } }
      #expect(try renditions("VP8").contains { $0.viewers == 1 })
      let (seen, log) = try await player.value
      #expect(seen.error == nil && seen.framesDecoded > 60 && seen.picturesChanged, "\(seen)\n\(log.suffix(1500))")
      #expect(seen.codec?.hasSuffix("H264") == true && seen.height == 360, "\(seen)")
      let (latency, audio) = (seen.latencyMs, seen.audio)
      #expect(latency.count > 30 && audio.packets > 0, "the timecode is readable: \(seen)")
      try await wait { try renditions("H264").isEmpty }
      // Who watches VP8 goes on.
      let before = try #require(try renditions("VP8").first { $0.viewers == 1 }).encoded
      try await wait { try renditions("VP8").contains { $0.encoded > before + 10 } }
      #expect(parent.figures.last.map { $0.framesDecoded > 20 } ?? false, Comment(rawValue: parent.log))
    }

    @Test func aPlayerWithoutACommonCodecGetsTheSoundAndEverybodyIsToldWhy() throws {
      let child = try ChildProcess()
      let offer = try fixture("h264").replacing("H264", with: "H265")
      let answer = try post(offer, to: child)
      #expect(answer.status == 201 && answer.body.contains("m=video 0 UDP/TLS/RTP/SAVPF 0\r\n"), "\(answer)")
      #expect(answer.body.contains("m=audio 9 UDP/TLS/RTP/SAVPF 101\r\n"))
      checkForPion(answer.body)
      let told = try status(child).viewers
      #expect(told.map(\.problems) == [["no picture: its offer has H265, not VP8 or H264"]], "\(told)")
      #expect(told[0].picture == nil && child.logText.contains("no picture: its offer has H265"))
      #expect(try child.command(["status"]).output.contains("test: no picture: its offer has H265, not VP8 or H264"))
      let refused = try post(offer, to: child, token: token(child, allow: "view"))
      #expect(refused.status == 400 && refused.body.contains("H265, this end has VP8 and H264"), "\(refused)")
      #expect(child.logText.contains("a player was refused") && child.logText.contains("the offer cannot be answered"))
    }

    private struct Refusals: Decodable {
      struct Refused: Decodable { var address: String, token: String?, status: Int, reason: String, count: Int }
      var refused: [Refused]?
    }

    /// Most players show nobody why they have no picture, so the baby unit does.
    @Test func whoIsRefusedIsInTheLogAndInTheStatus() async throws {
      struct Added: Decodable { var token: String }
      let child = try ChildProcess()
      let offer = try fixture("aiortc")
      let short = try child.command(["token", "add", "--name", "short", "--allow", "view", "--for", "1s", "--json"])
      let expired = try JSONDecoder().decode(Added.self, from: Data(short.output.utf8)).token
      try await Task.sleep(for: .seconds(1.2))
      let made = "cradle_" + String(repeating: "m", count: 32)
      for _ in 0..<3 { #expect(try post(offer, to: child, token: expired).status == 401) }
      for _ in 0..<2 { #expect(try post(offer, to: child, token: made).status == 401) }
      let revoked = try token(child, name: "gone", allow: "view")
      #expect(try child.command(["token", "revoke", "gone"]).status == 0)
      #expect(try post(offer, to: child, token: revoked).status == 401)
      #expect(try post(offer, to: child, path: "/whep?camera=attic").status == 404)
      #expect(try post("not an offer", to: child).status == 400)
      #expect(try (0..<30).contains { _ in try post(offer, to: child).status == 429 })
      let output = try child.command(["status", "--json"]).output
      let told = try JSONDecoder().decode(Refusals.self, from: Data(output.utf8)).refused ?? []
      func row(_ status: Int, _ token: String?) -> Refusals.Refused? {
        told.first { $0.status == status && $0.token == token && $0.address == "127.0.0.1" }
      }
      #expect(row(401, "short")?.count == 3 && row(401, "short")?.reason == "its token has expired", "\(told)")
      #expect(row(401, nil)?.count == 2 && row(401, nil)?.reason == "its token is unknown", "\(told)")
      #expect(row(401, "gone")?.reason == "its token was revoked", "\(told)")
      #expect(row(404, "test")?.reason == "there is no camera of this name", "\(told)")
      #expect(row(429, "test")?.reason.hasPrefix("this token starts sessions too often") == true, "\(told)")
      #expect(row(400, "test") != nil && told.count == 6, "\(told)")
      let text = try child.command(["status"]).output
      #expect(
        text.contains("Refused: short at 127.0.0.1, 3 times, last ") && text.contains(": its token has expired (401)"))
      let lines = child.logText.split(separator: "\n").filter { $0.contains("a player was refused") }
      #expect(lines.count == 6, "\(lines)")
      for secret in [expired, made, revoked, child.token] {
        #expect(!child.logText.contains(secret) && !output.contains(secret) && !text.contains(secret))
      }
    }

    @Test func sectionsWithoutABundleAreOneSectionAndWords() throws {
      let child = try ChildProcess()
      let answer = try post(fixture("webrtcbin-no-bundle"), to: child)
      #expect(answer.status == 201 && !answer.body.contains("a=group"), "\(answer)")
      #expect(answer.body.contains("m=video 9") && answer.body.contains("m=audio 0 UDP/TLS/RTP/SAVPF 0\r\n"))
      checkForPion(answer.body)
      let told = try status(child).viewers
      #expect(told.first?.problems?.first?.contains("bundle-policy=max-bundle") == true, "\(told)")
    }

    /// Also where its token allows less than it offers, or it has a transport for each section: real ones look at rejected
    /// sections, too.
    @Test func aPlayerTakesAnAnswerWithRejectedSections() throws {
      let child = try ChildProcess()
      let url = "https://127.0.0.1:\(child.port)/whep"
      let (seen, log) = try ViewerProgram.aiortc.watch(url, token: token(child, allow: "view"), duration: 2)
      #expect(seen.framesDecoded > 20 && seen.audio.packets == 0, "\(seen)\n\(log.suffix(1500))")
      let (pictures, other) = try ViewerProgram.gstreamer.watch(
        url, token: child.token, duration: 2, arguments: ["--no-bundle"])
      #expect(pictures.framesDecoded > 20 && pictures.audio.packets == 0, "\(pictures)\n\(other.suffix(1500))")
    }

    /// A player that was killed as it began has no connection that could be weak.
    @Test func whoNeverConnectedIsNoWeakConnection() async throws {
      let child = try ChildProcess()
      let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let (output, log, _) = try ChildProcess.run(
        root.appending(path: ".build/venv/bin/python").path,
        [
          root.appending(path: "Tests/Interop/peers/left_over.py").path, "--url",
          "https://127.0.0.1:\(child.port)/whep",
          "--token", child.token,
        ])
      #expect(output == "there is a path\n", Comment(rawValue: log))
      try await wait { try status(child).viewers.first?.state == "disconnected" }
      #expect(!child.logText.contains("is weak"), Comment(rawValue: child.logText))
    }

    /// A session's URL is relative, and a candidate needs no tag.
    @Test func aSessionIsKeptByItsURL() throws {
      let child = try ChildProcess()
      let offer = try fixture("aiortc")
      let answer = try post(offer, to: child)
      let location = try #require(answer.head.firstMatch(of: /(?i)location: (whep\/[\w-]{24})/)?.output.1)
      func send(_ method: String, _ arguments: [String]) throws -> String {
        try ChildProcess.run(
          "curl",
          [
            "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-X", method, "-H", "Authorization: Bearer \(child.token)",
          ] + arguments + ["https://127.0.0.1:\(child.port)/\(location)"]
        ).output
      }
      let fragment =
        "a=ice-ufrag:RwRd\r\na=ice-pwd:nWJicYbJexEDJbkjNopABV\r\na=candidate:1 1 udp 1 192.0.2.9 9 typ host\r\n"
      let type = ["-H", "Content-Type: application/trickle-ice-sdpfrag"]
      #expect(offer.contains("a=ice-ufrag:RwRd") && offer.contains("a=ice-pwd:nWJicYbJexEDJbkjNopABV"))
      #expect(try send("PATCH", type + ["--data-binary", fragment]) == "204")
      #expect(try send("PATCH", type + ["--data-binary", fragment.replacing("RwRd", with: "Other")]) == "428")
      #expect(try send("DELETE", []) == "200")
    }

    /// Key frames for a player that cannot ask for one: by itself, and beside a viewer that can and pays for none of them.
    @Test func aPlayerThatNeverAsksGetsKeyFramesAtNobodysExpense() async throws {
      let child = try ChildProcess(listen: "127.0.0.1:0")
      let (url, token) = ("https://127.0.0.1:\(child.port)/whep", child.token)
      let player = Task.detached {
        try ViewerProgram.aiortc.watch(url, token: token, duration: 26, arguments: ["--no-feedback"])
      }
      func rendition(_ name: String) throws -> Status.Rendition? {
        try status(child).cameras[0].renditions.first { $0.name == name }
      }
      /// At one moment.
      func both() throws -> (high: Status.Rendition, refreshed: Status.Rendition)? {
        let renditions = try status(child).cameras[0].renditions.filter { $0.viewers == 1 }
        guard let high = renditions.first(where: { $0.name == "high" }),
          let refreshed = renditions.first(where: { $0.name == "refreshed" })
        else { return nil }
        return (high, refreshed)
      }
      try await wait { try rendition("high")?.viewers == 1 }
      let first = try #require(try rendition("high")).keyFrames
      try await Task.sleep(for: .seconds(8.2))
      let alone = try #require(try rendition("high")).keyFrames - first
      #expect((2...3).contains(alone), "every 4 s at least: \(alone)")
      let parent = try ParentProcess(url, token: token, arguments: ["--stats", "--duration", "15"])
      var found: (high: Status.Rendition, refreshed: Status.Rendition)?
      try await wait {
        found = try both()
        return found != nil
      }
      let before = try #require(found)
      try await Task.sleep(for: .seconds(5))
      let later = try #require(try both())
      #expect(later.high.keyFrames == before.high.keyFrames, "\(later)")
      #expect(later.refreshed.keyFrames > before.refreshed.keyFrames, "\(later)")
      #expect(parent.finish().status == 0, Comment(rawValue: parent.log))
      let (result, log) = try await player.value
      #expect(
        result.error == nil && result.framesDecoded > 300 && result.height == 360, "\(result)\n\(log.suffix(1000))")
    }

    private func wait(_ isTrue: () throws -> Bool) async throws {
      for _ in 0..<150 {
        if try isTrue() { return }
        try await Task.sleep(for: .milliseconds(100))
      }
      Issue.record("waited in vain")
    }
  }
}
