// Command fakedaemon replaces `hookmux daemon` in the tests of the hook client: it starts
// the way a daemon does, and answers every frame with the payload on stdout. The file
// "behaviour" in the runtime dir changes what it does. As `hookmux evaluate` it answers with
// its arguments and the payload, unless the file "evaluate" says that it dies or hangs.
package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func main() {
	dirs, err := paths.Find(os.Getenv)
	check(err)
	if len(os.Args) > 1 && os.Args[1] == "evaluate" {
		evaluate(dirs)
		return
	}
	note(dirs, "starts", fmt.Sprintln(os.Getpid(), os.Args[1:]))
	text, _ := os.ReadFile(filepath.Join(dirs.Runtime, "behaviour"))
	behaviour := strings.TrimSpace(string(text))
	if behaviour == "die" {
		os.Exit(1)
	}
	if behaviour == "sleep" {
		time.Sleep(300 * time.Millisecond)
	}
	for behaviour == "never" { // it does not come up while the test lives
		time.Sleep(20 * time.Millisecond)
		if _, err := os.Stat(filepath.Join(dirs.Runtime, "behaviour")); err != nil {
			return
		}
	}
	life, err := daemonstart.AcquireLock(dirs)
	check(err)
	_ = os.Remove(dirs.Socket())
	l, err := net.Listen("unix", dirs.Socket())
	check(err)
	cwd, _ := os.Getwd()
	note(dirs, "world", cwd+"\n"+strings.Join(os.Environ(), "\n")+"\n")
	life.Ready()
	// A test that goes away takes its runtime dir along.
	go func() {
		for {
			time.Sleep(20 * time.Millisecond)
			if _, err := os.Stat(dirs.Socket()); err != nil {
				os.Exit(0)
			}
		}
	}()
	for {
		conn, err := l.Accept()
		check(err)
		go answer(conn)
	}
}

func evaluate(dirs paths.Dirs) {
	text, _ := os.ReadFile(filepath.Join(dirs.Runtime, "evaluate"))
	switch strings.TrimSpace(string(text)) {
	case "die":
		os.Exit(1)
	case "garbage":
		fmt.Println("no frame")
		return
	case "hang":
		select {}
	}
	payload, err := io.ReadAll(os.Stdin)
	check(err)
	id := strings.TrimPrefix(os.Args[2], "--frame=")
	said := strings.Join(os.Args[3:], " ") + ": " + string(payload)
	_, err = os.Stdout.Write(frame.AppendReply(nil,
		&frame.Reply{ID: id, Exit: 5, Stdout: []byte(said), Stderr: []byte("evaluated")}))
	check(err)
}

func answer(conn net.Conn) {
	defer conn.Close()
	r, err := frame.ReadRequest(bufio.NewReader(conn), nil, frame.Standard)
	if err != nil {
		return
	}
	conn.Write(frame.AppendReply(nil, &frame.Reply{ID: r.ID, Stdout: r.Payload}))
}

func note(d paths.Dirs, name, text string) {
	f, err := os.OpenFile(filepath.Join(d.Runtime, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	_, err = f.WriteString(text)
	check(err)
	check(f.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
