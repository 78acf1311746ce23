package programs

import (
	"slices"
	"strings"
)

// Kind is the kind of tool a program is, for guards that evaluate what it is given.
type Kind string

// Kinds of programs.
const (
	KindDelete       Kind = "delete"        // deletes its operands: rm
	KindErase        Kind = "erase"         // overwrites its operands, devices too: shred
	KindRemoveFolder Kind = "remove-folder" // rmdir, and what deletes on Windows
	KindDesktop      Kind = "desktop"       // moves to the trash by a verb: gio
	KindSearch       Kind = "search"        // finds files and does something to them: find
	KindMode         Kind = "mode"          // changes permissions or owners: chmod
	KindRawCopy      Kind = "raw-copy"      // of=FILE: dd
	KindDevice       Kind = "device"        // changes devices: fdisk
	KindVolume       Kind = "volume"        // changes volumes by a verb: zfs
	KindMove         Kind = "move"          // mv
	KindCopy         Kind = "copy"          // cp, also to other machines
	KindLink         Kind = "link"          // ln
	KindReplace      Kind = "replace"       // overwrites its operands: tee
	KindEdit         Kind = "edit"          // may change its operands: vim, touch
	KindRename       Kind = "rename"        // renames by a pattern, its first operand
	KindMounts       Kind = "mounts"        // mount
	KindPatches      Kind = "patches"       // patch
	KindUnpack       Kind = "unpack"        // tar
	KindLinkFarm     Kind = "link-farm"     // fills a folder with links: stow
	KindDotfiles     Kind = "dotfiles"      // writes a whole set of them: chezmoi
	KindDownload     Kind = "download"      // curl
	KindDatabase     Kind = "database"      // the first operand is its file: sqlite3
	KindRepository   Kind = "repository"    // git
	KindLoginShell   Kind = "login-shell"   // chsh
	KindTimetable    Kind = "timetable"     // crontab
	KindLater        Kind = "later"         // at
	KindLock         Kind = "lock"          // flock
	KindSocket       Kind = "socket"        // nc
	KindSignal       Kind = "signal"        // ends processes: kill
	KindCmdlet       Kind = "cmdlet"        // a command of PowerShell
	KindCmdlets      Kind = "cmdlets"       // PowerShell itself
	KindArchive      Kind = "archive"       // zip
	KindMirror       Kind = "mirror"        // rclone
)

var kinds = []Kind{KindDelete, KindErase, KindRemoveFolder, KindDesktop, KindSearch, KindMode, KindRawCopy, KindDevice,
	KindVolume, KindMove, KindCopy, KindLink, KindReplace, KindEdit, KindRename, KindMounts, KindPatches, KindUnpack,
	KindLinkFarm, KindDotfiles, KindDownload, KindDatabase, KindRepository, KindLoginShell, KindTimetable, KindLater,
	KindLock, KindSocket, KindSignal, KindCmdlet, KindCmdlets, KindArchive, KindMirror}

// ownKinds are those that your own files may use: the others are evaluated by words that only
// the built-in programs have.
var ownKinds = []Kind{KindDelete, KindErase, KindMove, KindCopy, KindLink, KindReplace, KindEdit, KindMode, KindDownload}

func joinKinds(list []Kind) string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = string(k)
	}
	return strings.Join(out, ", ")
}

// OfKind lists the built-in programs of some kinds, sorted.
func OfKind(list ...Kind) []string {
	return With(func(p *Program) bool { return slices.Contains(list, p.Kind) })
}
