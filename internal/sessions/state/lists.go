package state

// appendBounded is list with item behind it, at most limit long, in fresh memory.
func appendBounded[T any](list []T, item T, limit int) []T {
	from := max(0, len(list)+1-limit)
	out := make([]T, 0, len(list)+1-from)
	return append(append(out, list[from:]...), item)
}

// removeWhere is list less the items for which drop is true, in fresh memory when
// anything goes.
func removeWhere[T any](list []T, drop func(*T) bool) []T {
	for i := range list {
		if !drop(&list[i]) {
			continue
		}
		out := append(make([]T, 0, len(list)-1), list[:i]...)
		for j := i + 1; j < len(list); j++ {
			if !drop(&list[j]) {
				out = append(out, list[j])
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return list
}

// replaceAt is list with one item replaced, in fresh memory.
func replaceAt[T any](list []T, i int, item T) []T {
	out := append(make([]T, 0, len(list)), list...)
	out[i] = item
	return out
}
