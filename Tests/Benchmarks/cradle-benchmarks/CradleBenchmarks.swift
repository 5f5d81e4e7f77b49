import ArgumentParser

/// What `make bench` needs beside the programs: test pictures, the encoder alone, orders on an open session, the event
/// store, viewers that decode nothing.
@main
struct CradleBenchmarks: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cradle-benchmarks",
    abstract: "Measures parts of Cradle by themselves; Tests/Benchmarks/bench.py puts the figures together.",
    subcommands: [Draw.self, WriteY4M.self, Encode.self, Noise.self, Orders.self, Events.self, Proofs.self, Crowd.self])
}
