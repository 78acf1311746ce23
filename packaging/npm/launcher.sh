#!/bin/sh
# Becomes the hookmux of this system, which is in a package of its own. No Node in
# between: hookmux looks at who started it. Agents never run this file: `hookmux
# install` gives them the program itself.
self=$0
while [ -L "$self" ]; do
	to=$(readlink "$self")
	case "$to" in
	/*) self=$to ;;
	*) self=$(dirname "$self")/$to ;;
	esac
done
dir=$(cd "$(dirname "$self")" && pwd -P) || exit 1
case "$(uname -s)" in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) system=$(uname -s) ;;
esac
case "$(uname -m)" in
x86_64 | amd64) processor=x64 ;;
aarch64 | arm64) processor=arm64 ;;
*) processor=$(uname -m) ;;
esac
name="hookmux-$system-$processor"
for program in "$dir/node_modules/$name/bin/hookmux" "$(dirname "$dir")/$name/bin/hookmux"; do
	[ -x "$program" ] && exec "$program" "$@"
done
{
	echo "hookmux: the program is in the package $name, and that is not installed."
	echo "From files of a release, name both: npm install -g ./$name-VERSION.tgz ./hookmux-VERSION.tgz"
	echo "From a registry, install it again without --omit=optional and --no-optional."
	echo "There are programs for Linux and macOS, x64 and arm64."
} >&2
exit 1
