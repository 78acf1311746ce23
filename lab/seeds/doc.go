// Package seeds holds what hookmux owes to the four programs whose behaviour it set out to
// cover: testdata/seeds.tsv has a row for each behaviour that their documents describe, with
// the tests that show it, or the reason why there is none. The packages below it speak the
// protocols of two of them.
package seeds
