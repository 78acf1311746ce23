// Command empty does nothing. What it costs to run is the lower limit for any hook client written
// in Go.
package main

func main() {}
