// swift-tools-version: 6.2

import PackageDescription

// The rooms and what they depend on are described in docs/ARCHITECTURE.md; a test compares the two.

/// The sources compile with Swift 6.2, too: Debian's, with which packages for other architectures are built. What 6.2 gives
/// up on is an expression that is too complicated for its type checker, and 6.3 still has that one's ways.
#if compiler(>=6.3)
  let asInSwift62: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-enable-constraint-solver-performance-hacks"], .when(configuration: .debug))
  ]
#else
  let asInSwift62: [SwiftSetting] = []
#endif

let strict: [SwiftSetting] =
  [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
  ] + asInSwift62

let nio = "swift-nio"

func product(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package)
}

func room(
  _ name: String, in folder: String, needs: [Target.Dependency] = [], settings: [SwiftSetting] = strict,
  links: [LinkerSetting] = []
) -> Target {
  .target(
    name: name, dependencies: needs, path: "Sources/\(folder)", swiftSettings: settings, linkerSettings: links)
}

/// A pure core below Sources/Protocols: no C, no Foundation, no clock. The program is optimized across their borders:
/// every packet crosses several of them. From tools version 6.2 on, packages that depend on this one may build with such
/// flags too.
///
/// - Parameter isOptimized: also in a debug build, whose tests would compute in it for minutes.
func core(_ name: String, needs: [Target.Dependency] = [], isOptimized: Bool = false) -> Target {
  let acrossBorders = SwiftSetting.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
  let always = SwiftSetting.unsafeFlags(["-O"], .when(configuration: .debug))
  // Square roots are libm's, which a program without Foundation does not link by itself.
  return room(
    name, in: "Protocols/\(name)", needs: needs, settings: strict + [acrossBorders] + (isOptimized ? [always] : []),
    links: [.linkedLibrary("m")])
}

func library(_ name: String, pkgConfig: String?, package: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func tests(
  _ name: String, needs: [Target.Dependency], exclude: [String] = [], resources: [Resource]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: needs, path: "Tests/\(name)", exclude: exclude, resources: resources,
    swiftSettings: strict)
}

let cores: [Target] = [
  core("Wire"),
  core("JSON"),
  core("DeviceNames", needs: ["Wire"]),
  core("STUN", needs: ["Wire"]),
  core("TURN", needs: ["Wire", "STUN"]),
  core("ICE", needs: ["Wire", "STUN"]),
  core("SDP"),
  core("VideoFormats", needs: ["Wire"]),
  core("RTP", needs: ["Wire", "VideoFormats"]),
  core("RTPSending", needs: ["Wire", "RTP"], isOptimized: true),
  core("RTPReceiving", needs: ["Wire", "RTP"], isOptimized: true),
  core("SCTP", needs: ["Wire"]),
  core("PeerConnection", needs: ["Wire", "ICE", "SDP", "RTP", "RTPSending", "RTPReceiving", "SCTP"]),
  core("Pairing", needs: ["Wire", "JSON"]),
  core("Control", needs: ["Wire", "JSON", "Pairing"]),
  core("Monitoring", needs: ["Wire", "Control"]),
  core("NightReport", needs: ["Wire", "Control"]),
  core("HearingProof", needs: ["Wire"], isOptimized: true),
  core("Notifications", needs: ["Wire", "JSON", "Control"]),
  core("Signaling", needs: ["Wire", "JSON", "SDP", "Pairing"]),
  core("WebPush", needs: ["Wire", "JSON", "Control", "Notifications", "Signaling"]),
  core("RTSP", needs: ["Wire"]),
]

let libraries: [Target] = [
  library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
  library("CSRTP", pkgConfig: "libsrtp2", package: "libsrtp2-dev"),
  library("CVPX", pkgConfig: "vpx", package: "libvpx-dev"),
  library("COpenH264", pkgConfig: "openh264", package: "libopenh264-dev"),
  library("COpus", pkgConfig: "opus", package: "libopus-dev"),
  library("CLAME", pkgConfig: nil, package: "libmp3lame-dev"),
  library("CYUV", pkgConfig: nil, package: "libyuv-dev"),
  library("CTurboJPEG", pkgConfig: "libturbojpeg", package: "libturbojpeg0-dev"),
  library("CALSA", pkgConfig: "alsa", package: "libasound2-dev"),
  library("CDNSSD", pkgConfig: nil, package: "libavahi-compat-libdnssd-dev"),
  library("CQREncode", pkgConfig: "libqrencode", package: "libqrencode-dev"),
  library("CSndfile", pkgConfig: nil, package: "libsndfile1-dev"),
  library("CSpeexDSP", pkgConfig: "speexdsp", package: "libspeexdsp-dev"),
  library("CYAML", pkgConfig: nil, package: "libyaml-dev"),
  library("CSDL", pkgConfig: nil, package: "libsdl2-dev"),
  library("CPango", pkgConfig: nil, package: "libpangocairo-1.0-0"),
  library("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
  library("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
  library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
  library("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
  library("CStrophe", pkgConfig: nil, package: "libstrophe-dev"),
  .systemLibrary(name: "CLinux", path: "Sources/CLibraries/CLinux"),
  // The files of Sources/Web/Pages.
  .target(
    name: "CWebPages", path: "Sources/CLibraries/CWebPages", exclude: ["web_pages.def"],
    cSettings: [.headerSearchPath("../../Web/Pages")]),
]

let shells: [Target] = [
  // Threads, wakers and files of the machine.
  room("Linux", in: "Linux", needs: ["CLinux"]),
  room("Frames", in: "Media/Frames", needs: ["Wire", "VideoFormats", "CLinux"]),
  room(
    "Codecs", in: "Media/Codecs",
    needs: ["Wire", "VideoFormats", "Frames", "CVPX", "COpenH264", "COpus", "CLAME", "CYUV", "CTurboJPEG", "CZlib"]),
  room("Sound", in: "Media/Sound", needs: ["Wire", "DeviceNames", "Frames", "CSndfile", "CSpeexDSP"]),
  room("Picture", in: "Media/Picture", needs: ["Wire", "Frames"]),
  room("QRCode", in: "Media/QRCode", needs: ["CQREncode"]),
  room(
    "Devices", in: "Devices",
    needs: ["Wire", "DeviceNames", "Linux", "Frames", "Codecs", "Sound", "Picture", "CLinux", "CALSA"]),
  // Both ends' flows: capture → encode, receive → decode → play, recording.
  room(
    "Pipelines", in: "Media/Pipelines",
    needs: [
      "Wire", "HearingProof", "VideoFormats", "RTPReceiving", "DeviceNames", "Linux", "Frames", "Codecs", "Sound",
      "Picture", "Devices",
    ]),
  room("SecureTransport", in: "Network/SecureTransport", needs: ["Wire", "PeerConnection", "COpenSSL", "CSRTP"]),
  // What others import: peer connections with defaults, and the names that come with them.
  room(
    "WebRTC", in: "Network/WebRTC",
    needs: [
      "Wire", "ICE", "SDP", "RTP", "RTPSending", "RTPReceiving", "SCTP", "PeerConnection", "Frames", "SecureTransport",
    ]),
  room(
    "Identity", in: "Network/Identity",
    needs: ["Wire", "Pairing", "Signaling", "WebPush", "SecureTransport", "COpenSSL"]),
  // The JSON of what goes over the wire, for both ends.
  room("Messages", in: "Network/Messages", needs: ["Wire", "JSON", "Control"]),
  room("Discovery", in: "Network/Discovery", needs: ["Wire", "Linux", "CDNSSD"]),
  room(
    "Server", in: "Network/Server",
    needs: [
      "Wire", "STUN", "TURN", "PeerConnection", "Signaling", "SecureTransport", "SDP", "ICE", "CLinux", "Linux",
      product("NIOCore", nio), product("NIOPosix", nio), product("NIOHTTP1", nio), product("NIOTLS", nio),
      product("NIOWebSocket", nio),
    ]),
  // Servers on the Internet where a child is met from elsewhere.
  room(
    "Meeting", in: "Network/Meeting",
    needs: [
      "Wire", "JSON", "Signaling", "Control", "Linux", "Server", "CMosquitto", "CStrophe", product("NIOCore", nio),
    ]),
  room(
    "Storage", in: "Storage",
    needs: [
      "Wire", "JSON", "DeviceNames", "Pairing", "Signaling", "Control", "NightReport", "Notifications", "WebPush",
      "CYAML", "TURN", "Linux", "CSQLite", "RTSP",
    ]),
  // The window of the viewer, and notifications.
  room("Desktop", in: "Desktop", needs: ["Wire", "Linux", "Frames", "Storage", "CSDL", "CPango", "CDBus"]),
]

let programs: [Target] = [
  .target(
    name: "Web", dependencies: ["CWebPages", "CZlib"], path: "Sources/Web", exclude: ["Pages"],
    swiftSettings: strict),
  // How a machine is, as both doctors tell it.
  room("Health", in: "Health", needs: ["Linux", "CLinux"]),
  room(
    "Child", in: "Child",
    needs: [
      "Wire", "JSON", "ICE", "SDP", "VideoFormats", "RTP", "RTPReceiving", "RTPSending", "SCTP", "PeerConnection",
      "Pairing",
      "Signaling", "Control", "Monitoring", "NightReport", "HearingProof", "Notifications", "WebPush", "DeviceNames",
      "Messages", "Linux", "Frames", "Codecs", "Sound", "Picture", "Devices", "Pipelines", "Discovery",
      "SecureTransport", "TURN", "RTSP",
      "Identity", "Server", "Meeting", "Storage", "Health", "QRCode", "Web", product("NIOCore", nio),
      product("NIOPosix", nio),
      product("NIOHTTP1", nio),
      product("Logging", "swift-log"),
    ]),
  room(
    "Parent", in: "Parent",
    needs: [
      "Wire", "JSON", "TURN", "ICE", "SDP", "RTPReceiving", "SCTP", "PeerConnection", "Pairing", "Signaling", "Control",
      "Monitoring", "NightReport", "HearingProof", "DeviceNames", "Messages", "Linux", "Frames", "Codecs", "Picture",
      "Devices",
      "Pipelines", "Discovery", "SecureTransport",
      "Identity", "Server", "Meeting", "Storage", "Health", product("NIOCore", nio), product("NIOPosix", nio),
      product("NIOHTTP1", nio),
    ]),
  // The room server that many families share.
  room(
    "Rendezvous", in: "Rendezvous",
    needs: [
      "Wire", "JSON", "TURN", "Signaling", "Messages", "Frames", "SecureTransport", "Identity", "Server",
      "Storage", product("NIOCore", nio), product("NIOPosix", nio), product("NIOHTTP1", nio),
      product("Logging", "swift-log"),
    ]),
  // What the programs share in front of their libraries: exit status, log, tables, signals.
  room(
    "Commands", in: "Commands",
    needs: [
      "Wire", "JSON", "Linux", "Health", "CLinux", product("ArgumentParser", "swift-argument-parser"),
      product("Logging", "swift-log"),
    ]),
  .executableTarget(
    name: "cradle-child",
    dependencies: [
      "Wire", "JSON", "DeviceNames", "Control", "Linux", "Child", "Commands", "Devices", "Frames", "Health", "Meeting",
      "QRCode", "Server", "Storage",
      product("ArgumentParser", "swift-argument-parser"), product("Logging", "swift-log"),
    ], path: "Sources/cradle-child", swiftSettings: strict),
  .executableTarget(
    name: "cradle-rendezvous",
    dependencies: [
      "Wire", "JSON", "Commands", "Linux", "Rendezvous", "Server", "Storage",
      product("ArgumentParser", "swift-argument-parser"), product("Logging", "swift-log"),
    ], path: "Sources/cradle-rendezvous", swiftSettings: strict),
  .executableTarget(
    name: "cradle-parent",
    dependencies: [
      "Wire", "Pairing", "Signaling", "Control", "Monitoring", "NightReport", "DeviceNames", "Parent", "Commands",
      "Desktop", "Devices", "Discovery", "Frames", "Health", "Linux", "Meeting", "QRCode", "Server", "Storage",
      product("ArgumentParser", "swift-argument-parser"),
    ], path: "Sources/cradle-parent", swiftSettings: strict),
]

let checks: [Target] = [
  .executableTarget(
    name: "cradle-benchmarks",
    dependencies: [
      "Wire", "Frames", "Codecs", "Picture", "Control", "Monitoring", "HearingProof", "NightReport", "Storage",
      "Parent", "TestSupport", "SCTP", "SDP", "PeerConnection", "RTPReceiving", "SecureTransport", "Server",
      product("ArgumentParser", "swift-argument-parser"), product("NIOCore", "swift-nio"),
      product("NIOPosix", "swift-nio"),
    ], path: "Tests/Benchmarks/cradle-benchmarks", swiftSettings: strict),
  .executableTarget(
    name: "cradle-soak",
    dependencies: [
      "Parent", "Server", "Signaling", product("ArgumentParser", "swift-argument-parser"),
    ], path: "Tests/Soak/cradle-soak", swiftSettings: strict),
  .target(name: "AllocationCounter", path: "Tests/AllocationCounter"),
  .target(
    name: "TestSupport", dependencies: ["Wire", "Linux", "COpenSSL"], path: "Tests/TestSupport", swiftSettings: strict),
  tests("ProjectTests", needs: ["Web"]),
  tests("WireTests", needs: ["Wire", "TestSupport"]),
  tests("JSONTests", needs: ["JSON"]),
  tests("DeviceNamesTests", needs: ["DeviceNames"]),
  tests("STUNTests", needs: ["Wire", "STUN", "TestSupport"]),
  tests("TURNTests", needs: ["Wire", "STUN", "TURN", "TestSupport"]),
  tests("ICETests", needs: ["Wire", "STUN", "ICE", "TestSupport"]),
  tests("SDPTests", needs: ["SDP", "TestSupport"]),
  tests("PairingTests", needs: ["Wire", "Pairing", "SecureTransport", "Identity", "TestSupport"]),
  tests(
    "SignalingTests",
    needs: ["Wire", "SDP", "Pairing", "Signaling", "Identity", "SecureTransport", "TestSupport"]),
  tests("MonitoringTests", needs: ["Wire", "Control", "Monitoring", "TestSupport"]),
  tests("ControlTests", needs: ["Wire", "JSON", "Pairing", "Control", "Messages"]),
  tests("HearingProofTests", needs: ["Wire", "Frames", "Codecs", "HearingProof", "TestSupport"]),
  tests("NightReportTests", needs: ["Wire", "Control", "NightReport"]),
  tests("NotificationsTests", needs: ["Wire", "JSON", "Control", "Notifications"]),
  tests(
    "WebPushTests",
    needs: ["Wire", "JSON", "Control", "Notifications", "Signaling", "Pairing", "WebPush", "Identity"]),
  tests("VideoFormatsTests", needs: ["Wire", "VideoFormats", "TestSupport"]),
  tests("RTPTests", needs: ["Wire", "VideoFormats", "RTP", "TestSupport"]),
  tests("RTSPTests", needs: ["Wire", "RTSP", "SecureTransport"]),
  tests("RTPSendingTests", needs: ["Wire", "RTP", "RTPSending", "TestSupport"]),
  tests("RTPReceivingTests", needs: ["Wire", "RTP", "RTPSending", "RTPReceiving", "TestSupport"]),
  tests("SCTPTests", needs: ["Wire", "SCTP", "CLinux", "TestSupport"]),
  tests("CodecsTests", needs: ["Wire", "VideoFormats", "Frames", "Codecs", "Picture", "Sound", "TestSupport"]),
  tests("PictureTests", needs: ["Wire", "Frames", "Picture"]),
  tests("SoundTests", needs: ["Wire", "DeviceNames", "Frames", "Sound", "CSndfile", "TestSupport"]),
  tests(
    "DevicesTests",
    needs: ["Wire", "DeviceNames", "Linux", "Frames", "Codecs", "Picture", "Sound", "Devices", "CLinux", "TestSupport"]),
  tests(
    "PipelinesTests",
    needs: [
      "Wire", "VideoFormats", "RTPReceiving", "DeviceNames", "Frames", "Codecs", "Picture", "Sound", "Devices",
      "Pipelines", "TestSupport",
    ]),
  tests(
    "SecureTransportTests",
    needs: ["Wire", "PeerConnection", "SecureTransport", "Simulation", "TestSupport", "COpenSSL"]),
  tests("IdentityTests", needs: ["Pairing", "SecureTransport", "Identity", "TestSupport"]),
  tests("HealthTests", needs: ["Health", "JSON", "Linux", "TestSupport"]),
  tests("DesktopTests", needs: ["Storage", "Desktop"]),
  // Writes to a store until the test kills it.
  .executableTarget(
    name: "store-probe",
    dependencies: ["Pairing", "Control", "NightReport", "Notifications", "Storage", "TestSupport"],
    path: "Tests/StorageTests/store-probe", swiftSettings: strict),
  tests(
    "StorageTests",
    needs: [
      "Wire", "DeviceNames", "Pairing", "Control", "NightReport", "Notifications", "Signaling", "WebPush",
      "Identity", "Storage", "TestSupport", "store-probe", "TURN", "RTSP", "SecureTransport",
    ], exclude: ["store-probe"]),
  // Runs in a network namespace of its own, with an Avahi of its own.
  .executableTarget(
    name: "discovery-probe", dependencies: ["Discovery"], path: "Tests/DiscoveryTests/discovery-probe",
    swiftSettings: strict),
  .testTarget(
    name: "DiscoveryTests", dependencies: ["Wire", "Discovery", "TestSupport", "discovery-probe"],
    path: "Tests/DiscoveryTests",
    exclude: ["discovery-probe"], swiftSettings: strict),
  tests(
    "ServerTests",
    needs: [
      "Wire", "STUN", "TURN", "SDP", "PeerConnection", "Pairing", "Signaling", "SecureTransport", "Identity", "Server",
      "Frames",
      "Web",
      "TestSupport", "AllocationCounter",
      product("NIOCore", nio), product("NIOPosix", nio), product("NIOHTTP1", nio), product("NIOWebSocket", nio),
      product("NIOTLS", nio), product("NIOEmbedded", nio),
    ]),
  tests(
    "MeetingTests",
    needs: [
      "Wire", "Control", "Signaling", "SecureTransport", "Identity", "Server", "Meeting", "cradle-child",
      "TestSupport",
      product("NIOCore", nio), product("NIOPosix", nio),
    ]),
  tests(
    "ChildTests",
    needs: [
      "Wire", "Control", "Monitoring", "NightReport", "VideoFormats", "RTPReceiving", "DeviceNames", "Linux", "Frames",
      "Codecs", "Sound",
      "Devices", "Pipelines", "Discovery", "Storage", "Health", "Pairing", "Signaling", "WebPush", "Messages",
      "Identity", "SecureTransport",
      "Server", "RTP", "SDP", "PeerConnection",
      "Child", "TestSupport", "Simulation", product("NIOCore", nio), product("NIOPosix", nio), product("NIOHTTP1", nio),
      product("Logging", "swift-log"),
    ]),
  tests(
    "ParentTests",
    needs: [
      "Wire", "JSON", "Control", "Messages", "Pairing", "Signaling", "SDP", "SCTP", "RTPReceiving", "PeerConnection",
      "Monitoring", "Linux", "Frames", "Discovery", "Health", "SecureTransport", "Identity", "Server", "Storage",
      "Commands", "Parent", "FuzzBodies",
      product("NIOCore", nio), product("NIOPosix", nio), product("NIOHTTP1", nio),
    ]),
  // Two peers in fake time.
  .target(
    name: "Simulation",
    dependencies: ["Wire", "SDP", "RTP", "RTPReceiving", "PeerConnection", "SecureTransport", "TestSupport"],
    path: "Tests/Simulation", swiftSettings: strict),
  .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
  .target(
    name: "FuzzBodies",
    dependencies: [
      "Wire", "JSON", "STUN", "ICE", "SDP", "VideoFormats", "RTP", "RTPSending", "RTPReceiving", "SCTP", "Pairing",
      "Signaling", "Control", "Notifications", "WebPush", "Messages", "Discovery", "PeerConnection", "Frames", "Codecs",
      "Picture", "Devices", "SecureTransport", "Identity", "Storage", "Simulation", "TestSupport", "TURN", "Meeting",
      "CStrophe", "Parent", "RTSP",
    ], path: "Tests/Fuzz", exclude: ["CLibFuzzer", "Corpus", "Findings", "Runs", "cradle-fuzz", "fuzz.py"],
    swiftSettings: strict),
  .executableTarget(
    name: "cradle-fuzz", dependencies: ["FuzzBodies", "CLibFuzzer"], path: "Tests/Fuzz/cradle-fuzz",
    swiftSettings: strict),
  .testTarget(name: "Fuzz", dependencies: ["FuzzBodies"], path: "Tests/Fuzz/Runs", swiftSettings: strict),
  // Runs the real program, so that it is built with the tests.
  tests(
    "Interop",
    needs: [
      "Wire", "TURN", "Control", "Identity", "SecureTransport", "Server", "Parent", "cradle-child", "cradle-parent",
      "cradle-rendezvous", "TestSupport", "RTSP", "RTP", product("NIOCore", nio), product("NIOPosix", nio),
    ],
    exclude: ["cradle", "peers", "demo.py", "package.sh", "release.sh"]),
  tests(
    "Behaviour",
    needs: [
      "Wire", "ICE", "SDP", "RTP", "RTPReceiving", "RTPSending", "SCTP", "PeerConnection", "SecureTransport",
      "Simulation",
      "TestSupport",
    ]),
]

let package = Package(
  name: "cradle",
  products: [
    // Peer connections for others: docs/LIBRARY.md.
    .library(name: "WebRTC", targets: ["WebRTC"]),
    // With the modules that its interface speaks of; pure Swift.
    .library(
      name: "PeerConnection",
      targets: ["PeerConnection", "ICE", "SDP", "RTP", "RTPReceiving", "RTPSending", "SCTP", "Wire"]),
    // DTLS, SRTP and hashes for it, over OpenSSL and libsrtp; TLS.
    .library(name: "SecureTransport", targets: ["SecureTransport"]),
    .executable(name: "cradle-child", targets: ["cradle-child"]),
    .executable(name: "cradle-parent", targets: ["cradle-parent"]),
    .executable(name: "cradle-rendezvous", targets: ["cradle-rendezvous"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: cores + libraries + shells + programs + checks
)
