import ArgumentParser

/// What `make bench` needs from the media rooms alone: the test pictures and the encoder, with no network around them.
@main
struct CradleBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-benchmarks",
    abstract: "Measures parts of Cradle by themselves; Tests/Benchmarks/bench.py puts the figures together.",
    subcommands: [Draw.self, WriteY4M.self, Encode.self])
}
