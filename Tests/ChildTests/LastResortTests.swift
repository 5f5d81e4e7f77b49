import Devices
import Testing
import Wire

@testable import Child

@Suite struct LastResortTests {
  /// Notes the states, a second each; when it gave up, in seconds.
  private func givesUp(_ states: [(LastResort.State, seconds: Int)]) -> Int? {
    var resort = LastResort()
    var second = 0
    for (state, seconds) in states {
      for _ in 0..<seconds {
        if resort.note([("the microphone", .working), ("camera cot", state)], now: .zero + .seconds(second)) != nil {
          return second
        }
        second += 1
      }
    }
    return nil
  }

  @Test func aDeviceThatWorkedAndFailsForFiveMinutesNeedsAnotherProcess() {
    #expect(givesUp([(.working, 10), (.failing, 1000)]) == 310)
  }

  @Test func oneThatNeverWorkedDoesNot() {
    #expect(givesUp([(.failing, 100_000)]) == nil)
  }

  @Test func oneThatIsNotThereDoesNot() {
    #expect(givesUp([(.working, 10), (.absent, 100_000)]) == nil)
  }

  @Test func timeThatItWorksOrIsGoneBeginsAnew() {
    #expect(
      givesUp([(.working, 10), (.failing, 299), (.working, 1), (.failing, 299), (.absent, 1), (.failing, 299)]) == nil)
  }

  @Test func itsNameIsTold() {
    var resort = LastResort()
    _ = resort.note([("camera cot", .working)], now: .zero)
    _ = resort.note([("camera cot", .failing)], now: .zero)
    #expect(resort.note([("camera cot", .failing)], now: .zero + LastResort.patience) == "camera cot")
  }

  @Test func onlyWhatAnotherProcessMayMendIsAFailure() {
    func state(_ reason: DeviceError.Reason) -> LastResort.State {
      LastResort.State(DeviceStatus<Int>.missing(DeviceError(device: "cam", reason: reason)))
    }
    #expect(state(.frozen) == .failing)
    #expect(state(.silent(milliseconds: 4000)) == .failing)
    #expect(state(.digitalSilence) == .failing)
    #expect(state(.io(operation: "read", errno: 5)) == .failing)
    #expect(state(.notFound) == .absent)
    #expect(state(.disconnected) == .absent)
    #expect(state(.busy) == .absent)
    #expect(state(.permissionDenied) == .absent)
    #expect(LastResort.State(DeviceStatus<Int>.running(1)) == .working)
    #expect(LastResort.State(DeviceStatus<Int>.opening) == .absent)
  }
}
