// Package ttywrite writes escape sequences to the terminals of this user.
package ttywrite
