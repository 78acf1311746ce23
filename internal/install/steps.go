// Is how changes to other people's files are shown and carried
// out: a [Step] is one change that happens whole or not at all, [Disk] does
// steps and [Diff] shows them.

package install
