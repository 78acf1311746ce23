// Package tmux talks to tmux: which pane a process is in, going there, naming windows, icons for
// the status line, new windows, and text typed into a pane.
//
// Contract:
//   - Text that comes from an agent reaches tmux as data. tmux expands `#(…)` by running a shell,
//     in window names, popup titles and messages alike, and reads a `;` at the end of an argument
//     as the end of a command. Text goes through Data, Name or Message, and every argument through
//     escapeArgument.
//   - A pane is believed only if its own processes confirm it: a TMUX_PANE from an environment may
//     be stale, inherited or made up.
//   - What belongs to the user is restored: a window's name and its automatic-rename option are
//     remembered in user options of that window, so that they survive hookmux itself. A name the
//     user gives meanwhile wins.
//   - Every call ends: tmux is given a few seconds, then killed. Only Popup lasts as long as the
//     popup.
//   - hookmux's marks are the user options @hookmux_*; nothing else is written except names.
package tmux
