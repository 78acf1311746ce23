// Command empty does nothing. What it costs to run is what no hook client
// written in Go can go below.
package main

func main() {}
