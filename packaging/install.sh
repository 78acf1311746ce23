#!/bin/sh
# Installs hookmux for one user, without root:
#   sh install.sh               the newest of what this script knows
#   sh install.sh --uninstall   takes exactly those files away again
#
#   HOOKMUX_INSTALL_DIR    folder for bin/ and share/; ~/.local if not set
#   HOOKMUX_VERSION        another version than the script's own
#   HOOKMUX_DOWNLOAD_URL   folder or address with the archives and SHA256SUMS;
#                          else the script's own folder if they are there, else the release's page
#   HOOKMUX_PUBLIC_KEY     minisign key to check the signature with
#
# The archive's checksum is always compared. The signature of the checksums is
# checked where the key is known and minisign is installed; it is said otherwise.
set -eu

version="${HOOKMUX_VERSION:-@VERSION@}"
public_key="${HOOKMUX_PUBLIC_KEY:-@PUBLIC_KEY@}"
# In the source tree these are not filled in; `make release` does that.
case "$public_key" in @*) public_key= ;; esac
case "$version" in @*) echo "hookmux: set HOOKMUX_VERSION, or take install.sh from a release" >&2 && exit 1 ;; esac
own_folder=
if [ -f "$0" ]; then own_folder=$(cd "$(dirname "$0")" && pwd -P); fi # a script from a pipe has none
if [ -n "${HOOKMUX_DOWNLOAD_URL:-}" ]; then
	from=$HOOKMUX_DOWNLOAD_URL
elif [ -n "$own_folder" ] && grep -qs "  hookmux-$version-" "$own_folder/SHA256SUMS"; then
	from=$own_folder
else
	from="@HOME@/releases/download/v$version"
fi

say() { printf '%s\n' "hookmux: $*"; }
fail() {
	say "$*" >&2
	exit 1
}

[ -n "${HOME:-}" ] || [ -n "${HOOKMUX_INSTALL_DIR:-}" ] || fail "HOME is not set; set HOOKMUX_INSTALL_DIR"
dir="${HOOKMUX_INSTALL_DIR:-$HOME/.local}"
case "$dir" in
/*) ;;
*) fail "HOOKMUX_INSTALL_DIR is $dir; it must begin with a slash" ;;
esac
# What was installed, below $dir, one name a line. A name that ends with a slash is a
# folder that the script made.
list=share/doc/hookmux/installed-files

# make_folder NAME makes a folder below $dir, and notes those that were not there.
make_folder() {
	[ ! -d "$dir/$1" ] || return 0
	case "$1" in */*) make_folder "${1%/*}" ;; esac
	mkdir "$dir/$1"
	echo "$1/" >>"$work/folders"
}

# remove_folders removes the folders of a list that are empty, the inner ones first.
remove_folders() {
	sed -n 's|/$||p' "$1" | sort -r | while IFS= read -r name; do
		rmdir "$dir/$name" 2>/dev/null || :
	done
}

uninstall() {
	[ -f "$dir/$list" ] || fail "$dir/$list is not there: this script installed nothing in $dir"
	record="${XDG_STATE_HOME:-$HOME/.local/state}/hookmux/install.json"
	if [ -f "$record" ] && [ "${1:-}" != --keep-hooks ]; then
		fail "hooks are still in your agents' files. Run 'hookmux uninstall' first, then this again
(--uninstall --keep-hooks leaves them; without the program they do nothing)"
	fi
	"$dir/bin/hookmux" daemon stop >/dev/null 2>&1 || :
	names=$(mktemp)
	cp "$dir/$list" "$names"
	while IFS= read -r name; do
		case "$name" in
		/* | *..*) fail "$dir/$list was changed: $name" ;;
		*/) ;;
		*) rm -f "$dir/$name" ;;
		esac
	done <"$names"
	rm -f "$dir/$list"
	rmdir "$dir/${list%/*}" 2>/dev/null || :
	remove_folders "$names"
	rm -f "$names"
	say "removed from $dir; your settings and the journal stay (hookmux in ~/.config, ~/.local/state and ~/.local/share)"
}

case "${1:-}" in
"") ;;
--uninstall)
	uninstall "${2:-}"
	exit 0
	;;
*) fail "there is no $1; use it without arguments or with --uninstall" ;;
esac

case "$(uname -s)" in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "$(uname -s) is not supported; hookmux runs on Linux and macOS" ;;
esac
case "$(uname -m)" in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no hookmux for $(uname -m)" ;;
esac

fetch() { # fetch NAME FILE
	case "$from" in
	/*) cp "$from/$1" "$2" ;;
	*)
		if command -v curl >/dev/null 2>&1; then
			curl -fsSL --retry 3 -o "$2" "$from/$1"
		elif command -v wget >/dev/null 2>&1; then
			wget -q -O "$2" "$from/$1"
		else
			fail "neither curl nor wget is installed"
		fi
		;;
	esac
}

checksum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum <"$1" | cut -d' ' -f1
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 <"$1" | cut -d' ' -f1
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 <"$1" | sed 's/.* //'
	else
		fail "none of sha256sum, shasum and openssl is installed: the download cannot be checked"
	fi
}

mkdir -p "$dir"
# In the same file system as the programs: they are then put in place by renaming,
# and hooks that run meanwhile see the old one or the new one.
work=$(mktemp -d "$dir/.hookmux-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

name="hookmux-$version-$system-$arch"
fetch SHA256SUMS "$work/SHA256SUMS" || fail "$from/SHA256SUMS cannot be fetched.
If you have the files of a release, put install.sh beside them, or name their folder: HOOKMUX_DOWNLOAD_URL=FOLDER sh install.sh"
if [ -n "$public_key" ]; then
	fetch SHA256SUMS.minisig "$work/SHA256SUMS.minisig" ||
		fail "$from has no signature, and one is expected; nothing was installed"
	if command -v minisign >/dev/null 2>&1; then
		minisign -Vqm "$work/SHA256SUMS" -P "$public_key" ||
			fail "the signature of SHA256SUMS is not right; nothing was installed"
		say "the signature is right"
	else
		say "the signature was not checked: minisign is not installed"
	fi
else
	say "this release is not signed; only checksums are compared"
fi
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$want" ] || fail "$from/SHA256SUMS does not name $name.tar.gz"
fetch "$name.tar.gz" "$work/archive.tar.gz" || fail "$from/$name.tar.gz cannot be fetched"
is=$(checksum "$work/archive.tar.gz")
[ "$is" = "$want" ] || fail "$name.tar.gz has the checksum $is, and $want is right; nothing was installed"
tar -xzf "$work/archive.tar.gz" -C "$work"
new="$work/$name"
"$new/bin/hookmux" --version >/dev/null || fail "the program does not run on this machine; nothing was installed"

mkdir -p "$new/share/doc/hookmux"
for file in README.md LICENSE CHANGELOG.md; do # where archives before 0.1.0 had them
	if [ -f "$new/$file" ]; then mv "$new/$file" "$new/share/doc/hookmux/"; fi
done
# What nothing reads here: polkit looks below /usr, launchd is of macOS, systemd of Linux.
case "$dir" in /usr | /usr/local) ;; *) rm -rf "$new/share/polkit-1" ;; esac
case "$system" in linux) rm -rf "$new/share/launchd" ;; *) rm -rf "$new/share/systemd" ;; esac
# The hook client last: it finds the new hookmux beside it.
(cd "$new" && find share -type f | sort && find bin -type f ! -name hookmux-hook | sort && echo bin/hookmux-hook) >"$work/files"
if [ -f "$dir/$list" ]; then cp "$dir/$list" "$work/before"; else : >"$work/before"; fi
sed -n '/\/$/p' "$work/before" >"$work/folders"
while IFS= read -r file; do
	make_folder "${file%/*}"
	mv -f "$new/$file" "$dir/$file"
done <"$work/files"
# What the version before had and this one has not.
while IFS= read -r file; do
	case "$file" in /* | *..* | */) continue ;; esac
	grep -qxF -- "$file" "$work/files" || rm -f "$dir/$file"
done <"$work/before"
cat "$work/folders" >>"$work/files"
mv -f "$work/files" "$dir/$list"
remove_folders "$work/folders"

say "$("$dir/bin/hookmux" --version) is installed in $dir/bin"
case ":${PATH:-}:" in
*":$dir/bin:"*) ;;
*) say "add it to your PATH: export PATH=\"$dir/bin:\$PATH\"" ;;
esac
say "next: hookmux setup"
