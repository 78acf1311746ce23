// Package ledger keeps what a person decided and what must last: the record of each
// decision, saved permissions, and the PIN that approvals may ask for. What a function
// here returns without an error is on disk, also after a power cut.
package ledger
