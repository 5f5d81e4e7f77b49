#!/bin/bash
# Installs the packages in a fresh Debian (debootstrap, in a folder that goes away), upgrades them, boots that Debian and
# times the service, removes and purges them.
# usage: package.sh FOLDER_WITH_PACKAGES   (as root)
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
packages=$(cd "$1" && pwd)
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d)
root=$work/root
container=
trap '[ -z "$container" ] || kill "$container" && wait; rm -rf "$work"' EXIT

echo "Preparing a fresh Debian $suite ..."
debootstrap --variant=minbase "$suite" "$root" "${MIRROR:-http://deb.debian.org/debian}" >"$work/log" 2>&1 ||
  { tail -20 "$work/log"; exit 1; }
# An image that leaves out manual pages would hide that they are missing.
rm -f "$root"/etc/dpkg/dpkg.cfg.d/*
cp /etc/resolv.conf "$root/etc/"
mkdir -p "$root/packages/newer"
cp "$packages"/cradle-{child,parent,rendezvous}_*.deb "$root/packages/"
"$top/systemd/debian/build" --programs "$top/.build/release" --output "$root/packages/newer" --quick \
  --version "$("$top/.build/release/cradle-child" --version).1" cradle-child cradle-rendezvous >/dev/null

cat >"$root/words" <<'WORDS'
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
step() { echo "  $*"; }
fail() { echo "FAILED: $*" >&2; tail -20 /log >&2; exit 1; }
mount -t proc proc /proc
WORDS
# Its mounts and processes end with it.
inside_root() { unshare --mount --pid --fork --kill-child chroot "$root" bash "$1"; }

cat >"$root/steps" <<'STEPS'
. /words
apt-get update -qq
first=$(echo /packages/cradle-child_*.deb) second=$(echo /packages/newer/cradle-child_*.deb)

apt-get install -y --no-install-recommends "$first" /packages/cradle-parent_*.deb >/log 2>&1 || fail "installing"
tail -1 /log | grep -q 'sudo cradle-child pair' || fail "the last line does not say how to pair"
step "installed; the last lines: $(tail -2 /log | tr '\n' ' ')"

id cradle | grep -q audio || fail "the user is not in its groups"
[ -L /etc/systemd/system/multi-user.target.wants/cradle-child.service ] || fail "the service is not enabled"
systemd-analyze --man=no verify cradle-child.service || fail "systemd finds fault with the service"
for page in man1/cradle-child.1 man1/cradle-child-run.1 man1/cradle-parent-watch.1 man5/cradle-child.yaml.5; do
  [ -e /usr/share/man/$page.gz ] || fail "no page $page"
done
step "user, service and pages are there"

install -d -m 700 -o cradle -g cradle /var/lib/cradle
install -d -m 750 -o cradle -g cradle /run/cradle
run() { setpriv --reuid=cradle --regid=cradle --init-groups cradle-child run --camera test --microphone test \
  --speaker null --listen '[::]:0' 2>/run.log & }
ready() {
  for _ in $(seq 100); do cradle-child status --json 2>/dev/null | grep -o '"id":"[0-9a-f]*"' && return; sleep 0.2; done
  cat /run.log >&2
  fail "the child does not answer"
}
run
id=$(ready)
cradle-child token add --name test >/dev/null 2>&1 || fail "token"
kill $! && wait $!
step "runs as its user, with the libraries that the package asked for; $id"

echo 'name: Nursery' >/etc/cradle/child.yaml
apt-get install -y -o Dpkg::Options::=--force-confdef "$second" >/log 2>&1 || fail "upgrading"
! grep -q 'cradle-child pair' /log || fail "an upgrade need not say how to pair"
[ "$(cat /etc/cradle/child.yaml)" = 'name: Nursery' ] || fail "the configuration was not kept"
run
[ "$(ready)" = "$id" ] || fail "another identity after the upgrade"
cradle-child status --json | grep -q '"name":"Nursery"' || fail "the configuration is not read"
cradle-child token list | grep -q test || fail "the token is gone"
kill $! && wait $!
step "upgraded from $(basename "$first") to $(basename "$second"), with state and configuration"

# As docs/OWNING.md describes it.
tar -C /var/lib -czf /backup.tar.gz cradle
cradle-child erase --yes | grep -q 'Removed identity: ' || fail "erasing"
[ -z "$(ls -A /var/lib/cradle)" ] || fail "erasing left something"
tar -C /var/lib -xzf /backup.tar.gz && chown -R cradle: /var/lib/cradle
run
[ "$(ready)" = "$id" ] || fail "another identity after restoring the backup"
kill $! && wait $!
step "erased and restored from a backup"

# The room server, on the same machine.
apt-get install -y --no-install-recommends /packages/cradle-rendezvous_*.deb >/log 2>&1 || fail "installing cradle-rendezvous"
tail -1 /log | grep -q 'systemctl enable --now cradle-rendezvous' || fail "the last line does not say how to start it"
[ ! -e /etc/systemd/system/multi-user.target.wants/cradle-rendezvous.service ] || fail "it is enabled without names"
cradle-rendezvous check >/log 2>&1 && status=0 || status=$?
[ $status = 2 ] && grep -q 'names: is missing' /log || fail "check does not say that names are missing"
systemd-analyze --man=no verify cradle-rendezvous.service || fail "systemd finds fault with the service"
for page in man1/cradle-rendezvous.1 man1/cradle-rendezvous-run.1 man5/cradle-rendezvous.yaml.5; do
  [ -e /usr/share/man/$page.gz ] || fail "no page $page"
done
echo 'names: [meet.example.org]' >/etc/cradle/rendezvous.yaml
setpriv --reuid=cradle-rendezvous --regid=cradle-rendezvous --init-groups cradle-rendezvous check >/log 2>&1 || fail "check"
apt-get install -y -o Dpkg::Options::=--force-confdef /packages/newer/cradle-rendezvous_*.deb >/log 2>&1 ||
  fail "upgrading cradle-rendezvous"
! grep -q 'enable --now' /log || fail "an upgrade need not say how to start"
[ "$(cat /etc/cradle/rendezvous.yaml)" = 'names: [meet.example.org]' ] || fail "the configuration was not kept"
[ ! -e /etc/systemd/system/multi-user.target.wants/cradle-rendezvous.service ] || fail "an upgrade enabled it"
step "the room server is installed beside it, upgraded, and starts when it is told to"
apt-get install -y --no-install-recommends systemd-sysv dbus >/log 2>&1 || fail "installing what boots"
STEPS

cat >"$root/service" <<'STEPS'
set -euo pipefail
for _ in $(seq 300); do systemctl is-active --quiet cradle-child 2>/dev/null && break; sleep 0.2; done
systemctl is-active cradle-child >/dev/null || { journalctl -u cradle-child >&2; exit 1; }
times=()
for _ in 1 2 3 4 5; do
  sleep 2
  began=$(date +%s%N); systemctl stop cradle-child; stopped=$(date +%s%N); systemctl start cradle-child
  times+=("$(((stopped - began) / 1000000))/$((($(date +%s%N) - stopped) / 1000000))")
done
systemctl is-active --quiet cradle-child
kill -9 "$(systemctl show -p MainPID --value cradle-child)"
for _ in $(seq 100); do sleep 0.2; systemctl is-active --quiet cradle-child && break; done
systemctl is-active --quiet cradle-child || { echo "it did not come back after being killed" >&2; exit 1; }
rss=$(awk '/VmRSS/ {print int($2 / 1024)}' "/proc/$(systemctl show -p MainPID --value cradle-child)/status")
echo "  booted: stop/start in ms ${times[*]}; comes back after a kill; $rss MB with no viewer and no device"

systemctl is-active --quiet cradle-rendezvous && { echo "cradle-rendezvous runs before it is enabled" >&2; exit 1; }
systemctl enable --quiet --now cradle-rendezvous || { journalctl -u cradle-rendezvous >&2; exit 1; }
key=$(cradle-rendezvous status | sed -n 's/^key-sha256 for children: //p')
[ ${#key} = 64 ] || { cradle-rendezvous status >&2; exit 1; }
(exec 3<>/dev/tcp/127.0.0.1/443) || { echo "nothing listens at port 443" >&2; exit 1; }
kill -9 "$(systemctl show -p MainPID --value cradle-rendezvous)"
for _ in $(seq 100); do sleep 0.2; cradle-rendezvous status >/dev/null 2>&1 && break; done
[ "$(cradle-rendezvous status | sed -n 's/^key-sha256 for children: //p')" = "$key" ] || { echo "another key" >&2; exit 1; }
echo 'name: [meet.example.org]' >/etc/cradle/rendezvous.yaml
systemctl restart cradle-rendezvous 2>/dev/null && { echo "it starts with a wrong configuration" >&2; exit 1; }
sleep 2
[ "$(systemctl show -p NRestarts --value cradle-rendezvous)" -le 1 ] || { echo "it starts over and over" >&2; exit 1; }
echo "  the room server has port 443, comes back after a kill with its key, and stays down when its configuration is wrong"
STEPS

cat >"$root/removal" <<'STEPS'
. /words
apt-get remove -y cradle-child cradle-rendezvous >/log 2>&1 || fail "removing"
[ -e /var/lib/cradle/identity.pem ] && [ -e /etc/cradle/child.yaml ] || fail "removing took state or configuration"
[ -e /var/lib/cradle-rendezvous/rendezvous.pem ] && [ -e /etc/cradle/rendezvous.yaml ] || fail "and the room server's"
apt-get purge -y cradle-child cradle-parent cradle-rendezvous >/log 2>&1 || fail "purging"
left=$(find / -xdev -name '*cradle*' -not -path '/packages/*' -not -path '/proc/*' -not -path '/var/cache/*' \
  -not -path '/var/log/*' -not -path '/run/*')
[ -z "$left" ] || fail "purging left: $left"
step "removed, then purged: nothing is left but the users"
STEPS
inside_root /steps

# Its own systemd, without the machine's network.
systemd-nspawn --quiet --directory="$root" --boot --private-network --register=no --keep-unit \
  >"$work/boot.log" 2>&1 </dev/null &
container=$!
for _ in $(seq 100); do init=$(pgrep -P "$container" || true); [ -z "$init" ] || break; sleep 0.1; done
[ -n "$init" ] || { cat "$work/boot.log" >&2; exit 1; }
inside() { nsenter --target "$init" --mount --uts --ipc --net --pid --cgroup "$@"; }
inside bash /service || { tail -20 "$work/boot.log" >&2; exit 1; }
inside systemctl poweroff 2>/dev/null || true
wait "$container" || true
container=

inside_root /removal
echo "The packages install, upgrade and go as they should."
