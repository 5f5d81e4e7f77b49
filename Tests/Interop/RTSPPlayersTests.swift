import Foundation
import RTP
import Testing

/// RTSP of the real program, with ffmpeg and GStreamer, and with players that behave badly.
extension RealPeers {
  @Suite struct RTSPPlayersTests {
    private struct Status: Decodable {
      struct Viewer: Decodable {
        var name: String, state: String, bytesSent: UInt64, packetsSent: UInt64, picture: String?
      }
      struct Camera: Decodable { var renditions: [Rendition] }
      struct Rendition: Decodable { var name: String, keyFrames: UInt64, viewers: Int }
      struct Refused: Decodable { var token: String?, status: Int, reason: String }
      var rtspPort: Int?, viewers: [Viewer], cameras: [Camera], refused: [Refused]?
    }

    private static let configuration =
      ChildProcess.testConfiguration + "\nrtsp: {enabled: true, listen: \"127.0.0.1:0\"}\n"

    private let child: ChildProcess
    private let port: Int
    private let token: String

    init() throws {
      child = try ChildProcess(configuration: Self.configuration, listen: "127.0.0.1:0")
      port = try #require(try Self.status(child).rtspPort)
      token = try Self.token(child, "frigate", allow: "view,listen")
    }

    private static func status(_ child: ChildProcess) throws -> Status {
      try JSONDecoder().decode(Status.self, from: Data(child.command(["status", "--json"]).output.utf8))
    }

    private static func token(_ child: ChildProcess, _ name: String, allow: String) throws -> String {
      struct Added: Decodable { var token: String }
      let added = try child.command(["token", "add", name, "--rtsp", "--allow", allow, "--json"])
      return try JSONDecoder().decode(Added.self, from: Data(added.output.utf8)).token
    }

    private func url(_ query: String = "", user: String = "frigate", token: String? = nil, scheme: String = "rtsp")
      -> String
    { "\(scheme)://\(user):\(token ?? self.token)@127.0.0.1:\(port)/\(query)" }

    private func viewers() throws -> [Status.Viewer] { try Self.status(child).viewers }

    private func client(_ buffer: Int32? = nil) throws -> RTSPClient {
      try RTSPClient(port: port, user: "frigate", token: token, receiveBufferBytes: buffer)
    }

    private func wait(_ seconds: Double = 15, _ isTrue: () throws -> Bool) async throws {
      let deadline = Date().addingTimeInterval(seconds)
      while Date() < deadline {
        if try isTrue() { return }
        try await Task.sleep(for: .milliseconds(100))
      }
      Issue.record("waited in vain; \(child.logText.suffix(2000))")
    }

    /// Picture and sound as they are, for some seconds, in a file.
    private func record(_ url: String, transport: String = "tcp", seconds: Int = 6) throws -> (file: URL, error: String)
    {
      let file = child.folder.appending(path: "recorded.mkv")
      let recorded = try ChildProcess.run(
        "timeout",
        [
          "-k", "2", "-s", "INT", "\(seconds + 20)", "ffmpeg", "-v", "warning", "-y", "-rtsp_transport", transport,
          "-i",
          url, "-t", "\(seconds)", "-c", "copy", file.path,
        ])
      return (file, recorded.error)
    }

    /// Codec, and the time stamps of all packets of a stream.
    private func packets(_ file: URL, _ stream: String) throws -> [Double] {
      try ChildProcess.run(
        "ffprobe",
        ["-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of", "csv=p=0", file.path]
      ).output.split(whereSeparator: { $0 == "\n" || $0 == "," }).compactMap { Double($0) }
    }

    private func codecs(_ file: URL) throws -> [String] {
      try ChildProcess.run(
        "ffprobe", ["-v", "error", "-show_entries", "stream=codec_name,width,sample_rate", "-of", "csv=p=0", file.path]
      ).output.split(separator: "\n").map(String.init)
    }

    /// What decoding complains of, but for ffmpeg's own time stamps: it counts pictures of a camera in thirtieths of a second.
    private func decodingErrors(_ file: URL) throws -> [Substring] {
      try ChildProcess.run("ffmpeg", ["-v", "warning", "-i", file.path, "-f", "null", "-"]).error
        .split(separator: "\n").filter { !$0.contains("non monotonically increasing dts") }
    }

    @Test func ffmpegRecordsPictureAndSound() throws {
      let (file, error) = try record(url())
      #expect(try codecs(file) == ["vp8,640", "opus,48000"], "\(error)")
      let (picture, sound) = (try packets(file, "v"), try packets(file, "a"))
      #expect(picture.count > 60 && sound.count > 200, "\(picture.count) \(sound.count) \(error)")
      // They begin together.
      let apart = abs(try #require(picture.first) - #require(sound.first))
      #expect(apart < 0.5, "\(apart)")
      #expect(try decodingErrors(file) == [])
      // Whoever watched is gone.
      usleep(500_000)
      #expect(try viewers().isEmpty)
    }

    @Test func aWrongTokenIsRefusedAndNamed() throws {
      let plain = try child.command(["token", "add", "plain", "--allow", "view", "--json"])
      #expect(plain.status == 0)
      for (user, token, reason) in [
        ("frigate", "cradle_wrong", "its token is wrong"), ("nobody", "cradle_wrong", "its user is no token's name"),
        ("plain", "cradle_wrong", "its token was made without --rtsp"),
        ("test", child.token, "its token was made without --rtsp"),
      ] {
        let (_, error) = try record(url(user: user, token: token), seconds: 1)
        #expect(error.contains("401 Unauthorized"), "\(error)")
        let refused = try Self.status(child).refused ?? []
        #expect(refused.contains { $0.status == 401 && $0.reason == "RTSP: " + reason }, "\(reason): \(refused)")
      }
      #expect(!child.logText.contains(token) && !child.logText.contains("cradle_wrong"))
      #expect(try child.command(["token", "list"]).output.contains("view,listen (RTSP, too)"))
      #expect(try child.command(["token", "add", "my player", "--rtsp"]).status != 0)
      let stored = try String(contentsOf: child.folder.appending(path: "state/tokens.json"), encoding: .utf8)
      #expect(!stored.contains(token) && stored.contains("sha256"))
    }

    @Test func aReaderIsAViewerWhoseTokenEndsIt() async throws {
      let address = url()
      async let reading = Task.detached {
        try ChildProcess.run(
          "ffmpeg", ["-v", "error", "-rtsp_transport", "tcp", "-i", address, "-c", "copy", "-f", "null", "-"])
      }.value
      try await wait {
        try viewers().contains { $0.name == "frigate" && $0.state == "connected" && $0.bytesSent > 1000 }
      }
      let status = try child.command(["status"]).output
      #expect(status.contains("RTSP port \(port)") && status.contains("frigate"))
      #expect(child.logText.contains("path=RTSP"))
      let revoked = Date()
      #expect(try child.command(["token", "revoke", "frigate"]).status == 0)
      _ = try await reading
      #expect(Date().timeIntervalSince(revoked) < 3)
      #expect(try viewers().isEmpty)
    }

    @Test func aTokenGetsNoMoreThanItAllows() throws {
      for (allow, expected) in [("view", ["vp8,640"]), ("listen", ["opus,48000"])] {
        let (file, error) = try record(
          url(user: allow, token: Self.token(child, allow, allow: allow)), seconds: 2)
        #expect(try codecs(file) == expected, "\(error)")
      }
      let control = try Self.token(child, "control", allow: "control")
      #expect(try record(url(user: "control", token: control), seconds: 1).error.contains("403"))
      // As many as a token may have.
      let clients = try (0..<5).map { _ in try client() }
      var statuses: [Int] = []
      for client in clients {
        _ = try client.ask("DESCRIBE")
        _ = try client.ask("SETUP", "trackID=1", "Transport: RTP/AVP/TCP;interleaved=0-1")
        statuses.append(try client.ask("PLAY").status)
      }
      #expect(statuses == [200, 200, 200, 200, 429])
      #expect(try viewers().count == 4)
    }

    // MARK: Ways

    @Test(arguments: ["udp", "tls"]) func ffmpegTakesOtherWays(way: String) throws {
      let (file, error) =
        way == "udp" ? try record(url(), transport: "udp") : try record(url(scheme: "rtsps"), transport: "tcp")
      #expect(try codecs(file) == ["vp8,640", "opus,48000"], "\(error)")
      #expect(try packets(file, "v").count > 60 && packets(file, "a").count > 200, "\(error)")
      #expect(try decodingErrors(file) == [])
      usleep(500_000)
      #expect(try viewers().isEmpty)
    }

    /// `rtspsrc` brings picture and sound together by sender reports and the CNAME.
    @Test(arguments: ["tcp", "udp"]) func gstreamerPlaysIt(way: String) throws {
      let (pictures, sound) = (child.folder.appending(path: "pictures"), child.folder.appending(path: "sound"))
      let played = try ChildProcess.run(
        "timeout",
        [
          "-k", "2", "-s", "INT", "9", "gst-launch-1.0", "-q", "rtspsrc", "name=camera",
          "location=rtsp://127.0.0.1:\(port)/", "user-id=frigate", "user-pw=\(token)", "protocols=\(way)",
          "latency=200", "camera.", "!", "application/x-rtp,media=video", "!", "rtpvp8depay", "!", "vp8dec", "!",
          "videoscale", "!", "video/x-raw,width=16,height=16", "!", "filesink", "location=\(pictures.path)", "camera.",
          "!", "application/x-rtp,media=audio", "!", "rtpopusdepay", "!", "opusdec", "!",
          "audio/x-raw,rate=48000,channels=1", "!", "filesink", "location=\(sound.path)",
        ])
      func size(_ file: URL) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
      }
      // I420 of 16x16, and two bytes a sample.
      #expect(try size(pictures) / 384 > 60, "\(played.error)")
      #expect(try size(sound) > 4 * 96_000, "\(played.error)")
    }

    @Test func aPlayerChoosesCameraAndSound() throws {
      let child = try ChildProcess(
        configuration: """
          name: Two
          cameras:
            - {id: cot, device: test, width: 640, height: 360}
            - {id: door, device: test, width: 320, height: 180}
          microphone: {device: test}
          rtsp: {enabled: true, listen: "127.0.0.1:0"}
          """, listen: "127.0.0.1:0")
      let port = try #require(try Self.status(child).rtspPort)
      let token = try Self.token(child, "nvr", allow: "view,listen")
      func get(_ query: String) throws -> (codecs: [String], error: String) {
        let (file, error) = try record("rtsp://nvr:\(token)@127.0.0.1:\(port)/\(query)", seconds: 2)
        return (try codecs(file), error)
      }
      #expect(try get("?camera=door").codecs == ["vp8,320", "opus,48000"])
      #expect(try get("?camera=cot&audio=pcmu").codecs == ["vp8,640", "pcm_mulaw,8000"])
      // G.711 of the tone that the test microphone makes.
      let file = self.child.folder.appending(path: "recorded.mkv")
      let tone = try ChildProcess.run("ffmpeg", ["-i", file.path, "-vn", "-af", "astats", "-f", "null", "-"]).error
      let peak = try #require(tone.firstMatch(of: /Peak level dB: (-?[\d.]+)/)?.output.1)
      #expect(try #require(Double(peak)) > -40, "\(tone)")
      #expect(try get("?audio=none").codecs == ["vp8,640"])
      #expect(try get("?video=h264").codecs == ["h264,640", "opus,48000"])
      #expect(try decodingErrors(file) == [])
      #expect(try packets(file, "v").count > 10)
      #expect(try get("?video=none&audio=pcmu").codecs == ["pcm_mulaw,8000"])
      for (query, words) in [
        ("?camera=attic", "404 there is no camera of this name"),
        ("nursery", "404 there is nothing at this path"),
        ("?video=none&audio=none", "403 this token allows nothing"),
      ] {
        #expect(try get(query).error.contains(words), "\(query)")
      }
      let refused = try Self.status(child).refused ?? []
      #expect(refused.contains { $0.status == 404 && $0.token == "nvr" && $0.reason.contains("no camera") })
    }

    // MARK: Players that never ask, are slow or lie

    @Test func aPlayerGetsKeyFramesWithoutAsking() throws {
      let (file, error) = try record(url(), seconds: 13)
      let rows = try ChildProcess.run(
        "ffprobe",
        [
          "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", file.path,
        ]
      ).output.split(separator: "\n").filter { $0.contains("K") }
      let times = rows.compactMap { $0.split(separator: ",").first.flatMap { Double($0) } }
      #expect(times.count >= 4, "\(rows) \(error)")
      #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 < 4.2 }, "\(times)")
    }

    /// Sets up the picture, and plays.
    private func play(_ client: RTSPClient, _ transport: String = "RTP/AVP/TCP;unicast;interleaved=0-1") throws {
      #expect(try client.ask("DESCRIBE").status == 200)
      #expect(try client.ask("SETUP", "trackID=0", "Transport: \(transport)").status == 200)
      #expect(try client.ask("PLAY").status == 200)
    }

    /// Milliseconds of the time stamp, and whether it begins a key frame, of each frame.
    private func frames(_ client: RTSPClient) throws -> [(milliseconds: UInt32, isKeyFrame: Bool)] {
      var frames: [(milliseconds: UInt32, isKeyFrame: Bool)] = []
      var sequence: UInt16?
      for packet in client.packets where packet.channel == 0 {
        let rtp = try RTPPacket(parsing: packet.bytes)
        if let sequence { #expect(rtp.header.sequenceNumber == sequence &+ 1) }
        sequence = rtp.header.sequenceNumber
        let time = rtp.header.timestamp / 90
        guard frames.last?.milliseconds != time else { continue }
        var payload = rtp.payload
        _ = try VP8PayloadDescriptor(parsing: &payload)
        // RFC 6386 section 9.1: the lowest bit of a key frame is 0.
        frames.append((time, (payload.first ?? 1) & 1 == 0))
      }
      return frames
    }

    @Test func aPlayerThatPausesGoesOnWithAKeyFrame() async throws {
      let client = try client(4096)
      try play(client)
      try client.receive(for: 1)
      // Until nothing more goes to it, and for three seconds more.
      var sent: UInt64 = 0
      try await wait {
        defer { sent = (try? viewers().first?.bytesSent) ?? 0 }
        usleep(500_000)
        return try viewers().first?.bytesSent == sent
      }
      try await Task.sleep(for: .seconds(3))
      #expect(try viewers().first?.bytesSent == sent && sent < 2_000_000)
      try client.receive(for: 6)
      let frames = try frames(client)
      let gaps = zip(frames, frames.dropFirst()).filter { $1.milliseconds - $0.milliseconds > 500 }
      #expect(!gaps.isEmpty && gaps.allSatisfy { $1.isKeyFrame }, "\(frames.map(\.milliseconds))")
      #expect(try client.ask("GET_PARAMETER").status == 200)
      #expect(try client.ask("TEARDOWN").status == 200)
      try await wait(2) { try viewers().isEmpty }
    }

    @Test func whoTakesNothingIsClosed() async throws {
      let client = try client(4096)
      try play(client)
      let flood = try self.client(4096)
      let start = Date()
      // Who asks and never reads the answers is closed at once.
      let many = String(repeating: "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n", count: 500)
      for _ in 0..<1000 { flood.write(many) }
      var answers = 0
      while (try? flood.read()) != nil { answers += 1 }
      #expect(answers < 100_000)
      #expect(Date().timeIntervalSince(start) < 10)
      try await wait(40) { try viewers().isEmpty }
      #expect(Date().timeIntervalSince(start) > 9)
    }

    @Test func whatIsNoRTSPEndsTheConnection() throws {
      for text in [
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n", String(repeating: "A", count: 9000), "\r\n\r\nOPTIONS\r\n\r\n",
        "OPTIONS * RTSP/1.0\r\nContent-Length: 99999999\r\n\r\n", "OPTIONS * RTSP/1.0\r\nContent-Length: -1\r\n\r\n",
      ] {
        let client = try client()
        client.write(text)
        #expect(try client.read().status == 400, "\(text.prefix(40))")
        #expect(throws: RTSPClient.Ending.closed) { try client.receive() }
      }
      let newer = try client()
      newer.write("OPTIONS * RTSP/2.0\r\nCSeq: 1\r\n\r\n")
      #expect(try newer.read().status == 505)
      let client = try client()
      #expect(try client.ask("PAUSE").status == 405 && client.ask("RECORD").status == 405)
      #expect(try client.ask("SETUP", "trackID=0", "Transport: RTP/AVP/TCP").status == 455)
      #expect(try client.ask("DESCRIBE").status == 200)
      #expect(try client.ask("SETUP", "trackID=7", "Transport: RTP/AVP/TCP").status == 404)
      #expect(try client.ask("SETUP", "trackID=0", "Transport: RTP/AVP;multicast").status == 461)
      #expect(try client.ask("PLAY").status == 455)
      #expect(try viewers().isEmpty && child.isRunning)
    }

    /// As many as one address may have, and more.
    @Test func idleConnectionsGiveWayToAPlayer() throws {
      let idle = try (0..<30).map { _ in try client() }
      let player = try client()
      try play(player)
      #expect(throws: RTSPClient.Ending.closed) { try idle[0].receive() }
      #expect(try idle[29].ask("OPTIONS").status == 200)
      try player.receive(for: 1)
      #expect(!player.packets.isEmpty)
    }

    /// Whoever does not play within 20 s; and a player of datagrams that is silent, though its connection is open.
    @Test func whoIsSilentIsEnded() async throws {
      let (idle, silent) = (try client(), try client())
      let start = Date()
      try play(silent, "RTP/AVP;unicast;client_port=65432-65433")
      #expect(try viewers().count == 1)
      #expect(throws: RTSPClient.Ending.closed) {
        while true {
          do { try idle.receive() } catch RTSPClient.Ending.silent {}
        }
      }
      #expect((19...24).contains(Date().timeIntervalSince(start)))
      #expect(throws: RTSPClient.Ending.closed) {
        while true {
          do { try silent.receive() } catch RTSPClient.Ending.silent {}
        }
      }
      #expect((60...72).contains(Date().timeIntervalSince(start)))
      try await wait(2) { try viewers().isEmpty }
    }
  }
}
