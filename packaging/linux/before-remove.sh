#!/bin/sh
# Runs before the .deb or .rpm is taken off. Hooks in agents' files belong to each
# user: no package can take them out. Without the program they do nothing.
case "${1:-}" in
remove | 0)
	# The system service has programs of its own, and every user's state: that goes back first.
	if [ -e /etc/hookmux/system ] && ! /usr/bin/hookmux system uninstall --yes; then
		echo "hookmux: the system service stays; remove it with 'sudo hookmux system uninstall', then the package." >&2
		exit 1
	fi
	echo "hookmux: hooks in your agents' files stay and do nothing from now on."
	echo "hookmux: to take them out as well, run 'hookmux uninstall' as each user before you remove the package."
	;;
esac
exit 0
