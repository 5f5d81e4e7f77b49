import Foundation
import Testing

/// `/still.jpg` and `/sound.ogg`, `/sound.mp3` of the real program, with curl, ffmpeg and GStreamer.
extension RealPeers {
  @Suite struct StillAndSoundTests {
    private struct Reply {
      var status = 0
      var head = ""
      var body = Data()
      var seconds = 0.0
    }

    private func get(_ child: ChildProcess, _ path: String, _ arguments: [String], for seconds: Int = 10) throws
      -> Reply
    {
      let (head, body) = (child.folder.appending(path: "head"), child.folder.appending(path: "body"))
      try? FileManager.default.removeItem(at: body)
      let (output, _, _) = try ChildProcess.run(
        "curl",
        [
          "-sk", "--max-time", "\(seconds)", "-D", head.path, "-o", body.path, "-w",
          "%{http_code} %{time_starttransfer}",
        ] + arguments + ["https://127.0.0.1:\(child.port)\(path)"])
      let figures = output.split(separator: " ")
      return Reply(
        status: Int(figures[0]) ?? 0, head: try String(contentsOf: head, encoding: .utf8).lowercased(),
        body: (try? Data(contentsOf: body)) ?? Data(), seconds: Double(figures[1]) ?? 0)
    }

    private func bearer(_ token: String) -> [String] { ["-H", "Authorization: Bearer \(token)"] }

    private func token(_ child: ChildProcess, allow: String) throws -> String {
      struct Added: Decodable { var token: String }
      let added = try child.command(["token", "add", "--name", allow, "--allow", allow, "--json"])
      return try JSONDecoder().decode(Added.self, from: Data(added.output.utf8)).token
    }

    /// What ffprobe finds in a file: its first stream.
    private func probe(_ file: URL) throws -> String {
      try ChildProcess.run(
        "ffprobe",
        [
          "-v", "error", "-show_entries", "stream=codec_name,width,height,sample_rate,channels", "-of", "csv=p=0",
          file.path,
        ]
      ).output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func aStillComesAtOnceWhileNobodyWatches() throws {
      let child = try ChildProcess()
      let times = try (0..<12).map { number in
        let still = try get(child, "/still.jpg", bearer(child.token))
        #expect(still.status == 200 && still.head.contains("cache-control: no-store"), "\(still.head)")
        if number == 0 { #expect(try probe(child.folder.appending(path: "body")).hasPrefix("mjpeg,640,360")) }
        return still.seconds
      }
      #expect(times.sorted()[10] < 1, "\(times)")
      #expect(try get(child, "/still.jpg?camera=cot&height=180", ["-u", "any:\(child.token)"]).status == 200)
      #expect(try probe(child.folder.appending(path: "body")).hasPrefix("mjpeg,320,180"))
      #expect(try get(child, "/still.jpg?height=4000", bearer(child.token)).status == 200)
      let head = try get(child, "/still.jpg", bearer(child.token) + ["-I"])
      #expect(head.status == 200 && head.head.contains("content-type: image/jpeg"))
      // With `-I` curl's output is the head.
      #expect(head.body.count < 1000)
      // Nobody has become a viewer by it.
      #expect(try child.command(["status"]).output.contains("No viewers."))
    }

    @Test func aStillThatCannotBeIsRefusedInWords() throws {
      let child = try ChildProcess()
      let none = try get(child, "/still.jpg", [])
      #expect(
        none.status == 401 && none.head.contains("www-authenticate: basic")
          && none.head.contains("www-authenticate: bearer"))
      #expect(try get(child, "/still.jpg", bearer("cradle_wrong")).status == 401)
      let listening = try token(child, allow: "listen")
      #expect(try get(child, "/still.jpg", bearer(listening)).status == 403)
      #expect(try get(child, "/still.jpg?camera=attic", bearer(child.token)).status == 404)
      for height in ["0", "x", "99999", "-5", "%ff"] {
        #expect(try get(child, "/still.jpg?height=\(height)", bearer(child.token)).status == 400, "\(height)")
      }
      #expect(try get(child, "/still.jpg", bearer(child.token) + ["-X", "POST"]).status == 405)
      // All at once: one after the other, a busy machine might not ask too often.
      let many = try ChildProcess.run(
        "curl",
        ["-sk", "--parallel", "-o", "/dev/null", "-w", "%{http_code} %header{retry-after}\n"] + bearer(child.token)
          + ["https://127.0.0.1:\(child.port)/still.jpg?height=16&x=[1-60]"])
      let refused = many.output.split(separator: "\n").filter { $0.hasPrefix("429 ") }
      #expect(refused.count > 10 && refused.allSatisfy { $0.count > 4 }, Comment(rawValue: many.output))
    }

    @Test func aCameraThatIsMissingHasNoStill() throws {
      let child = try ChildProcess(
        configuration: "name: Test\ncameras:\n  - {id: cot, device: /dev/video99}\nmicrophone: {device: none}\n")
      let still = try get(child, "/still.jpg", bearer(child.token))
      #expect(still.status == 503 && still.head.contains("problem+json") && still.seconds < 2)
      #expect(String(decoding: still.body, as: UTF8.self).contains("/dev/video99"))
      let sound = try get(child, "/sound.ogg", bearer(child.token))
      #expect(sound.status == 503 && String(decoding: sound.body, as: UTF8.self).contains("no microphone"))
    }

    @Test(arguments: [("ogg", "opus,48000,1"), ("mp3", "mp3,48000,1")])
    func theSoundIsWholeAndLive(ending: String, expected: String) throws {
      let child = try ChildProcess()
      let sound = try get(child, "/sound.\(ending)", bearer(child.token), for: 6)
      #expect(sound.status == 200 && sound.head.contains("transfer-encoding: chunked"), "\(sound.head)")
      #expect(sound.seconds < 2)
      let file = child.folder.appending(path: "body")
      #expect(try probe(file) == expected)
      // Decoded without an error or a warning, and as long as it was listened to.
      let decoded = try ChildProcess.run(
        "ffmpeg", ["-v", "warning", "-f", ending, "-i", file.path, "-f", "s16le", "-ac", "1", "-ar", "48000", "-"])
      let warnings = decoded.error.split(separator: "\n").filter { !$0.contains("Estimating duration") }
      #expect(warnings.isEmpty, "\(warnings)")
      let seconds = Double(
        try ChildProcess.run(
          "sh", ["-c", "ffmpeg -v error -xerror -i \(file.path) -f s16le -ac 1 -ar 48000 - | wc -c"]
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
      ).map { $0 / 96_000 }
      #expect(try #require(seconds) > 4 && #require(seconds) < 6.5)
      let refused = try get(child, "/sound.\(ending)", bearer(token(child, allow: "view")))
      #expect(refused.status == 403)
      let head = try get(child, "/sound.\(ending)", bearer(child.token) + ["-I"])
      #expect(head.status == 200 && head.body.count < 1000)
      // Whoever listened is gone.
      usleep(300_000)
      #expect(try child.command(["status"]).output.contains("No viewers."))
    }

    @Test func aListenerIsAViewerWhoseTokenEndsIt() async throws {
      let child = try ChildProcess()
      let url = "https://any:\(child.token)@127.0.0.1:\(child.port)/sound.ogg"
      async let listening = Task.detached {
        try ChildProcess.run("ffmpeg", ["-v", "error", "-tls_verify", "0", "-i", url, "-f", "null", "-"])
      }.value
      let deadline = Date().addingTimeInterval(20)
      var status = ""
      while Date() < deadline, !status.contains(#""state":"connected""#) {
        status = try child.command(["status", "--json"]).output
        try await Task.sleep(for: .milliseconds(200))
      }
      #expect(status.contains(#""name":"test""#) && status.contains(#""state":"connected""#), "\(status)")
      let revoked = Date()
      #expect(try child.command(["token", "revoke", "test"]).status == 0)
      _ = try await listening
      #expect(Date().timeIntervalSince(revoked) < 3)
      #expect(try child.command(["status"]).output.contains("No viewers."))
    }

    /// GStreamer plays both.
    @Test(arguments: [("ogg", "oggdemux ! opusdec"), ("mp3", "mpegaudioparse ! mpg123audiodec")])
    func gstreamerPlaysIt(ending: String, decoding: String) throws {
      let child = try ChildProcess()
      let played = try ChildProcess.run(
        "timeout",
        [
          "-k", "2", "-s", "INT", "8", "gst-launch-1.0", "-q", "souphttpsrc", "is-live=true", "ssl-strict=false",
          "user-id=any", "user-pw=\(child.token)", "location=https://127.0.0.1:\(child.port)/sound.\(ending)", "!",
        ] + decoding.split(separator: " ").map(String.init) + [
          "!", "audioconvert", "!", "filesink",
          "location=\(child.folder.appending(path: "played").path)",
        ])
      let size = try FileManager.default.attributesOfItem(atPath: child.folder.appending(path: "played").path)[.size]
      #expect((size as? Int ?? 0) > 3 * 96_000, "\(played.error)")
    }
  }
}
