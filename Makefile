# Cradle. `make help` lists the targets; docs/CONTRIBUTING.md says what they are for.

SHELL := /bin/bash
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := .build
VENV := $(BUILD)/venv
STAMPS := $(BUILD)/stamps
PYTHON ?= python3
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# The Swift libraries go into the program: boards need no Swift. Exporting no symbols lets the linker leave out what the
# program does not use; lld packs the relocations of a static Swift (2 MB less; needs glibc 2.36, Debian 12's).
RELEASE := -c release --static-swift-stdlib -Xlinker --no-export-dynamic -Xswiftc -use-ld=lld \
  -Xlinker -z -Xlinker pack-relative-relocs

# What the program is built with.
LIBRARIES := libssl-dev libsrtp2-dev libvpx-dev libopenh264-dev libopus-dev libyuv-dev libturbojpeg0-dev libasound2-dev libyaml-dev \
  libavahi-compat-libdnssd-dev libsndfile1-dev libspeexdsp-dev libqrencode-dev zlib1g-dev libsdl2-dev libdbus-1-dev libsqlite3-dev \
  libmosquitto-dev libstrophe-dev libmp3lame-dev
BUILD_PACKAGES := $(LIBRARIES) pkg-config python3
# What packages are made and checked with.
DEB_PACKAGES := dpkg-dev lintian
# What builds for other architectures.
CROSS_PACKAGES := bubblewrap qemu-user qemu-user-static binutils-aarch64-linux-gnu xz-utils $(DEB_PACKAGES)
# What releases are made and checked with.
RELEASE_PACKAGES := apt-utils gnupg gpgv xz-utils git
# What the tests and the demonstration watch it with.
VIEWER_PACKAGES := python3 python3-venv
# What the window and the terminal are tried with.
DESKTOP_PACKAGES := libpangocairo-1.0-0 fonts-dejavu-core xvfb openbox xdotool tmux
# What children are found with.
FINDING_PACKAGES := avahi-daemon dbus
# What relays are tried with. It must not run as a service: no test needs that, and it would relay for strangers.
RELAY_PACKAGES := coturn
# What meeting places are tried with. Nor must these run as services.
MEETING_PACKAGES := mosquitto mosquitto-clients prosody haproxy
# What the page and players are tried behind. Nor this.
PROXY_PACKAGES := nginx-light
TEST_PACKAGES := $(VIEWER_PACKAGES) $(RELAY_PACKAGES) $(MEETING_PACKAGES) $(PROXY_PACKAGES) $(DEB_PACKAGES) $(RELEASE_PACKAGES) $(FINDING_PACKAGES) $(DESKTOP_PACKAGES) systemd curl openssl libfaketime ffmpeg chromium firefox-esr \
  iproute2 nftables procps avahi-utils python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0 gir1.2-gst-plugins-bad-1.0 \
  gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-nice libnss3-tools
# What breaks things on purpose.
FAULT_PACKAGES := python3 iproute2 nftables util-linux libfaketime $(FINDING_PACKAGES)
BENCH_PACKAGES := $(TEST_PACKAGES) vpx-tools nftables ethtool
VIEWER_PYTHON := aiortc aiohttp axe-core-python cryptography numpy websockets

.DEFAULT_GOAL := help
.PHONY: help pictures screens docs setup setup-demo setup-viewer setup-test setup-faults setup-bench build demo test test-away test-faults test-hardware test-arm64 fuzz soak bench bench-away bench-network format lint install uninstall setup-deb setup-cross deb test-package test-release clean

help: ## lists the targets
	@echo "Cradle: a baby monitor that a family owns. Targets:"
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  \1\t\2/' | expand -t 18

# Installs the Debian packages that are missing; $(1) names them.
define need
@missing=$$(for p in $(1); do dpkg-query -W -f='$${Status}\n' $$p 2>/dev/null | grep -q '^install ok installed' || echo $$p; done); \
if [ -n "$$missing" ]; then echo "Installing:" $$missing; \
  $(SUDO) apt-get update -qq && \
  $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -o DPkg::Lock::Timeout=300 -y -qq --no-install-recommends $$missing >/dev/null; fi
@command -v swift >/dev/null || { echo "Swift is missing: install it from https://www.swift.org/install/linux/"; exit 1; }
endef

setup: ## installs what building needs
	$(call need,$(BUILD_PACKAGES))

setup-viewer: setup
	$(call need,$(VIEWER_PACKAGES))
	@$(MAKE) --no-print-directory $(STAMPS)/venv

setup-test: setup-viewer
	@for p in $(RELAY_PACKAGES) $(MEETING_PACKAGES) nginx; do dpkg-query -W $$p >/dev/null 2>&1 || [ ! -d /run/systemd/system ] || \
	  $(SUDO) systemctl --quiet mask $$p.service; done
	$(call need,$(TEST_PACKAGES))

setup-faults: setup
	$(call need,$(FAULT_PACKAGES))

setup-bench: setup-test
	$(call need,$(BENCH_PACKAGES))

$(STAMPS)/venv: Makefile
	@echo "Preparing the Python viewers ..."
	@mkdir -p $(STAMPS)
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check $(VIEWER_PYTHON)
	@touch $@

# SwiftPM does not see that a page has changed: the assembler reads it.
PAGES := Sources/CLibraries/CWebPages/web_pages.c
$(PAGES): $(shell find Sources/Web/Pages -type f)
	@touch $@

# Nor that what a module knows of another one's stored properties is out of date: a program built after an update could end at
# once. So after any change all is compiled.
COMPILED := $(STAMPS)/compiled
SOURCES := $(shell find Sources Tests/Benchmarks Tests/Soak -name '*.swift')
$(COMPILED): $(SOURCES)
	@touch $(SOURCES)
	@mkdir -p $(STAMPS) && touch $@

build: setup $(PAGES) $(COMPILED) ## builds the release programs
	swift build $(RELEASE) --product cradle-child
	swift build $(RELEASE) --product cradle-parent
	swift build $(RELEASE) --product cradle-rendezvous

pictures: setup-test ## makes the pictures of the documents: the real page and window, watching a drawing
	swift build --product cradle-child
	swift build --product cradle-parent
	$(VENV)/bin/python docs/pictures/photograph.py --child $(BUILD)/debug/cradle-child --parent $(BUILD)/debug/cradle-parent \
	  --work $(BUILD)/pictures

screens: setup-test $(PAGES) ## photographs every screen of the phone page, in .build/screens/index.html; LANGUAGE=de: in that one
	swift build --product cradle-child
	$(VENV)/bin/python Tests/Interop/peers/page_gallery.py --program $(BUILD)/debug/cradle-child --output $(BUILD)/screens \
	  $(addprefix --language ,$(LANGUAGE))

docs: setup ## builds the reference of the WebRTC library (DocC) in .build/docs
	swift build --target WebRTC
	docs/reference $(BUILD)/debug/Modules $(BUILD)/docs
	@echo "To read it: $(PYTHON) -m http.server --directory $(BUILD)/docs, and open /documentation/webrtc there"

setup-demo: setup
	$(call need,python3 $(FINDING_PACKAGES))

demo: setup-demo ## starts a child, watches it, shows the figures and a link; Ctrl-C ends it
	@echo "Building (the first time takes some minutes) ..."
	@$(MAKE) --no-print-directory build
	@$(PYTHON) Tests/Interop/demo.py --child $(BUILD)/release/cradle-child --parent $(BUILD)/release/cradle-parent

# What is measured with has tests of its own; they take a second.
MEASURING_TESTS := cd Tests/Benchmarks && $(PYTHON) -m unittest -q network.models_test network.figures_test network.table_test

# What the tests watch with is installed while they are built: building needs none of it.
test: setup $(PAGES) ## runs every test that needs no special hardware; FILTER=NAME: only those
	@$(MEASURING_TESTS)
	@$(MAKE) --no-print-directory setup-test & installing=$$!; \
	  swift build --build-tests; built=$$?; wait $$installing && exit $$built
	@Tests/run --build $(BUILD) $(FILTER)

test-faults: setup-faults $(PAGES) ## breaks things on purpose, measures when somebody knows (45 min); QUICK=1: less; ROW=NAME: that one
	swift build --product cradle-child
	swift build --product cradle-parent
	@$(SUDO) $(PYTHON) Tests/Faults/run $(if $(QUICK),--quick) $(addprefix --row ,$(ROW)) --json $(BUILD)/faults.json

AWAY_PROGRAMS := --child $(BUILD)/debug/cradle-child --parent $(BUILD)/debug/cradle-parent
test-away: setup-test ## tries every pair of home networks with real servers, in network namespaces (20 min)
	swift build --product cradle-child
	swift build --product cradle-parent
	swift build --product cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/matrix.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/matrix.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous --ipv6
	@$(SUDO) $(PYTHON) Tests/Away/matrix.py $(AWAY_PROGRAMS)
	@$(SUDO) $(VENV)/bin/python Tests/Away/guest.py --child $(BUILD)/debug/cradle-child
	@$(SUDO) $(PYTHON) Tests/Away/meeting.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/moves.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/home.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/broker_dump.py $(AWAY_PROGRAMS)
	@$(SUDO) $(PYTHON) Tests/Away/one_port.py $(AWAY_PROGRAMS) --rendezvous $(BUILD)/debug/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/renewal.py $(AWAY_PROGRAMS)

test-hardware: setup-viewer deb ## runs child and package in a virtual machine with a camera and a sound card
	VENV=$(VENV) Tests/Hardware/run $(BUILD)/release $(BUILD)/debian

# Tests that the emulator runs are optimized: they take it a few minutes then, and hours else.
test-arm64: setup-viewer build ## runs programs, unit tests and packages for arm64 under emulation, in Debian 13
	@$(MAKE) --no-print-directory deb ARCH=arm64
	systemd/debian/cross/build --cache $(BUILD)/cross -- --build-tests -Xswiftc -O
	VENV=$(VENV) Tests/Arm64/run --cache $(BUILD)/cross --packages $(BUILD)/debian-trixie-arm64 --native $(BUILD)/release

# AddressSanitizer comes with SwiftPM; libFuzzer without its main does not.
FUZZ := $(BUILD)/fuzz
SWIFT_RUNTIME = $(shell swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
LIBFUZZER = $(SWIFT_RUNTIME)/clang/lib/linux/libclang_rt.fuzzer_no_main-$(shell uname -m).a
SANITIZED = -c release --scratch-path $(FUZZ)/build --sanitize address \
  -Xswiftc -sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table \
  -Xlinker -u -Xlinker LLVMFuzzerRunDriver -Xlinker $(LIBFUZZER) -Xlinker -lstdc++
DURATION ?= 60

fuzz: setup ## feeds mutated input to everything that reads it: DURATION=60 seconds a body, or COUNT=inputs; BODY=name
ifdef COUNT
	swift build $(RELEASE) --product cradle-fuzz
	$(PYTHON) Tests/Fuzz/fuzz.py --program $(BUILD)/release/cradle-fuzz --work $(FUZZ) --count $(COUNT) $(addprefix --body=,$(BODY))
else
	swift build $(SANITIZED) --product cradle-fuzz
	$(PYTHON) Tests/Fuzz/fuzz.py --program $(FUZZ)/build/release/cradle-fuzz --work $(FUZZ) --duration $(DURATION) \
	  $(addprefix --body=,$(BODY)) $(if $(SAVE),--save)
endif

CYCLES ?= 2000
MINUTES ?= 10
soak: setup-demo ## lets viewers come and go CYCLES times, and eight watch for MINUTES; nothing may remain
	@$(MAKE) --no-print-directory build
	swift build $(RELEASE) --product cradle-soak
	$(PYTHON) Tests/Soak/soak.py --child $(BUILD)/release/cradle-child --parent $(BUILD)/release/cradle-parent \
	  --soak $(BUILD)/release/cradle-soak --cycles $(CYCLES) --minutes $(MINUTES)

bench: setup-bench ## measures against GStreamer and libvpx, prints ratios
	@$(MAKE) --no-print-directory build
	swift build $(RELEASE) --product cradle-benchmarks
	$(VENV)/bin/python Tests/Benchmarks/bench.py --child $(BUILD)/release/cradle-child \
	  --parent $(BUILD)/release/cradle-parent --benchmarks $(BUILD)/release/cradle-benchmarks

AWAY_FIGURES := port-restricted+port-restricted symmetric+symmetric port-restricted+port-restricted+tcp-443
bench-away: setup-bench ## measures meeting away from home: first pictures with a round trip of 50 ms, what a rendezvous and waiting cost
	@$(MAKE) --no-print-directory build
	swift build $(RELEASE) --product cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Away/matrix.py --child $(BUILD)/release/cradle-child --parent $(BUILD)/release/cradle-parent \
	  --rendezvous $(BUILD)/release/cradle-rendezvous --round-trip 50 --times 5 $(AWAY_FIGURES)
	@$(SUDO) $(PYTHON) Tests/Away/relay_cost.py --child $(BUILD)/release/cradle-child --parent $(BUILD)/release/cradle-parent
	@ulimit -n $$(ulimit -Hn) && $(VENV)/bin/python Tests/Benchmarks/rendezvous_bench.py --rendezvous $(BUILD)/release/cradle-rendezvous
	@$(SUDO) $(PYTHON) Tests/Benchmarks/idle_meeting.py --child $(BUILD)/release/cradle-child --rendezvous $(BUILD)/release/cradle-rendezvous

bench-network: setup-bench ## measures picture and sound over bad networks (CASE=name SEEDS=n SECONDS=n PEERS=ours,webrtcbin AT_ONCE=n; QUICK=1)
	@$(MEASURING_TESTS)
	@$(MAKE) --no-print-directory build
	swift build $(RELEASE) --product cradle-benchmarks
	$(SUDO) $(VENV)/bin/python Tests/Benchmarks/network_bench.py --child $(BUILD)/release/cradle-child \
	  --parent $(BUILD)/release/cradle-parent --benchmarks $(BUILD)/release/cradle-benchmarks --json $(BUILD)/network.json \
	  $(if $(QUICK),--quick) $(addprefix --case ,$(CASE)) $(addprefix --seeds ,$(SEEDS)) \
	  $(addprefix --seconds ,$(SECONDS)) $(addprefix --peers ,$(PEERS)) $(addprefix --at-once ,$(AT_ONCE))

format: ## formats the sources
	swift format --in-place --recursive --parallel Package.swift Sources Tests Examples

lint: ## says what `format` would change
	swift format lint --strict --recursive --parallel Package.swift Sources Tests Examples

install: ## installs the programs, manual pages, completion, services and the configuration (PREFIX, DESTDIR)
	@systemd/install --programs $(BUILD)/release --prefix $(PREFIX) --root "$(DESTDIR)" child parent rendezvous

uninstall: ## removes them; state and configuration stay unless PURGE=1
	@systemd/install --remove $(if $(filter 1,$(PURGE)),--purge) --prefix $(PREFIX) --root "$(DESTDIR)" child parent rendezvous

setup-deb: setup
	$(call need,$(DEB_PACKAGES))

ifdef ARCH
# Another architecture, or a newer Debian than this machine's.
SUITE ?= trixie
CROSS := $(BUILD)/cross
PACKAGES := $(BUILD)/debian-$(SUITE)-$(ARCH)
TARGET := --arch $(ARCH) --suite $(SUITE) --cache $(CROSS)

setup-cross:
	$(call need,$(CROSS_PACKAGES) $(VIEWER_PACKAGES))
	@systemd/debian/cross/prepare $(TARGET) $(LIBRARIES)

deb: setup-cross $(PAGES)
	systemd/debian/cross/build $(TARGET) -- $(RELEASE) --product cradle-child
	systemd/debian/cross/build $(TARGET) -- $(RELEASE) --product cradle-parent
	systemd/debian/cross/build $(TARGET) -- $(RELEASE) --product cradle-rendezvous
	@rm -rf $(PACKAGES)
	@systemd/debian/build --programs $(CROSS)/$(SUITE)-$(ARCH)/build/release --output $(PACKAGES) --arch $(ARCH) \
	  --sysroot $(abspath $(CROSS))/$(SUITE)-$(ARCH)/sysroot --checkouts $(CROSS)/$(SUITE)-$(ARCH)/build/checkouts
	@ls -l --block-size=kB $(PACKAGES)
else
deb: setup-deb build ## makes Debian packages in .build/debian; ARCH=arm64: for Debian 13 on that architecture
	@rm -rf $(BUILD)/debian
	@systemd/debian/build --programs $(BUILD)/release --output $(BUILD)/debian --checkouts $(BUILD)/checkouts
	@lintian --allow-root --fail-on error $(BUILD)/debian/*.deb
	@ls -l --block-size=kB $(BUILD)/debian
endif

test-package: deb ## installs, upgrades, boots, times and purges the packages in a fresh Debian
	$(call need,debootstrap systemd-container)
	@$(SUDO) Tests/Interop/package.sh $(BUILD)/debian

FOLDERS ?= $(BUILD)/debian-trixie-$(shell dpkg --print-architecture)
test-release: ## lets a fresh Debian 13 install and upgrade from a signed apt folder of the packages in FOLDERS
	$(call need,$(RELEASE_PACKAGES) mmdebstrap python3)
	@$(SUDO) Tests/Interop/release.sh $(FOLDERS)

clean: ## removes what was built
	rm -rf $(BUILD)
