package engine

// postJob puts a job in the queue; it is dropped when the engine has ended.
func (m *Machine) postJob(j job) {
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

// Reply passes Go's answer to an async question.
func (m *Machine) Reply(id int, body []byte) { m.postJob(job{"reply", id, string(body)}) }

// maxWaiting is how much may wait for an engine before callers that have more to send have
// to wait, too.
const maxWaiting = 256 << 10

func (m *Machine) IsQueueFull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended == nil && m.waiting > maxWaiting
}
