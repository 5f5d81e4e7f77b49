import ArgumentParser
import Commands
import Glibc
import Linux
import Pairing
import Parent

/// `cradle-parent pair`
struct Pair: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Pairs this computer with a camera, by the code or the link that the camera shows.",
    discussion: """
      On the camera: cradle-child pair. Without --code, asks for the code. While this runs, other users of this machine can see \
      --code and --link; --code-file and --link-file keep them from that. Compare the words that both sides show. If they \
      differ, someone may be intercepting the connection: on a terminal this command asks, and removes the pairing at both \
      ends; elsewhere cradle-parent unpair does.
      """)

  @OptionGroup var state: StateOptions
  @Argument(
    help:
      "The camera's name, its id (the first four digits do) or host:port. (default: the only one that is open for pairing)"
  )
  var child: String?
  @Option(help: "The code that the camera shows, such as 1234-5678.")
  var code: String?
  @Option(help: "The code from \(SecretOption.help)", completion: .file())
  var codeFile: String?
  @Option(help: "The link that the camera or its owner gave: https://HOST/#pair=SECRET.")
  var link: String?
  @Option(help: "The link from \(SecretOption.help)", completion: .file())
  var linkFile: String?
  @Option(help: "This computer's name at the camera. (default: this machine's name)")
  var name: String?
  @Flag(help: "Print one JSON object {paired: {id, name}, words, allow, expiresAt}.")
  var json = false

  private struct Report: Encodable {
    struct Paired: Encodable {
      var id: String
      var name: String
    }

    var paired: Paired
    var words: String
    var allow: [String]
    /// Seconds since 1970-01-01 UTC; left out for never.
    var expiresAt: Int64?
  }

  func validate() throws {
    if code != nil, codeFile != nil { throw ValidationError("Give --code or --code-file, not both.") }
    if link != nil, linkFile != nil { throw ValidationError("Give --link or --link-file, not both.") }
    if link != nil || linkFile != nil, code != nil || codeFile != nil || child != nil {
      throw ValidationError("A link contains the address and the secret: give it without CHILD and --code.")
    }
    if let code, PairingCode(code) == nil { throw ValidationError(Self.codeForm) }
    if let link, PairingLink(link) == nil { throw ValidationError(Self.linkForm) }
  }

  private static let codeForm = "A code has eight digits, such as 1234-5678."
  private static let linkForm = "A link looks like https://HOST/#pair=SECRET."

  /// With what the files hold.
  private func withSecretsRead() throws(Failure) -> Pair {
    var read = self
    if let code = try SecretOption.read(codeFile, "--code-file") {
      guard PairingCode(code) != nil else { throw .badConfiguration("--code-file: \(Self.codeForm)") }
      read.code = code
    }
    if let link = try SecretOption.read(linkFile, "--link-file") {
      guard PairingLink(link) != nil else { throw .badConfiguration("--link-file: \(Self.linkForm)") }
      read.link = link
    }
    return read
  }

  func run() async throws {
    try await withSecretsRead().pairAndShow()
  }

  private func pairAndShow() async throws {
    let call = try await failing { PairingCall(state: try state.parent(), name: name ?? Self.hostName) }
    let outcome = try await failing { try await pair(call) }
    let (record, grant) = (outcome.record, outcome.grant)
    if json {
      print(
        JSONLine.text(
          Report(
            paired: .init(id: record.id, name: record.name), words: "\(outcome.words)", allow: grant.permissions.names,
            expiresAt: grant.expiresAt?.seconds)))
    } else {
      show(record, outcome.words, grant)
    }
    // Whoever reads this through a pipe need not wait for the rest.
    try StandardOutput.flush()
    if !json, TerminalQuestion.isDenied("Does the camera show the same words?") { try await cancel(outcome, call) }
    await call.confirm(outcome)
    await askForMeetingPlaces(of: record)
  }

  private func cancel(_ outcome: PairingCall.Outcome, _ call: PairingCall) async throws -> Never {
    try await failing { try await withProgress("Cancelling") { try await call.cancel(outcome) } }
    throw Failure.failed(
      "Pairing was cancelled, and the camera has removed this device. The words differed: someone may be intercepting the "
        + "connection. Try again on a network that you trust.")
  }

  private func show(_ record: PairRecord, _ words: CheckWords, _ grant: PairingGrant) {
    print("Paired with \(record.name) (\(record.id)).")
    print("Check that the camera shows the same words: \(words)")
    print("If they differ, someone may be intercepting the connection.")
    print("This computer may: \(grant.permissions.names.joined(separator: ", ")).")
    if let end = grant.expiresAt { print("Until \(LocalTime.text(unixSeconds: Double(end.seconds))).") }
  }

  /// So that this parent can get in from elsewhere without having been connected at home. The pair is stored already: failing
  /// here is no failure of pairing.
  private func askForMeetingPlaces(of record: PairRecord) async {
    do {
      let child = try await state.finder().paired(record.id)
      try await withProgress("Asking how the camera is reached from elsewhere") { try await AwayCall.ask(child) }
    } catch {
      printError(
        "How “\(record.name)” is reached from elsewhere is not known yet (\(error)). Connect once at home with "
          + "`cradle-parent watch`.")
    }
  }

  private func pair(_ call: PairingCall) async throws -> PairingCall.Outcome {
    if let link = link.flatMap({ PairingLink($0) }) {
      return try await withProgress("Pairing") { try await call.pair(link) }
    }
    let finder = try state.finder()
    let (addresses, announced) = try await withProgress("Looking for the camera") { try await finder.find(child) }
    var call = call
    call.announcedName = announced
    var given = code.flatMap { PairingCode($0) }
    while true {
      let next = try given ?? Self.askForCode()
      given = nil
      do {
        return try await pair(next, addresses, call)
      } catch PairingError.wrongCode(let left?) where left > 0 && code == nil {
        printError("\(PairingError.wrongCode(triesLeft: left))")
      }
    }
  }

  /// Waits when the child asks for a pause between tries.
  private func pair(
    _ code: PairingCode, _ addresses: [ChildAddress], _ call: PairingCall
  ) async throws -> PairingCall.Outcome {
    try await withProgress("Pairing") {
      while true {
        do {
          return try await call.pair(code, at: addresses)
        } catch PairingError.refused(.tooManyTries(let wait)) where wait <= .seconds(10) {
          try await Task.sleep(for: wait)
        }
      }
    }
  }

  private static func askForCode() throws -> PairingCode {
    guard isatty(STDIN_FILENO) == 1 else {
      throw Failure.badConfiguration("give the code that `cradle-child pair` shows with --code or --code-file")
    }
    while true {
      printError("The code that the camera shows:")
      guard let line = readLine() else { throw Failure.failed("no code was given") }
      if let code = PairingCode(line) { return code }
      printError(codeForm)
    }
  }

  private static var hostName: String {
    let name = MachineName.current
    return name.isEmpty ? "Parent" : name
  }
}
