package journal

// Write stores a batch in one transaction: all of it or, with an error, nothing, and then the
// same batch can be written again. It returns the cursor of each item: 0 for an event that
// was already stored, which dups counts, and for an item that is only an outcome. A second
// outcome of the same event replaces the first.
//
// What Write stored survives the end of the process at once, and a power cut a little later.
func (j *Journal) Write(batch []Item) (cursors []int64, dups int, err error) {
	return j.putBatch(batch, false)
}

// CommitDurable is Write that returns only once it's on disk: for your decisions, before the
// agent gets them.
func (j *Journal) CommitDurable(batch []Item) (cursors []int64, dups int, err error) {
	return j.putBatch(batch, true)
}

func (j *Journal) putBatch(batch []Item, durable bool) (cursors []int64, dups int, err error) {
	if len(batch) == 0 {
		return nil, 0, nil
	}
	j.write.Lock()
	defer j.write.Unlock()
	if j.closed.Load() {
		return nil, 0, ErrClosed
	}
	cursors = make([]int64, len(batch))
	err = j.tryWrite(batch, cursors, durable)
	if isBroken(err) {
		// The file broke while it was open. A new one takes the batch; the old one stays for
		// repair.
		if err = j.beginAnew(err); err == nil {
			clear(cursors)
			err = j.tryWrite(batch, cursors, durable)
		}
	}
	err = j.explainError(err)
	j.noteResult(err)
	if err != nil {
		return nil, 0, err
	}
	for i := range batch {
		switch {
		case cursors[i] != 0:
			// Only what is really there counts: cursors meant for
			// duplicates are given out again after a restart.
			j.newest.Store(cursors[i])
		case batch[i].Row != nil:
			dups++
		}
	}
	return cursors, dups, nil
}

// tryWrite writes once. The caller holds write.
func (j *Journal) tryWrite(batch []Item, cursors []int64, durable bool) error {
	if j.writer == nil {
		// An earlier attempt to start over failed half way.
		if err := j.openConnections(); err != nil {
			return err
		}
	}
	w := j.writer
	if durable {
		if err := w.execQuery("PRAGMA synchronous = FULL; PRAGMA fullfsync = 1"); err != nil {
			return err
		}
		defer w.execQuery("PRAGMA synchronous = NORMAL; PRAGMA fullfsync = 0")
	}
	if err := w.inTransaction(func() error {
		if err := w.putBatch(batch, cursors); err != nil || j.opts.Outbox == nil || !j.opts.Outbox() {
			return err
		}
		return w.fillOutbox(batch, cursors)
	}); err != nil {
		return err
	}
	j.noteForeign()
	return nil
}

// beginAnew moves the broken file aside and opens a new one. The caller holds
// write.
func (j *Journal) beginAnew(why error) error {
	j.closeConnections()
	if err := j.moveAside(why); err != nil {
		return err
	}
	return j.openConnections()
}
