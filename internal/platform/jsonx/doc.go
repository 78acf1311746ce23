// Package jsonx writes JSON with encoding/json in the two forms hookmux needs: readable,
// with <, > and & as they are, and canonical, so that values can be compared and hashed.
package jsonx
