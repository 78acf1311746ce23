// Package releasetest tries what `make release` built: each package is installed, run, upgraded from
// the version before and removed. `make release-test` builds both releases and passes their location;
// without them the tests are skipped. What a machine can't do is skipped as well, with the reason.
package releasetest
