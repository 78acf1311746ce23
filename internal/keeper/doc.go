// Package keeper is the optional system service: it keeps one user's programs away from what
// hookmux keeps for that user.
//
// A user's daemon, its state and its socket belong to the same user as the agents, and so
// does whatever an agent starts. The keeper separates them without running anything as
// another user, and holds nothing but descriptors:
//
//   - For each user it has a folder below its own, which only it can enter, and in that
//     folder another one, with a name that can't be guessed. A process with descriptors of
//     both can use the inner one. It contains settings and rules as you accepted them,
//     permissions, the PIN, keys and the audit trail. The daemon keeps only the outer
//     descriptor, and the name in its memory: it also opens paths that agents choose, and
//     these can lead through /proc/self/fd ([OpenFolder]).
//   - For each user it makes the socket on which that user's daemon listens, in a folder
//     that only it can change.
//   - It gives both to a process that the kernel vouches for, and to no other.
//
// What it trusts: the kernel, root, and its own group. The program hookmux-start belongs to
// root and is set-gid to that group. The kernel doesn't give the group to a process that is
// traced, that shares its working folder with another one (CLONE_FS), that runs with
// no_new_privs (as every sandbox made of seccomp or Landlock does), that is in a user
// namespace without the group, or whose program is on a mount with nosuid. So a peer with
// that group is hookmux-start, undisturbed, among the system's own files: a mount namespace
// of its own needs a user namespace or root. It cleans what it inherited, takes the
// descriptors, gives up the group and becomes hookmux-daemon, which only root may read and
// which the kernel therefore protects from debuggers (/proc/PID/mem, environ, fd, ptrace,
// pidfd_getfd). Descriptors close at the next exec, so that no hook gets them.
//
// What it reads: one byte from a peer. What it never does: read a file, start a program, use
// the network, need a capability. It runs as a user of its own, and that user owns nothing
// else.
//
// What one user can do to another: nothing except make it wait. Connections are limited per
// user and closed when they're slow, and those without the group never keep out those with
// it.
package keeper
