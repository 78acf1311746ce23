package tshook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Requests that a hook does not answer wait for it only
// as far as there is room; when they are gone there is room again.
func TestServersHoldLittle(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("server.ts", `import * as http from "node:http";
export default (hooks: any) => {
  let port = 0;
  const server = http.createServer((req: any, res: any) => { if (req.url === "/quick") res.end("done"); });
  const up = new Promise<void>((done) => server.listen(0, () => { port = server.address().port; done(); }));
  hooks.on("tool_call", async () => { await up; return { block: true, reason: String(port) }; });
};`)
	address := "http://127.0.0.1:" + s.must(m, s.bash("x")).Reason
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	post := func(ctx context.Context, path string, body io.Reader) string {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(text)))
	}
	ended := make(chan struct{}, 2)
	for range 2 { // of unknown length: each may become the largest
		go func() {
			for ctx.Err() == nil { // the look for room below may take it for a moment
				post(ctx, "/never", io.MultiReader(strings.NewReader("x")))
			}
			ended <- struct{}{}
		}()
	}
	until := func(what, want string) {
		t.Helper()
		got := ""
		for end := time.Now().Add(30 * time.Second); !strings.HasPrefix(got, want); time.Sleep(2 * time.Millisecond) {
			if got = post(t.Context(), "/quick", strings.NewReader("x")); time.Now().After(end) {
				t.Fatalf("%s: answered %q, expected %q", what, got, want)
			}
		}
	}
	until("there is no room while two wait", "503")
	leave()
	<-ended
	<-ended
	until("there is room again", "200 done")
}
