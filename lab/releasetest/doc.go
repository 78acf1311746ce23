// Package releasetest tries what `make release` made: each package is installed, run,
// upgraded from the version before and removed. `make release-test` builds both
// releases and says where they are; without them the tests are left out. What a
// machine cannot do is left out as well, with the reason.
package releasetest
