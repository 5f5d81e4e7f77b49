import Testing

@testable import Server

@Suite struct HTTPStreamTests {
  private final class Client {
    var isReady = true
    var taken: [[UInt8]] = []
    var isClosed = false

    var connection: HTTPStream.Connection {
      HTTPStream.Connection(
        isReady: { self.isReady }, write: { self.taken.append($0) }, close: { self.isClosed = true })
    }
  }

  @Test func aSlowClientMissesWhatWaitsTooLongAndThenGetsTheNewest() {
    let stream = HTTPStream(maximumWaitingBytes: 10)
    let client = Client()
    stream.send([0, 0])
    stream.connect(client.connection)
    #expect(client.taken == [[0, 0]])
    client.isReady = false
    for number in 1...6 { stream.send([UInt8(number), 0, 0, 0]) }
    #expect(client.taken.count == 1 && stream.droppedPieces == 4)
    client.isReady = true
    stream.flush()
    #expect(client.taken.last == [5, 0, 0, 0, 6, 0, 0, 0])
    #expect(stream.sentPieces == 3 && stream.sentBytes == 10)
    stream.send(Array(repeating: 1, count: 11))
    #expect(client.taken.count == 2 && stream.droppedPieces == 5)
  }

  @Test func theEndIsReportedOnceWhoeverMakesIt() {
    for isOurs in [true, false] {
      let stream = HTTPStream(maximumWaitingBytes: 10)
      let client = Client()
      var ends = 0
      stream.ended = { ends += 1 }
      stream.connect(client.connection)
      if isOurs { stream.close() } else { stream.connectionEnded() }
      stream.close()
      stream.connectionEnded()
      stream.send([1])
      #expect(ends == 1 && client.isClosed == isOurs && client.taken.isEmpty)
    }
  }

  @Test func oneThatEndedBeforeItBeganClosesItsConnection() {
    let stream = HTTPStream(maximumWaitingBytes: 10)
    let client = Client()
    stream.close()
    stream.connect(client.connection)
    #expect(client.isClosed)
  }
}
