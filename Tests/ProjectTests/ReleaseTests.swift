import Foundation
import Testing

/// `systemd/debian/release` with small packages and keys that are made for the test. What apt makes of such a folder is
/// for `make test-release`.
@Suite struct ReleaseTests {
  private let shop: Shop

  init() throws { shop = try Shop() }

  @Test func whatIsReleasedIsSignedAndListed() throws {
    let said = try shop.release(of: "1.0", ["--url", "https://example.org/cradle"])
    #expect(said.status == 0, Comment(rawValue: said.text))
    try shop.verify("dists/trixie/InRelease")
    try shop.verify("dists/trixie/Release.gpg", "dists/trixie/Release")
    try shop.verify("pool/SHA256SUMS.asc", "pool/SHA256SUMS")
    let sums = try shop.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], in: "release/pool")
    #expect(sums.status == 0 && sums.text.matches(of: #/: OK/#).count == 6, Comment(rawValue: sums.text))

    // The chain that apt follows: InRelease names the indexes, those name the packages.
    let release = try shop.text("dists/trixie/InRelease")
    for line in ["Origin: Cradle", "Codename: trixie", "Architectures: amd64 arm64", "Acquire-By-Hash: yes"] {
      #expect(release.contains("\n\(line)\n"), "\(line)")
    }
    for architecture in ["amd64", "arm64"] {
      for part in ["", ".gz", ".xz"] {
        let index = "main/binary-\(architecture)/Packages\(part)"
        let hash = try shop.hash("dists/trixie/\(index)")
        #expect(release.contains(try Regex("\n \(hash) +[0-9]+ \(index)\n")), "\(index)")
        #expect(try shop.hash("dists/trixie/main/binary-\(architecture)/by-hash/SHA256/\(hash)") == hash)
      }
      let packages = try shop.text("dists/trixie/main/binary-\(architecture)/Packages")
      for name in ["cradle-child", "cradle-parent", "cradle-rendezvous"] {
        let file = "pool/\(name)_1.0_\(architecture).deb"
        let hash = try shop.hash(file)
        #expect(packages.contains("Filename: \(file)\n") && packages.contains("SHA256: \(hash)\n"))
      }
    }
    let sources = try shop.text("cradle.sources")
    #expect(sources.contains("\nURIs: https://example.org/cradle\n"))
    #expect(sources.contains("\nSigned-By: /etc/apt/keyrings/cradle-archive-keyring.asc\n"))
    #expect(try shop.text("cradle-archive-keyring.asc").hasPrefix("-----BEGIN PGP PUBLIC KEY BLOCK-----"))
  }

  @Test func theSameAgainMakesTheSame() throws {
    #expect(try shop.release(of: "1.0").status == 0)
    #expect(try shop.release(of: "1.0", ["--output", shop.path("other")]).status == 0)
    let first = try shop.contents("release")
    #expect(first.count > 15)
    #expect(try shop.contents("other") == first)
    // Into the folder itself, later and with another commit's date.
    #expect(try shop.release(of: "1.0", date: 1_800_000_000).status == 0)
    #expect(try shop.contents("release") == first)
  }

  @Test func aLaterVersionIsAddedAndTheEarlierStays() throws {
    #expect(try shop.release(of: "1.0", ["--url", "file:/media/cradle"]).status == 0)
    let first = try shop.contents("release")
    // apt ignores a release whose date goes back, and so its date never does.
    #expect(try shop.release(of: "1.1", date: 1_600_000_000).status == 0)
    try shop.verify("dists/trixie/InRelease")
    #expect(try shop.text("dists/trixie/Release").contains("\nDate: Tue, 14 Nov 2023 22:13:21 UTC\n"))
    let packages = try shop.text("dists/trixie/main/binary-arm64/Packages")
    #expect(packages.contains("Version: 1.0\n") && packages.contains("Version: 1.1\n"))
    #expect(try shop.text("cradle.sources").contains("\nURIs: file:/media/cradle\n"))
    // Who has read the first InRelease still finds all that it names.
    let second = try shop.contents("release")
    for (path, bytes) in first where path.contains("/by-hash/") || path.hasSuffix(".deb") {
      #expect(second[path] == bytes, "\(path)")
    }
  }

  @Test func whatWasReleasedIsNotReplaced() throws {
    #expect(try shop.release(of: "1.0").status == 0)
    let before = try shop.contents("release", signatures: true)
    let changed = try shop.release(of: "1.0", words: "changed")
    #expect(changed.status == 1 && changed.text.contains("_1.0_") && changed.text.contains("other contents"))
    let stranger = try shop.release(of: "1.1", key: "stranger@example.org")
    #expect(stranger.status == 1 && stranger.text.contains("signed by another key"), Comment(rawValue: stranger.text))
    #expect(try shop.contents("release", signatures: true) == before)
    #expect(try shop.release(of: "1.1", ["--change-key"], key: "stranger@example.org").status == 0)
    try shop.verify("dists/trixie/InRelease")
  }

  @Test func whatIsMissingIsSaid() throws {
    let cases: [(arguments: [String], words: String)] = [
      ([], "no key: --key"), (["--key"], "--key needs a value"),
      (["--key", "nobody@example.org"], "GnuPG has no key nobody@example.org"),
      (["--key", "example.org"], "names 3 keys"), (["--key", "half@example.org"], "without its secret half"),
      (["--key", Shop.key, "--packages", shop.path("none")], "there is no folder"),
      (["--key", Shop.key, "--packages", shop.path("")], "has no packages"),
      (["--key", Shop.key, "--url", "a b"], "--url a b"), (["--key", Shop.key, "--arch", "armhf"], "arm64 or amd64"),
    ]
    for (arguments, words) in cases {
      let said = try shop.run([Shop.script] + arguments)
      #expect(said.status == 1 && said.text.contains(words), "\(arguments): \(said.text)")
    }
    let half = try shop.packages("1.0") + "/arm64"
    let incomplete = try shop.run([
      Shop.script, "--key", Shop.key, "--packages", half, "--output", shop.path("release"),
    ])
    #expect(incomplete.status == 1 && incomplete.text.contains("there is no cradle-child for amd64"))
    // Half a package has all fields that apt's index names.
    let torn = try shop.packages("1.0", words: "torn")
    let tear = try shop.run(["truncate", "--size=-200", torn + "/amd64/cradle-parent_1.0_amd64.deb"])
    #expect(tear.status == 0)
    let whole = try shop.release(from: torn)
    #expect(whole.status == 1 && whole.text.contains("_1.0_amd64.deb is not a whole package"), "\(whole.text)")
    // A folder of somebody's own is left alone.
    try shop.write("mine", to: "release/letter.txt")
    let foreign = try shop.release(of: "1.0")
    #expect(foreign.status == 1 && foreign.text.contains("letter.txt"))
    #expect(try shop.contents("release", signatures: true).keys.sorted() == ["letter.txt"])
    #expect(try shop.run([Shop.script, "--help"]).text.hasPrefix("Makes a release"))

    // Without apt-utils.
    let tools = try shop.run(
      ["bash", "-c", "mkdir tools; for t in bash dirname git gpg sed; do ln -s $(command -v $t) tools/; done"])
    #expect(tools.status == 0)
    let bare = try shop.run([Shop.script, "--key", Shop.key], environment: ["PATH": shop.path("tools")])
    #expect(bare.status == 1 && bare.text.contains("apt install apt-utils"), Comment(rawValue: bare.text))
  }

  /// In a clone of its own, with a Makefile whose `deb` puts ready packages where the real one does.
  @Test func itBuildsBothArchitecturesOfWhatIsCommitted() throws {
    _ = try shop.packages("1.0")
    try shop.write(
      "deb:\n\tmkdir -p .build\n\tcp -r ../packages-1.0/$(ARCH) .build/debian-$(SUITE)-$(ARCH)\n", to: "clone/Makefile")
    let script = """
      mkdir -p systemd/debian && cp \(Shop.script) systemd/debian/ && echo .build/ >.gitignore && git init -q && git add . &&
      git -c user.name=A -c user.email=a@example.org commit -q --message=All --date=@1700000000
      """
    let cloned = try shop.run(
      ["bash", "-c", script], in: "clone", environment: ["GIT_COMMITTER_DATE": "@1700000000 +0"])
    try #require(cloned.status == 0, Comment(rawValue: cloned.text))
    try shop.write("more", to: "clone/new")
    let release = [shop.path("clone/systemd/debian/release"), "--key", Shop.key]
    let dirty = try shop.run(release)
    #expect(dirty.status == 1 && dirty.text.contains("?? new") && dirty.text.contains("not committed"))
    let said = try shop.run(release + ["--allow-dirty"])
    #expect(said.status == 0, Comment(rawValue: said.text))
    // The commit's date.
    #expect(try shop.release(of: "1.0").status == 0)
    #expect(try shop.contents("clone/.build/release-1.0") == shop.contents("release"))
  }
}

/// A folder with packages, keys and what is released of them.
private final class Shop {
  static let script = Project.root.appending(path: "systemd/debian/release").path
  static let key = "publisher@example.org"
  private let folder = FileManager.default.temporaryDirectory.appending(path: "cradle-\(UUID().uuidString.prefix(8))")

  struct Problem: Error { let text: String }

  init() throws {
    try FileManager.default.createDirectory(
      at: folder.appending(path: "gnupg"), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let make = "gpg --batch --quiet --passphrase '' --quick-generate-key"
    let forget = "gpg --batch --quiet --yes --delete-secret-keys"
    let said = try run([
      "bash", "-c",
      """
      set -e
      for name in publisher stranger half; do \(make) $name@example.org ed25519 sign never; done
      \(forget) $(gpg --with-colons --list-keys half@example.org | awk -F: '/^fpr/ { print $10; exit }')
      """,
    ])
    if said.status != 0 { throw Problem(text: said.text) }
  }

  deinit {
    _ = try? run(["gpgconf", "--kill", "all"])
    try? FileManager.default.removeItem(at: folder)
  }

  func path(_ path: String) -> String { folder.appending(path: path).path }

  /// Output and errors together.
  func run(
    _ command: [String], in place: String = "", environment: [String: String] = [:]
  ) throws -> (text: String, status: Int32) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.currentDirectoryURL = folder.appending(path: place)
    process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "SOURCE_DATE_EPOCH" }
      .merging(["GNUPGHOME": path("gnupg"), "LC_ALL": "C.UTF-8"]) { $1 }
      .merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (text, process.terminationStatus)
  }

  func write(_ text: String, to path: String) throws {
    let file = folder.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// The folder with one folder for each architecture.
  func packages(_ version: String, words: String = "") throws -> String {
    let name = "packages-\(version)\(words)"
    let maker = Project.root.appending(path: "Tests/Fixtures/release-packages").path
    let said = try run([maker, path(name), version, words])
    if said.status != 0 { throw Problem(text: said.text) }
    return path(name)
  }

  /// Releases small packages of this version into `release`.
  func release(
    of version: String, _ more: [String] = [], key: String = Shop.key, words: String = "", date: Int = 1_700_000_000
  ) throws -> (text: String, status: Int32) {
    try release(from: packages(version, words: words), more, key: key, date: date)
  }

  func release(
    from packages: String, _ more: [String] = [], key: String = Shop.key, date: Int = 1_700_000_000
  ) throws -> (text: String, status: Int32) {
    let command = [
      Self.script, "--key", key, "--packages", packages + "/arm64", "--packages", packages + "/amd64", "--output",
      path("release"),
    ]
    return try run(command + more, environment: ["SOURCE_DATE_EPOCH": "\(date)"])
  }

  func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appending(path: "release/\(path)"), encoding: .utf8)
  }

  /// SHA-256 in hexadecimal digits.
  func hash(_ path: String) throws -> String {
    String(try run(["sha256sum", path], in: "release").text.prefix(64))
  }

  func verify(_ files: String...) throws {
    let said = try run(["gpgv", "--keyring", path("release/cradle-archive-keyring.gpg")] + files, in: "release")
    #expect(said.status == 0, "\(files): \(said.text)")
  }

  /// Every file below the folder. Signatures differ from run to run; without them it is their presence that counts.
  func contents(_ place: String, signatures: Bool = false) throws -> [String: Data] {
    let paths = try run(["find", ".", "-type", "f", "-printf", "%P\\n"], in: place).text.split(separator: "\n")
    var contents: [String: Data] = [:]
    for path in paths.map(String.init) {
      let signed = path.hasSuffix("InRelease") || path.hasSuffix(".gpg") || path.hasSuffix("SUMS.asc")
      let file = folder.appending(path: place).appending(path: path)
      contents[path] = signed && !signatures ? Data() : try Data(contentsOf: file)
    }
    return contents
  }
}
