package guard

// NewDestructive, NewSecrets and NewOwnFiles are New for tests.
func NewDestructive(opt Options) *Guard { return mustNew(Destructive, opt) }

// NewSecrets makes the secrets guard.
func NewSecrets(opt Options) *Guard { return mustNew(Secrets, opt) }

// NewOwnFiles makes the own-files guard.
func NewOwnFiles(opt Options) *Guard { return mustNew(OwnFiles, opt) }

func mustNew(name string, opt Options) *Guard {
	g, err := New(name, opt)
	if err != nil {
		panic(err) // the three names above are always known
	}
	return g
}
