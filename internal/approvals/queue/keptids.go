package queue

// KeptID is the id of a request that waited when a daemon stopped. Its hook asks the next
// daemon, which shows the request under the same id: you may have read it already, or
// typed half of it.
type KeptID struct {
	ID    string `json:"id"`
	Event string `json:"event"` // the id of the event that is asked about
	Hash  string `json:"hash"`  // of what the user saw
}

// maxKeptIDs bounds how many are taken over.
const maxKeptIDs = 1024

// keptIDs are the ids of the daemon before. Each is given to the same event with the same
// text again, and to nothing else: who types it means what they saw.
type keptIDs struct {
	all  map[string]bool
	left map[keptKey]string // of requests that are not back yet
}

type keptKey struct{ event, hash string }

func newKeptIDs(list []KeptID) keptIDs {
	k := keptIDs{map[string]bool{}, map[keptKey]string{}}
	for _, one := range list[:min(len(list), maxKeptIDs)] {
		if one.ID != "" && one.Event != "" && !k.all[one.ID] {
			k.all[one.ID] = true
			k.left[keptKey{one.Event, one.Hash}] = one.ID
		}
	}
	return k
}

// takeOut gives the id that an event with this text had, once; "" for none.
func (k *keptIDs) takeOut(event, hash string) string {
	id := k.left[keptKey{event, hash}]
	delete(k.left, keptKey{event, hash})
	return id
}
