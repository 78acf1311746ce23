package module

import "errors"

func newNode(*Host, *voice, *bundle) (runner, error) { return nil, errors.New("node: not yet") }
