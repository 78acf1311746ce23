package tsmodule

// post puts a job in the queue; it is dropped when the engine has ended.
func (m *machine) post(j job) {
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		return
	}
	m.jobs = append(m.jobs, j)
	m.waiting += len(j.json)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// reply brings Go's answer to an async question.
func (m *machine) reply(id int, body []byte) { m.post(job{"reply", id, string(body)}) }

// maxWaiting is how much may wait for an engine before whoever has more to say
// has to wait, too.
const maxWaiting = 256 << 10

func (m *machine) crowded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended == nil && m.waiting > maxWaiting
}
