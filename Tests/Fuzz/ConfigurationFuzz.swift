import Storage

/// Configuration files: whatever stands in one, the answer is values or errors with a place.
enum ConfigurationFuzz: FuzzBody {
  static let name = "configuration"

  static let seeds: [[UInt8]] = [
    """
    name: Nursery
    listen: "[::]:8443"
    tls: {certificate: /etc/c.pem, key: /etc/k.pem}
    media-ports: [50000, 50100]
    cameras:
      - id: cot
        device: auto
        width: 1280
        framerate: 30
      - {id: door, device: "file:/srv/clip.y4m", height: 480}
    microphone: {device: plughw:1}
    """,
    """
    speaker: {device: null, maximum-volume: 60}
    lights:
    - device: gpio:/dev/gpiochip0/17   # a lamp
    - id: 'second'
      device: led:/sys/class/leds/led0
    lullabies: >-
      /usr/share/cradle
    video: {bitrate-kbps: [150, 2500]}
    unheard: 5m
    ice-servers: [{urls: ["turn:a.example:3478?transport=udp"], username: u, credential: "\\x41"}]
    """,
    "a: &a [b, *a]\n--- !tag\n? - x\n: |\n  y\n",
  ].map { Array($0.utf8) }

  static func run(_ input: [UInt8]) {
    do throws(ConfigurationErrors) {
      let configuration = try ChildConfiguration.parse(input, file: "child.yaml")
      precondition(configuration.cameras.count <= 8 && configuration.lights.count <= 16, "lists are bounded")
    } catch {
      precondition(!error.errors.isEmpty && error.errors.count <= ConfigurationErrors.maximum, "errors are bounded")
      precondition(!error.description.isEmpty, "an error says something")
    }
  }
}
