#!/bin/bash
# Makes a signed apt folder of ready packages and offers it to a fresh Debian 13 (mmdebstrap, in a folder that goes away):
# apt installs from it, upgrades from it, and takes nothing that was changed, goes back or has another signature.
# usage: release.sh FOLDER_WITH_PACKAGES ...   (as root; packages for this machine's architecture among them)
set -euo pipefail
[ $# -gt 0 ] || { sed -n '2,/^set -/p' "$0" | sed '$d; s/^# \{0,1\}//' >&2; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd)
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
root=$work/root
export GNUPGHOME=$work/gnupg
server=
trap '[ -z "$server" ] || kill "$server"; gpgconf --kill all; rm -rf "$work"' EXIT
fail() { echo "FAILED: $*" >&2; tail -20 "$root/log" >&2 2>/dev/null; exit 1; }
step() { echo "  $*"; }

mkdir -m 700 "$GNUPGHOME"
for name in ours others; do
  gpg --batch --quiet --passphrase '' --quick-generate-key "$name <$name@cradle.invalid>" ed25519 sign never 2>/dev/null
done

# Ready packages of a later version: the same files with another number.
raised() {
  local file name
  mkdir -p "$work/$1"
  for file in "$work"/packages/*.deb; do
    name=$(basename "$file" | sed "s/_${version}_/_$1_/")
    dpkg-deb --raw-extract "$file" "$work/unpacked"
    sed -i "s/^Version: .*/Version: $1/" "$work/unpacked/DEBIAN/control"
    dpkg-deb --root-owner-group -Zgzip -z1 --build "$work/unpacked" "$work/$1/$name" >/dev/null
    rm -rf "$work/unpacked"
  done
}
release() { "$top/systemd/debian/release" --arch "$arch" --url file:/media/cradle "$@" >/dev/null; }
mkdir "$work/packages"
for folder in "$@"; do
  for file in "$folder"/cradle-*_"$arch".deb; do [ ! -e "$file" ] || cp "$file" "$work/packages/"; done
done
first=$(echo "$work"/packages/cradle-child_*.deb)
[ -e "$first" ] || { echo "release.sh: no cradle-child for $arch in $*" >&2; exit 2; }
version=$(dpkg-deb --field "$first" Version)
second=$version.1 third=$version.2

echo "Preparing a fresh Debian 13 ..."
mmdebstrap --quiet --variant=minbase trixie "$root" "${MIRROR:-http://deb.debian.org/debian}" 2>"$work/log" ||
  { tail -20 "$work/log"; exit 1; }
cp /etc/resolv.conf "$root/etc/"
# Its mounts and processes end with it.
inside() {
  unshare --mount --pid --fork --kill-child chroot "$root" /bin/sh -c 'mount -t proc proc /proc && exec "$@"' - \
    env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@" >"$root/log" 2>&1
}
# offered FOLDER: what is at /media/cradle from now on.
offered() { rm -rf "$root/media/cradle"; cp -a "$1" "$root/media/cradle"; }
forgotten() { rm -f "$root"/var/lib/apt/lists/*cradle*; }
known() { inside apt-cache policy "$1" && sed -n 's/^ *'"$2"': //p' "$root/log"; }
# sees VERSION ADDRESS: whether apt knows of it there, whatever is installed.
sees() {
  inside apt-cache madison cradle-child
  awk -F ' *[|] *' -v version="$1" -v address="$2" '$2 == version && index($3, address) == 1 { found = 1 } END { exit !found }' \
    "$root/log"
}
candidate() { known cradle-child Candidate; }
installed() { known cradle-child Installed; }

release --key ours --packages "$work/packages" --output "$work/one"
raised "$second"
cp -a "$work/one" "$work/two"
release --key ours --packages "$work/$second" --output "$work/two"
raised "$third"

# As docs/OWNING.md describes it.
offered "$work/one"
install -D -m 644 "$work/one/cradle-archive-keyring.asc" "$root/etc/apt/keyrings/cradle-archive-keyring.asc"
install -D -m 644 "$work/one/cradle.sources" "$root/etc/apt/sources.list.d/cradle.sources"
inside apt update || fail "reading the folder"
! grep -E '^(W|E|Warning|Error): ' "$root/log" || fail "apt finds fault with the folder"
inside apt install -y --no-install-recommends cradle-child cradle-parent cradle-rendezvous || fail "installing"
grep 'sudo cradle-child pair' "$root/log" >/dev/null || fail "it does not say how to pair"
[ "$(installed)" = "$version" ] || fail "$version is not installed"
inside cradle-child --version && said=$(cat "$root/log") || fail "cradle-child does not start"
inside cradle-parent --version || fail "cradle-parent does not start"
inside cradle-rendezvous --version || fail "cradle-rendezvous does not start"
inside id cradle || fail "no user"
[ -L "$root/etc/systemd/system/multi-user.target.wants/cradle-child.service" ] || fail "the service is not enabled"
[ ! -e "$root/etc/systemd/system/multi-user.target.wants/cradle-rendezvous.service" ] || fail "the room server is enabled without names"
step "installed from the folder: cradle-child $version on $arch; the program says $said"

echo 'name: Nursery' >"$root/etc/cradle/child.yaml"
offered "$work/two"
inside apt update || fail "reading the next release"
inside apt upgrade -y -o Dpkg::Options::=--force-confdef || fail "upgrading"
[ "$(installed)" = "$second" ] || fail "apt upgrade did not install $second"
[ "$(cat "$root/etc/cradle/child.yaml")" = 'name: Nursery' ] || fail "the configuration was not kept"
step "apt upgrade: $version to $second, with the configuration"
inside apt install -y --allow-downgrades "cradle-child=$version" "cradle-parent=$version" "cradle-rendezvous=$version" || fail "going back by name"
[ "$(installed)" = "$version" ] || fail "the earlier version is not installed"
inside apt upgrade -y || fail "upgrading again"
step "the earlier version can be asked for by its number"

offered "$work/one"
touch "$root/media/cradle/dists/trixie/InRelease"
inside apt update || fail "reading the earlier release"
sees "$second" file:/media/cradle || fail "apt went back"
step "an earlier release that is offered again changes nothing"

# From a web server, just before the third release's InRelease comes: by their hashes the indexes of the second are there.
cp -a "$work/two" "$work/three"
release --key ours --packages "$work/$third" --output "$work/three"
cp -a "$work/three" "$work/half"
cp -p "$work/two/dists/trixie/InRelease" "$work/half/dists/trixie/"
mkdir "$work/web"
ln -s "$work/half" "$work/web/cradle"
python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$work/web" >"$work/web.log" 2>&1 &
server=$!
for _ in $(seq 100); do port=$(sed -nE 's/.* port ([0-9]+) .*/\1/p' "$work/web.log"); [ -z "$port" ] || break; sleep 0.1; done
address=http://127.0.0.1:$port/cradle
sed -i "s,^URIs: .*,URIs: $address," "$root/etc/apt/sources.list.d/cradle.sources"
inside apt update || fail "reading a folder with half of the next release"
sees "$second" "$address" || fail "no $second"
! sees "$third" "$address" || fail "apt sees $third before it is released"
grep -q 'by-hash' "$work/web.log" || fail "apt does not ask by hash"
ln -sfn "$work/three" "$work/web/cradle"
inside apt update || fail "reading the third release"
sees "$third" "$address" || fail "no $third"
step "from a web server, apt sees the whole release before or the whole release after"
install -m 644 "$work/one/cradle.sources" "$root/etc/apt/sources.list.d/cradle.sources"
forgotten

# A newer version that somebody else offers: by a signature of another key, by none, and by indexes that were changed.
cp -a "$work/two" "$work/strange"
release --key others --change-key --packages "$work/$third" --output "$work/strange"
cp -a "$work/strange" "$work/unsigned"
rm "$work"/unsigned/dists/trixie/{InRelease,Release.gpg}
cp -a "$work/strange" "$work/changed"
cp "$work"/two/dists/trixie/{InRelease,Release,Release.gpg} "$work/changed/dists/trixie/"
index=dists/trixie/main/binary-$arch
for part in '' .gz .xz; do
  genuine=$work/two/$index/Packages$part
  cp "$work/strange/$index/Packages$part" "$work/changed/$index/by-hash/SHA256/$(sha256sum "$genuine" | cut -d' ' -f1)"
done
for folder in strange unsigned changed; do
  offered "$work/$folder"
  inside apt update || true
  [ "$(candidate)" = "$second" ] || fail "$folder: apt would install $(candidate)"
  forgotten
  if inside apt update; then fail "$folder: apt accepts it"; fi
  reason=$(grep -m1 -E -o 'NO_PUBKEY|Missing key|not signed|Hash Sum mismatch|unexpected size' "$root/log") ||
    fail "$folder: another reason than expected"
  inside apt upgrade -y || true
  [ "$(installed)" = "$second" ] || fail "$folder: apt installed $(installed)"
  step "refused: $folder ($reason)"
  offered "$work/two"
  inside apt update || fail "reading the genuine folder again"
done

# One bit of the package itself.
cp -a "$work/two" "$work/bit"
file=$work/bit/pool/cradle-child_${second}_$arch.deb
at=$(($(stat -c %s "$file") - 100))
byte=$(od -An -tu1 -j $at -N 1 "$file")
printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
offered "$work/bit"
inside apt update || fail "reading"
if inside apt install -y --reinstall cradle-child; then fail "apt installs a package that was changed"; fi
grep -q 'Hash Sum mismatch' "$root/log" || fail "bit: another reason than expected"
step "refused: a package with one bit changed (Hash Sum mismatch)"

offered "$work/two"
inside apt purge -y cradle-child cradle-parent cradle-rendezvous || fail "purging"
echo "apt installs, upgrades and refuses as it should."
