#!/bin/sh
# Installs hookmux for one user, without root:
#   curl -fsSL BASE/install.sh | sh                    this release
#   curl -fsSL BASE/install.sh | sh -s -- --from BASE  the same, from another server
#   sh install.sh                                      from the files beside it, without a network
#   sh install.sh --uninstall                          removes exactly what it installed
#
#   --from BASE            address or folder with the archives and SHA256SUMS
#   --no-signature         installs even if the signature can't be checked here
#   HOOKMUX_INSTALL_DIR    folder for bin/ and share/; ~/.local if not set
#   HOOKMUX_VERSION        another version than the script's own
#   HOOKMUX_DOWNLOAD_URL   the same as --from
#   HOOKMUX_PUBLIC_KEY     minisign key to check the signature with
#
# The archive's checksum is always compared. The signature of the checksums is checked with
# minisign or OpenSSL 3. Where neither is installed, only files from hookmux's own release
# page are installed.
set -eu

version="${HOOKMUX_VERSION:-@VERSION@}"
public_key="${HOOKMUX_PUBLIC_KEY:-@PUBLIC_KEY@}"
# In the source tree these are not filled in; `make release` does that.
case "$public_key" in @*) public_key= ;; esac

say() { printf '%s\n' "hookmux: $*"; }
fail() {
	say "$*" >&2
	exit 1
}

action=install unsigned=no keep_hooks=no from="${HOOKMUX_DOWNLOAD_URL:-}"
while [ $# -gt 0 ]; do
	case "$1" in
	--from)
		[ -n "${2:-}" ] || fail "--from needs an address or a folder"
		from=$2
		shift
		;;
	--no-signature) unsigned=yes ;;
	--uninstall) action=uninstall ;;
	--keep-hooks) keep_hooks=yes ;;
	*) fail "unknown option $1; there are --from BASE, --no-signature and --uninstall" ;;
	esac
	shift
done

official="@HOME@/releases/download/v$version"
own_folder=
if [ -f "$0" ]; then own_folder=$(cd "$(dirname "$0")" && pwd -P); fi # a script from a pipe has none
if [ -n "$from" ]; then
	case "$from" in
	*://*) from=${from%/} ;;
	*) from=$(cd "$from" 2>/dev/null && pwd -P) || fail "there is no folder $from" ;;
	esac
elif [ -n "$own_folder" ] && grep -qs "  hookmux-$version-" "$own_folder/SHA256SUMS"; then
	from=$own_folder
else
	from=$official
fi

[ -n "${HOME:-}" ] || [ -n "${HOOKMUX_INSTALL_DIR:-}" ] || fail "HOME isn't set; set HOOKMUX_INSTALL_DIR"
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
	[ -f "$dir/$list" ] || fail "nothing to remove: this script installed nothing in $dir ($dir/$list is missing)"
	record="${XDG_STATE_HOME:-$HOME/.local/state}/hookmux/install.json"
	if [ -f "$record" ] && [ "$keep_hooks" = no ]; then
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

if [ "$action" = uninstall ]; then
	uninstall
	exit 0
fi
# A script from the source tree knows no version.
case "$version" in @*) fail "set HOOKMUX_VERSION, or take install.sh from a release" ;; esac

case "$(uname -s)" in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) fail "there is no hookmux for $(uname -s); it runs on Linux and macOS (and on Windows in WSL)" ;;
esac
case "$(uname -m)" in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no hookmux for $(uname -s) on $(uname -m); only for amd64 (x86_64) and arm64 (aarch64)" ;;
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
		fail "none of sha256sum, shasum and openssl is installed, so the download can't be checked; nothing was installed"
	fi
}

# signature_is_right checks $work/SHA256SUMS.minisig. It returns 2 where nothing here can check it.
signature_is_right() {
	if command -v minisign >/dev/null 2>&1; then
		minisign -Vqm "$work/SHA256SUMS" -P "$public_key"
		return
	fi
	command -v openssl >/dev/null 2>&1 || return 2
	# A minisign key is "Ed", eight bytes of key id and an Ed25519 key. A signature is "Ed", the id and the
	# signature of the file, or "ED" and that of the file's BLAKE2b-512. 302a…00 makes the key one for OpenSSL.
	printf '%s\n' "$public_key" | openssl base64 -d >"$work/key" 2>/dev/null || return 1
	sed -n 2p "$work/SHA256SUMS.minisig" | openssl base64 -d -A >"$work/signature" 2>/dev/null || return 1
	[ "$(wc -c <"$work/key")" -eq 42 ] && [ "$(wc -c <"$work/signature")" -eq 74 ] || return 1
	printf '\060\052\060\005\006\003\053\145\160\003\041\000' >"$work/key.der"
	tail -c 32 "$work/key" >>"$work/key.der"
	tail -c 64 "$work/signature" >"$work/signature.raw"
	signed="$work/SHA256SUMS"
	case "$(head -c 2 "$work/signature")" in
	Ed) ;;
	ED) signed="$work/digest" && openssl dgst -blake2b512 -binary "$work/SHA256SUMS" >"$signed" 2>/dev/null || return 2 ;;
	*) return 1 ;;
	esac
	openssl pkey -pubin -inform DER -in "$work/key.der" -out "$work/key.pem" 2>/dev/null || return 2
	openssl pkeyutl -help 2>&1 | grep -q -e -rawin || return 2
	openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$signed" -sigfile "$work/signature.raw" >/dev/null 2>&1
}

mkdir -p "$dir"
# In the same file system as the programs: they are then put in place by renaming,
# and hooks that run meanwhile see the old one or the new one.
work=$(mktemp -d "$dir/.hookmux-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

name="hookmux-$version-$system-$arch"
fetch SHA256SUMS "$work/SHA256SUMS" || fail "$from/SHA256SUMS can't be fetched; nothing was installed.
If you have the files of a release, put install.sh beside them and run it, or name their folder: sh install.sh --from FOLDER"
if [ -n "$public_key" ]; then
	fetch SHA256SUMS.minisig "$work/SHA256SUMS.minisig" ||
		fail "$from/SHA256SUMS.minisig, the signature, can't be fetched; nothing was installed"
	right=0
	signature_is_right || right=$?
	case "$right" in
	0) say "the signature is right" ;;
	2)
		[ "$from" = "$official" ] || [ "$unsigned" = yes ] ||
			fail "the signature can't be checked: neither minisign nor OpenSSL 3 is installed; nothing was installed.
Install one of them, or add --no-signature if you trust $from"
		say "the signature wasn't checked: neither minisign nor OpenSSL 3 is installed"
		;;
	*) fail "the signature of $from/SHA256SUMS is wrong; nothing was installed" ;;
	esac
else
	say "this release isn't signed; only checksums are compared"
fi
want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $name\.tar\.gz\$/\1/p" "$work/SHA256SUMS")
[ -n "$want" ] || fail "$from has no $name.tar.gz (its SHA256SUMS doesn't name it); nothing was installed"
fetch "$name.tar.gz" "$work/archive.tar.gz" || fail "$from/$name.tar.gz can't be fetched; nothing was installed"
is=$(checksum "$work/archive.tar.gz")
[ "$is" = "$want" ] || fail "$from/$name.tar.gz is damaged: its checksum is $is instead of $want; nothing was installed"
tar -xzf "$work/archive.tar.gz" -C "$work"
new="$work/$name"
"$new/bin/hookmux" --version >/dev/null || fail "the program doesn't run on this machine; nothing was installed"

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
if [ -f "${XDG_STATE_HOME:-${HOME:-}/.local/state}/hookmux/install.json" ]; then
	say "next: hookmux install (until then your agents run their copy of the version before)"
else
	say "next: hookmux setup"
fi
