import Pairing
import TestSupport
import Testing

@testable import Identity

@Suite struct P256ArithmeticTests {
  private let group = P256Arithmetic()
  private let generator = Fixture.hex(
    "046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"
      + "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5")
  private let order = Fixture.hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")

  private func scalar(_ value: UInt8) -> P256Scalar { group.scalar(reducing: [value]) }

  @Test func oneTimesTheGeneratorIsTheGenerator() throws {
    #expect(group.multiplyGenerator(by: scalar(1))?.bytes == generator)
    #expect(try group.multiply(#require(group.point(generator)), by: scalar(1))?.bytes == generator)
  }

  @Test func sumsAndProductsAgree() throws {
    let two = try #require(group.multiplyGenerator(by: scalar(2)))
    let three = try #require(group.multiplyGenerator(by: scalar(3)))
    #expect(group.add(two, three) == group.multiplyGenerator(by: scalar(5)))
    #expect(group.multiply(two, by: scalar(3)) == group.multiply(three, by: scalar(2)))
    #expect(group.add(three, group.negate(two))?.bytes == generator)
    #expect(group.add(two, two) == group.multiplyGenerator(by: scalar(4)))
  }

  @Test func identityIsNoPoint() throws {
    let two = try #require(group.multiplyGenerator(by: scalar(2)))
    #expect(group.add(two, group.negate(two)) == nil)
    #expect(group.multiplyGenerator(by: scalar(0)) == nil)
    #expect(group.multiply(two, by: scalar(0)) == nil)
    #expect(group.point([0]) == nil)
  }

  @Test func pointsOffTheCurveAndOtherFormsAreRefused() {
    #expect(group.point(generator)?.bytes == generator)
    for index in [1, 32, 33, 64] {
      var bytes = generator
      bytes[index] ^= 1
      #expect(group.point(bytes) == nil)
    }
    #expect(group.point([3] + generator[1...32]) == nil)
    #expect(group.point([6] + generator[1...]) == nil)
    #expect(group.point([]) == nil)
    #expect(group.point(generator + [0]) == nil)
    // x + p, the same point modulo p in another spelling.
    #expect(group.point([4] + Array(repeating: 0xff, count: 32) + generator[33...]) == nil)
  }

  @Test func scalarsAreReduced() {
    #expect(group.scalar(reducing: order) == scalar(0))
    #expect(group.scalar(reducing: []) == scalar(0))
    var next = order
    next[31] += 1
    #expect(group.scalar(reducing: next) == scalar(1))
    // (2^320 - 1) mod n, by any other calculator.
    #expect(
      group.scalar(reducing: Array(repeating: 0xff, count: 40)).bytes
        == Fixture.hex("fffffffe00000001431905529c0166cd22159165b6faae70f756a571fc632550"))
    #expect(group.scalar(reducing: [5]).bytes.count == 32)
  }
}
