package handler

import "context"

// Shell runs a command line of the user's with text on its stdin, and waits
// for it to end.
func (p *Processes) Shell(ctx context.Context, command, dir string, env []string, stdin []byte) (Output, error) {
	p.addProcess()
	defer p.done()
	return p.run(ctx, spec{path: "/bin/sh", args: []string{"sh", "-c", command}, dir: dir, env: env, stdin: stdin})
}
