import Control
import Foundation
import Parent
import Testing

extension RealPeers {
  /// A memory card that takes a second for each sync: whatever is stored meanwhile, the child goes on, and says that it is done
  /// when it is.
  @Suite struct SlowDiskTests {
    /// While there is a file beside the library with this name.
    private static let shim = """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stdlib.h>
      #include <unistd.h>
      int fsync(int file) {
        const char *slow = getenv("SLOW_WHILE");
        if (slow && access(slow, F_OK) == 0) usleep(1000000);
        return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
      }
      """

    private static func compileShim(in folder: URL) throws -> String {
      let source = folder.appending(path: "slow.c"), library = folder.appending(path: "slow.so")
      try Data(shim.utf8).write(to: source)
      let made = try ChildProcess.run(
        "cc", ["-shared", "-fPIC", "-o", library.path, source.path, "-ldl"])
      try #require(made.status == 0, Comment(rawValue: made.error))
      return library.path
    }

    @Test func storingHoldsNothingUp() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let slow = folder.appending(path: "slow")
      let house = try Household(
        configuration: Household.configuration
          + "\npush: {contact: \"mailto:us@example.org\", private-networks: true}\n",
        prefix: ["env", "LD_PRELOAD=\(try Self.compileShim(in: folder))", "SLOW_WHILE=\(slow.path)"])
      // Somebody who watches all the time, and whose picture no drill cuts off.
      let viewer = try ParentProcess("https://\(house.address)/whep", token: house.child.token, arguments: [])
      #expect(viewer.wait { $0.framesPerSecond > 0 } != nil, Comment(rawValue: viewer.log))
      let linesBefore = viewer.figures.count
      try Data().write(to: slow)
      // Answers of the event loop, fewer than the limit for new connections, while a pairing, a token, a drill's end and a revoked pair are stored.
      let watcher = Process()
      watcher.executableURL = URL(filePath: "/bin/sh")
      let times = folder.appending(path: "times").path
      watcher.arguments = [
        "-c",
        "while :; do curl -sk --max-time 30 -o /dev/null -w '%{time_total}\\n' https://\(house.address)/healthz >>\(times); sleep 0.1; done",
      ]
      try watcher.run()
      defer {
        watcher.terminate()
        watcher.waitUntilExit()
      }
      let began = Date()
      try house.pair()
      #expect(Date().timeIntervalSince(began) > 2, "it is told after the record is on disk")
      let pairs = try String(contentsOf: house.child.folder.appending(path: "state/pairs.json"), encoding: .utf8)
      #expect(pairs.contains(try #require(house.pairs().first?.id)))
      try await storeMore(house)
      let token = try house.child.command(["token", "add", "--name", "tv", "--json"])
      #expect(token.status == 0, Comment(rawValue: token.error))
      let tokens = try String(contentsOf: house.child.folder.appending(path: "state/tokens.json"), encoding: .utf8)
      #expect(tokens.contains("\"tv\""))
      let renewed = try house.child.command(["certificate", "renew"])
      #expect(renewed.status == 0, Comment(rawValue: renewed.error))
      let gone = try house.child.command(["unpair", "--all"])
      #expect(gone.status == 0, Comment(rawValue: gone.error))
      #expect(
        !(try String(contentsOf: house.child.folder.appending(path: "state/pairs.json"), encoding: .utf8))
          .contains("publicKey"))
      try FileManager.default.removeItem(at: slow)
      let answers = try String(contentsOfFile: times, encoding: .utf8).split(separator: "\n").compactMap { Double($0) }
      #expect(answers.count > 20)
      // One write takes two seconds, and there were six.
      #expect(answers.max() ?? 9 < 1.8, "\(answers.sorted().suffix(5))")
      // Whatever takes two seconds and holds up the loop leaves one of these lines without a picture.
      let rates = viewer.figures.dropFirst(linesBefore).map(\.framesPerSecond)
      #expect(rates.count > 5 && rates.allSatisfy { $0 > 0 }, "\(rates)")
    }

    /// A push subscription and a drill: what a parent has the child store while others watch.
    private func storeMore(_ house: Household) async throws {
      let watching = try ParentProcess(paired: house.state, arguments: ["--audio-only"])
      #expect(watching.wait { $0.audioKbps > 0 } != nil, Comment(rawValue: watching.log))
      let finder = ChildFinder(state: try ParentState(path: house.state.path))
      let session = try await ControlSession.open(finder.paired(nil))
      _ = try await session.perform(PushKeyGet())
      _ = try await session.perform(
        PushSubscribe(
          endpoint: "https://127.0.0.1:9/x",
          p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
          auth: "BTBZMqHH6r4Tts7J_aSIgg"))
      let push = try String(contentsOf: house.child.folder.appending(path: "state/push.json"), encoding: .utf8)
      #expect(push.contains("127.0.0.1:9"), "it is told after it is on disk")
      _ = try await session.perform(DrillStart([.microphone]))
      _ = try await session.perform(DrillStop())
      await session.close()
    }
  }
}
