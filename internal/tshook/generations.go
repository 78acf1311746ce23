package tshook

import "github.com/hookmux/hookmux/internal/tshook/pi"

// renameEvent converts an event to the file's generation; nil means that this
// generation has no such event.
func (p *presenter) renameEvent(name string, f pi.Object) pi.Object {
	switch p.generation {
	case pi.Hooks1:
		return p.toFirstGeneration(name, f)
	case pi.Hooks2:
		return toSecondGeneration(name, f)
	}
	return f
}

// toFirstGeneration converts an event to the generation that has one session event
// with reasons.
func (p *presenter) toFirstGeneration(name string, f pi.Object) pi.Object {
	fresh := "clear"
	if p.newReasons {
		fresh = "new"
	}
	var reason string
	switch name {
	case "session_start":
		reason = map[any]string{"resume": "switch", "new": fresh, "fork": "branch"}[f["reason"]]
		if reason == "" {
			reason = "start"
		}
	case "session_shutdown":
		// pi also sends this for a session it replaces; the first generation
		// reported the end of the program only.
		if r := f["reason"]; r != nil && r != "quit" {
			return nil
		}
		reason = "shutdown"
	case "session_before_switch":
		if reason = "before_switch"; f["reason"] == "new" {
			reason = "before_" + fresh
		}
	case "session_before_fork":
		reason = "before_branch"
	case "session_before_compact":
		reason = "before_compact"
	case "session_compact":
		reason = "compact"
	default:
		return f
	}
	f["type"], f["reason"] = "session", reason
	wants, _ := f["wants"].([]any)
	wants = append(wants, "sessionFile")
	if reason == fresh {
		f["entries"] = []any{} // it said so of the session that begins
	}
	if f["entries"] == nil {
		wants = append(wants, "entries")
	}
	if reason == "before_branch" || reason == "branch" { // read off the entries
		wants = append(wants, "targetTurnIndex")
	}
	f["wants"] = wants
	if _, there := f["previousSessionFile"]; !there {
		f["previousSessionFile"] = nil
	}
	return f
}

func toSecondGeneration(name string, f pi.Object) pi.Object {
	switch name {
	case "session_start":
		switch f["reason"] {
		case "resume", "new":
			f["type"] = "session_switch"
		case "fork":
			f["type"] = "session_branch"
		}
	case "session_before_fork":
		f["type"] = "session_before_branch"
	}
	return f
}

// addOlderNames adds the older generations' names to the fields pi sent.
func (p *presenter) addOlderNames(name string, f pi.Object) pi.Object {
	switch name {
	case "session_before_compact":
		f["wants"] = []any{"signal", "resolveApiKey"}
		if p.generation == pi.Hooks1 {
			f["wants"] = append(f["wants"].([]any), "model")
		}
		prep, ok := f["preparation"].(pi.Object)
		if !ok {
			f["absent"] = []any{"preparation", "cutPoint", "messagesToSummarize", "messagesToKeep", "tokensBefore",
				"previousSummary"}
			f["wants"] = append(f["wants"].([]any), "entries")
			return f
		}
		if p.generation != pi.Hooks1 {
			return f
		}
		entries, _ := f["branchEntries"].([]any)
		kept := len(entries)
		for i, e := range entries {
			if entry, ok := e.(pi.Object); ok && entry["id"] != nil && entry["id"] == prep["firstKeptEntryId"] {
				kept = i
			}
		}
		var keep []any
		for _, e := range entries[kept:] {
			if entry, ok := e.(pi.Object); ok && entry["message"] != nil {
				keep = append(keep, entry["message"])
			}
		}
		f["entries"] = asList(f["branchEntries"])
		f["cutPoint"] = pi.Object{"firstKeptEntryIndex": kept, "isSplitTurn": prep["isSplitTurn"]}
		f["messagesToSummarize"], f["messagesToKeep"] = asList(prep["messagesToSummarize"]), asList(keep)
		f["tokensBefore"], f["previousSummary"] = prep["tokensBefore"], prep["previousSummary"]
	case "session_compact":
		f["fromHook"] = f["fromExtension"]
		if entry, ok := f["compactionEntry"].(pi.Object); ok {
			f["tokensBefore"] = entry["tokensBefore"]
		}
	}
	return f
}

func asList(v any) []any {
	if l, ok := v.([]any); ok && l != nil {
		return l
	}
	return []any{}
}
