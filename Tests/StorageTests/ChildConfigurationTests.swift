import DeviceNames
import TURN
import Testing

@testable import Storage

@Suite struct ChildConfigurationTests {
  private static func parse(_ text: String) throws(ConfigurationErrors) -> ChildConfiguration {
    try ChildConfiguration.parse(Array(text.utf8), file: "child.yaml")
  }

  private static func errors(_ text: String) -> [ConfigurationError] {
    do throws(ConfigurationErrors) {
      _ = try parse(text)
      return []
    } catch {
      return error.errors
    }
  }

  private static let shipped = ShippedConfiguration("child.yaml")

  // MARK: - The shipped file

  @Test func shippedFileIsTheDefaults() throws {
    #expect(try ChildConfiguration.load(path: Self.shipped.path) == .defaults)
  }

  @Test func shippedFileShowsEveryKeyWithItsDefault() throws {
    let text = try Self.shipped.shownKeys()
    #expect(try Self.parse(text) == .defaults)
  }

  @Test(arguments: ["", "\n", "# nothing\n", "---\n", "{}", "null"])
  func emptyFileIsTheDefaults(text: String) throws {
    #expect(try Self.parse(text) == .defaults)
  }

  @Test func missingFileIsNil() throws {
    #expect(try ChildConfiguration.load(path: "/nonexistent/child.yaml") == nil)
  }

  // MARK: - Values

  @Test func everyKeyIsRead() throws {
    let configuration = try Self.parse(
      """
      name: Nursery
      listen: "127.0.0.1:9443"
      tls: {certificate: /etc/c.pem, key: /etc/k.pem}
      media-ports: [50000, 50100]
      cameras:
        - id: cot
          device: /dev/v4l/by-id/usb-cam
          width: 640
          height: 480
          framerate: 14.985
        - device: file:/srv/clip.y4m
        - {device: test}
      microphone: {device: "plughw:CARD=Device,DEV=0", gain: auto}
      speaker: {device: null, maximum-volume: 35}
      lights:
        - id: lamp
          device: gpio:/dev/gpiochip0/17
        - device: led:/sys/class/leds/led0
      lullabies: /srv/songs
      video: {bitrate-kbps: [200, 1200]}
      unheard: 5m
      hearing-test: 19:30
      rtsp: {enabled: true, listen: "127.0.0.1:554"}
      ice-servers:
        - urls: ["stun:stun.example.org", "stun:[2001:db8::1]:3479"]
        - urls: "turns:turn.example.org?transport=tcp"
          username: 12345
          credential: "a: b"
      """)
    #expect(configuration.name == "Nursery")
    #expect(configuration.unheard == .seconds(300))
    #expect(configuration.hearingTest == 19 * 60 + 30)
    #expect(configuration.listen == ListenAddress(host: "127.0.0.1", port: 9443))
    #expect(configuration.rtsp.isEnabled && configuration.rtsp.listen == ListenAddress(host: "127.0.0.1", port: 554))
    #expect(configuration.tls == .init(certificate: "/etc/c.pem", key: "/etc/k.pem"))
    #expect(configuration.mediaPorts == 50000...50100)
    #expect(configuration.cameras.map(\.id) == ["cot", "camera-2", "camera-3"])
    #expect(
      configuration.cameras.map(\.device.description) == ["/dev/v4l/by-id/usb-cam", "file:/srv/clip.y4m", "test"])
    #expect(configuration.cameras[0].request.width == 640)
    #expect(configuration.cameras[1].request.width == 1280)
    #expect(configuration.microphone.device == .pcm(name: "plughw:CARD=Device,DEV=0"))
    #expect(configuration.microphone.gain == .automatic)
    #expect(configuration.speaker == .init(device: .null, maximumVolume: 35))
    #expect(
      configuration.lights == [
        .init(id: "lamp", device: .gpio(chip: "/dev/gpiochip0", line: .offset(17), isActiveLow: false)),
        .init(id: "light-2", device: .led(path: "/sys/class/leds/led0")),
      ])
    #expect(configuration.lullabies == "/srv/songs")
    #expect(configuration.video.bitrateKbps == 200...1200)
    #expect(configuration.iceServers.count == 2)
    #expect(configuration.iceServers[0].urls.map(\.host) == ["stun.example.org", "2001:db8::1"])
    #expect(configuration.iceServers[0].urls.map(\.port) == [3478, 3479])
    #expect(configuration.iceServers[1].urls[0].description == "turns:turn.example.org:5349?transport=tcp")
    #expect(configuration.iceServers[1].access == .password(username: "12345", .text("a: b")))
  }

  @Test func serversAwayFromHome() throws {
    let configuration = try Self.parse(
      """
      ice-servers:
        - urls: ["turn:a?transport=udp", "turns:a"]
          secret: {file: /etc/cradle/turn-secret}
        - urls: stun:b
      away: {relay: only, relay-bitrate-kbps: 400}
      """)
    #expect(
      configuration.iceServers.map(\.access) == [
        .secret(.file(path: "/etc/cradle/turn-secret", prefix: "")), .everybody,
      ])
    #expect(configuration.away == .init(relay: .only, relayBitrateKbps: 400))
    #expect(try Self.parse("").away == .init(relay: .allow, relayBitrateKbps: 800))
  }

  @Test func emptyListsMeanNone() throws {
    let configuration = try Self.parse("cameras: []\nlights: []\nice-servers: []\ntls: null\nname: null\n")
    #expect(configuration.cameras.isEmpty)
    #expect(configuration.lights.isEmpty)
    #expect(configuration.tls == nil)
    #expect(configuration.name == nil)
    #expect(ChildConfiguration.defaultName(id: "a1b2c3d4e5f60718") == "Cradle A1B2")
  }

  @Test(arguments: [
    ("[::]:8443", "::", 8443), ("0.0.0.0:8443", "0.0.0.0", 8443), ("cradle.local:1", "cradle.local", 1),
    ("[fe80::1%eth0]:0", "fe80::1%eth0", 0), ("localhost:65535", "localhost", 65535),
  ])
  func listenAddressesAreRead(text: String, host: String, port: UInt16) {
    let address = ListenAddress(text)
    #expect(address == ListenAddress(host: host, port: port))
    #expect(address?.description == text)
  }

  @Test(arguments: [
    "", ":", ":8443", "8443", "[::]", "::8443", "[::]8443", "[::]:", "[:::]:1", "[1.2.3.4]:1", "1.2.3.4", "1.2.3:1",
    "1.2.3.256:1", "host:65536", "host:-1", "host:+1", "host:1:2", "a b:1", "-a:1", "a..b:1", "@:1",
  ])
  func otherListenAddressesAreRefused(text: String) {
    #expect(ListenAddress(text) == nil)
  }

  @Test(arguments: [
    "", "http:a", "stun:", "stun://a", "stun:a?transport=udp", "turn:a?transport=tls", "turn:a?", "turn:a:0",
    "turn:a?transport=udp?x", "turn:user@a", "stun:a/b", "STUN:a", "turn:a:b",
  ])
  func otherICEServerAddressesAreRefused(text: String) {
    #expect(ICEServerURL(text) == nil)
  }

  // MARK: - Errors

  @Test func errorNamesFileLineColumnKeyAndRemedy() throws {
    let errors = Self.errors("name: a\ncameras:\n  - id: cot\n    width: 99999\n")
    #expect(
      errors.map(\.description) == [
        "child.yaml:4:12: cameras[0].width: must be an even number from 16 to 7680, but is “99999”"
      ])
  }

  @Test(arguments: [
    ("nmae: a", "nmae", 1), ("cameras:\n  - widht: 1", "cameras[0].widht", 2),
    ("speaker:\n  volume: 1", "speaker.volume", 2),
    ("name: [a]", "name", 1), ("name: \"\"", "name", 1), ("name: \"a\\tb\"", "name", 1),
    ("listen: 8443", "listen", 1), ("listen: null", "listen", 1), ("tls: {certificate: a.pem}", "tls.key", 1),
    ("tls:\n  key: a.pem\n  certificate: null", "tls.certificate", 3), ("tls: true", "tls", 1),
    ("media-ports: 5", "media-ports", 1), ("media-ports: [2, 1]", "media-ports", 1),
    ("media-ports: [0, 5]", "media-ports", 1), ("media-ports: [1, 65536]", "media-ports", 1),
    ("media-ports: [1, 2, 3]", "media-ports", 1), ("cameras: auto", "cameras", 1), ("cameras:", "cameras", 1),
    ("cameras: [auto]", "cameras[0]", 1), ("cameras: [{width: \"640\"}]", "cameras[0].width", 1),
    ("cameras: [{width: 641}]", "cameras[0].width", 1), ("cameras: [{width: 0x280}]", "cameras[0].width", 1),
    ("cameras: [{framerate: 29.97.1}]", "cameras[0].framerate", 1),
    ("cameras: [{framerate: 0}]", "cameras[0].framerate", 1),
    ("cameras: [{framerate: 0.4}]", "cameras[0].framerate", 1),
    ("cameras: [{framerate: 120.5}]", "cameras[0].framerate", 1),
    ("cameras: [{framerate: 29.}]", "cameras[0].framerate", 1),
    ("microphone: {gain: 61}", "microphone.gain", 1),
    ("microphone: {gain: -21}", "microphone.gain", 1),
    ("microphone: {gain: 6.5}", "microphone.gain", 1),
    ("microphone: {gain: loud}", "microphone.gain", 1),
    ("cameras: [{framerate: 99999999999999999999}]", "cameras[0].framerate", 1),
    ("cameras: [{id: a b}]", "cameras[0].id", 1), ("cameras: [{id: null}]", "cameras[0].id", 1),
    ("cameras:\n  - id: a\n  - id: a", "cameras[1].id", 3), ("cameras: [{}, {id: cot}]", "cameras[1].id", 1),
    ("cameras: [{}, {}, {}, {}, {}, {}, {}, {}, {}]", "cameras", 1),
    ("cameras: [{device: webcam}]", "cameras[0].device", 1), ("microphone: {device: null}", "microphone.device", 1),
    ("microphone: {device: [a]}", "microphone.device", 1), ("microphone: none", "microphone", 1),
    ("speaker: {device: test}", "speaker.device", 1), ("speaker: {maximum-volume: 101}", "speaker.maximum-volume", 1),
    ("lights: [{device: auto}]", "lights[0].device", 1), ("lights: [{id: a}, {id: a}]", "lights[1].id", 1),
    ("video: {bitrate-kbps: [2500, 150]}", "video.bitrate-kbps", 1),
    ("video: {bitrate-kbps: [1, 150]}", "video.bitrate-kbps", 1), ("lullabies: {}", "lullabies", 1),
    ("hearing-test: 24:00", "hearing-test", 1), ("hearing-test: 19:3", "hearing-test", 1),
    ("hearing-test: [19:30]", "hearing-test", 1), ("hearing-test: evening", "hearing-test", 1),
    ("unheard: 5", "unheard", 1), ("unheard: 5 minutes", "unheard", 1), ("unheard: 29s", "unheard", 1),
    ("unheard: 25h", "unheard", 1), ("unheard: [5m]", "unheard", 1), ("unheard: -5m", "unheard", 1),
    ("ice-servers: [{}]", "ice-servers[0].urls", 1), ("ice-servers: [{urls: []}]", "ice-servers[0].urls", 1),
    ("ice-servers: [{urls: [\"http://a\"]}]", "ice-servers[0].urls[0]", 1),
    ("ice-servers: [{urls: [\"turn:a\"]}]", "ice-servers[0]", 1),
    ("ice-servers: [{urls: [\"stun:a\"], username: a}]", "ice-servers[0]", 1),
    ("ice-servers: [{urls: [\"turn:a\"], username: a, secret: b}]", "ice-servers[0]", 1),
    ("ice-servers: [{urls: [\"turn:a\"], secret: {file: x}}]", "ice-servers[0].secret.file", 1),
    ("ice-servers: [{urls: [\"turn:a\"], secret: b, lifetime: 9s}]", "ice-servers[0].lifetime", 1),
    ("away: {relay: sometimes}", "away.relay", 1), ("away: {relay-bitrate-kbps: 29}", "away.relay-bitrate-kbps", 1),
    ("[a, b]", "", 1), ("just text", "", 1), ("? [a]\n: b", "", 1),
  ])
  func impossibleValueIsRefusedByKeyAndLine(text: String, key: String, line: Int) {
    let errors = Self.errors(text)
    #expect(errors.count == 1, "\(errors)")
    #expect(errors.first?.key == key)
    #expect(errors.first?.line == line, "\(errors)")
  }

  @Test func allErrorsAreReportedInOrder() {
    let errors = Self.errors("listen: x\nvideo: 1\ncameras: [{width: 1}, {height: 1}]\nfoo: 1\nname: []\n")
    #expect(errors.map(\.line) == [1, 2, 3, 3, 4, 5])
  }

  @Test func numberOfErrorsIsBounded() throws {
    let text = (0..<100).map { "key\($0): 1" }.joined(separator: "\n")
    #expect {
      _ = try Self.parse(text)
    } throws: { error in
      let errors = error as? ConfigurationErrors
      return errors?.errors.count == 20 && errors?.omitted == 80 && "\(error)".hasSuffix("and 80 more")
    }
  }

  @Test func keyThatStandsTwiceIsRefusedInItsSecondLine() {
    let errors = Self.errors("name: a\nlisten: host:1\nname: b\n")
    #expect(errors.map(\.description) == ["child.yaml:3:1: name: stands twice, first in line 1"])
  }

  @Test func secretNeverStandsInAMessage() {
    let errors = Self.errors("ice-servers:\n  - urls: stun:a\n    username: u\n    credential: \"topsecret\\x01\"\n")
    #expect(errors.first?.key == "ice-servers[0].credential")
    #expect(!errors.contains { $0.description.contains("topsecret") })
  }

  // MARK: - What is no YAML, or too much of it

  @Test(arguments: [
    ("name: a\n  b: c: d\n", 2), ("name: \"a\n", 2), ("listen: [::]:8443\n", 1), ("\tname: a\n", 1),
    ("name: a\n---\nname: b\n", 2), ("a: *b\n", 1), ("a: &b 1\n", 1), ("\n- &x [*x]\n", 2), ("a: !!str 1\n", 1),
    ("name: a\nlisten: \u{0}", 2),
  ])
  func brokenTextIsRefusedByLine(text: String, line: Int) {
    let errors = Self.errors(text)
    #expect(errors.count == 1)
    #expect(errors.first?.line == line, "\(errors)")
  }

  @Test func bracketsWithoutQuotesGetAHint() {
    #expect(Self.errors("listen: [::]:8443\n").first?.message.hasSuffix("must stand in quotes") == true)
  }

  @Test func otherEncodingsAreRefusedByLine() {
    #expect {
      _ = try ChildConfiguration.parse([0x61, 0x0a, 0xff, 0xfe], file: "child.yaml")
    } throws: { error in
      (error as? ConfigurationErrors)?.errors.first?.description == "child.yaml:2: is not UTF-8 text"
    }
  }

  @Test func bombsAreRefusedBeforeTheyAreParsed() {
    let laughs = "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n"
    let deep = String(repeating: "[", count: 100_000)
    let blocks = String(repeating: "- ", count: 100_000)
    let steps = (0..<700).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
    let large = String(repeating: "# x\n", count: 70_000)
    for text in [laughs, deep, blocks, steps, large] {
      #expect(Self.errors(text).count == 1)
    }
  }

  @Test(arguments: [
    "Tom &Jerry", "a*b", "R&D!", "it's", "\"&quoted\"", "'*quoted*'", "\"a \\\" &b\"", "a # &comment", "'it''s *b'",
  ])
  func textThatOnlyLooksLikeAnAnchorIsKept(value: String) throws {
    #expect(try Self.parse("name: \(value)\n").name != nil)
  }

  // MARK: - Night

  @Test func theNightIsRead() throws {
    let cameras = try Self.parse(
      """
      cameras:
        - controls: {exposure_auto: 3, gain: 40, brightness: -12, focus_auto: false, exposure_auto_priority: true}
          slow-shutter: false
          rotate: 270
          mirror: true
          night: on
          infrared: gpio:/dev/gpiochip0/23
        - {device: rpicam:0, infrared: "led:/sys/class/leds/ir", night: off}
        - {device: /dev/video4, controls: null}
      """
    ).cameras
    #expect(
      cameras[0].request.controls == [
        .init(name: "exposure_auto", value: 3), .init(name: "gain", value: 40), .init(name: "brightness", value: -12),
        .init(name: "focus_auto", value: 0), .init(name: "exposure_auto_priority", value: 1),
      ])
    #expect(cameras[0].request.orientation == Orientation(rotation: .threeQuarters, isMirrored: true))
    #expect(cameras[1].request.orientation == Orientation())
    #expect(!cameras[0].request.hasSlowShutter && cameras[0].night == .on)
    #expect(cameras[0].infrared == .gpio(chip: "/dev/gpiochip0", line: .offset(23), isActiveLow: false))
    #expect(cameras[1].night == .off && cameras[1].infrared == .led(path: "/sys/class/leds/ir"))
    #expect(cameras[2].request.controls.isEmpty && cameras[2].night == .auto && cameras[2].request.hasSlowShutter)
  }

  @Test(arguments: [
    ("controls: [gain, 40]", "cameras[0].controls", "must be names with numbers"),
    ("controls: {Gain: 40}", "cameras[0].controls", "such as gain"),
    ("controls: {\"Exposure, Auto\": 3}", "cameras[0].controls", "such as exposure_auto"),
    ("controls: {gain: high}", "cameras[0].controls.gain", "must be a whole number, true or false, but is “high”"),
    ("controls: {gain: 0x10}", "cameras[0].controls.gain", "must be a whole number"),
    ("controls: {gain: 1.5}", "cameras[0].controls.gain", "must be a whole number"),
    ("controls: {gain: }", "cameras[0].controls.gain", "but is empty"),
    ("controls: {gain: 99999999999999999999}", "cameras[0].controls.gain", "must be a whole number"),
    ("rotate: 45", "cameras[0].rotate", "must be 0, 90, 180 or 270; but is “45”"),
    ("rotate: -90", "cameras[0].rotate", "but is “-90”"), ("rotate: ", "cameras[0].rotate", "but is empty"),
    ("rotate: [90]", "cameras[0].rotate", "but is a list"), ("mirror: 1", "cameras[0].mirror", "must be true or false"),
    ("mirror: left", "cameras[0].mirror", "but is “left”"),
    ("slow-shutter: 1", "cameras[0].slow-shutter", "must be true or false"),
    ("night: dusk", "cameras[0].night", "must be auto, on or off; but is “dusk”"),
    ("infrared: 17", "cameras[0].infrared", "must be none, simulated"),
  ])
  func badNightValuesNameTheirKey(text: String, key: String, message: String) {
    let errors = Self.errors("cameras: [{\(text)}]")
    #expect(errors.count == 1 && errors[0].key == key && errors[0].message.contains(message), "\(errors)")
  }

  @Test(arguments: ["test", "rpicam:0", "file:/a.y4m", "\"exec:cat /a.y4m\""])
  func controlsAreForV4L2CamerasAlone(device: String) {
    let errors = Self.errors("cameras: [{device: \(device), controls: {gain: 1}}]")
    #expect(errors.count == 1 && errors[0].key == "cameras[0].controls" && errors[0].message.contains("V4L2"))
    #expect(Self.errors("cameras: [{device: \(device), controls: {}}]").isEmpty)
  }

  @Test func aLampServesOnePurpose() {
    let line = "gpio:/dev/gpiochip0/17"
    let withLight = Self.errors("cameras: [{infrared: \(line)}]\nlights: [{device: \(line)}]")
    #expect(withLight.map(\.key) == ["cameras[0].infrared"] && withLight[0].message.contains("lights[0]"))
    let twice = Self.errors("cameras: [{id: a, infrared: \(line)}, {id: b, infrared: \(line)}]")
    #expect(twice.map(\.key) == ["cameras[1].infrared"])
    #expect(Self.errors("cameras: [{id: a, infrared: simulated}, {id: b, infrared: simulated}]").isEmpty)
    #expect(Self.errors("cameras: [{id: a}, {id: b}]").isEmpty)
  }
}
