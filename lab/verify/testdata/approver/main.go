// Command approver tries to say yes to a request through the Go client, as a
// program that an agent wrote would.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/hookmux/hookmux/client"
)

func main() {
	var c client.Client
	result, err := c.Reply(context.Background(), client.InboxReply{ID: os.Args[1], Choice: "once"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Printf("%+v\n", result)
}
