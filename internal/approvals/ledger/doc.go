// Package ledger keeps what you decided and what must last: the record of each decision,
// saved permissions, and the PIN that approvals may ask for. What a function here returns
// without an error is on disk, even after a power cut.
package ledger
