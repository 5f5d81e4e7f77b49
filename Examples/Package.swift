// swift-tools-version: 6.2

import PackageDescription

// What somebody else builds on Cradle's libraries: a package of its own that uses nothing but public products.
//
//     swift run --package-path Examples Loopback

let webRTC: [Target.Dependency] = [
  .product(name: "PeerConnection", package: "cradle"), .product(name: "SecureTransport", package: "cradle"),
]

let package = Package(
  name: "Examples",
  dependencies: [.package(name: "cradle", path: "..")],
  targets: [
    .executableTarget(name: "Loopback", dependencies: webRTC, path: "Loopback"),
    .executableTarget(name: "WHEPPlayer", dependencies: webRTC, path: "WHEPPlayer"),
  ]
)
