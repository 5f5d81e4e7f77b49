import Testing

@testable import Child

@Suite struct AccessTokenTests {
  @Test(arguments: ["Bearer cradle_abc-_1", "bearer cradle_abc-_1"])
  func aBearerTokenIsTaken(header: String) {
    #expect(AccessToken.read(fromAuthorization: header) == "cradle_abc-_1")
  }

  @Test(arguments: [
    // RFC 7617 section 2: "player:cradle_abc-_1", ":cradle_abc-_1", "player:with:colons"
    ("Basic cGxheWVyOmNyYWRsZV9hYmMtXzE=", "cradle_abc-_1"), ("basic OmNyYWRsZV9hYmMtXzE=", "cradle_abc-_1"),
    ("Basic cGxheWVyOndpdGg6Y29sb25z", "with:colons"),
  ])
  func thePasswordOfAnAddressIsTaken(header: String, token: String) {
    #expect(AccessToken.read(fromAuthorization: header) == token)
  }

  @Test(arguments: ["", "Bearer", "Basic", "Basic ????", "Basic cGxheWVy", "Digest cradle_abc", "cradle_abc"])
  func anythingElseIsNone(header: String) {
    #expect(AccessToken.read(fromAuthorization: header) == nil)
  }
}
