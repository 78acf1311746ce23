package edit

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// normalizeValue makes values of different origin comparable: numbers are spelled one
// way, and what JSON can't express becomes a string.
func normalizeValue(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = normalizeValue(e)
		}
		return x
	case []any:
		for i, e := range x {
			x[i] = normalizeValue(e)
		}
		return x
	case []map[string]any:
		list := make([]any, len(x))
		for i, e := range x {
			list[i] = normalizeValue(e)
		}
		return list
	case json.Number:
		if n, err := strconv.ParseInt(string(x), 10, 64); err == nil {
			return json.Number(strconv.FormatInt(n, 10))
		}
		if n, err := strconv.ParseUint(string(x), 10, 64); err == nil {
			return json.Number(strconv.FormatUint(n, 10))
		}
		if f, err := strconv.ParseFloat(string(x), 64); err == nil {
			return normalFloat(f)
		}
		return x
	case int:
		return json.Number(strconv.Itoa(x))
	case int64:
		return json.Number(strconv.FormatInt(x, 10))
	case uint64:
		return json.Number(strconv.FormatUint(x, 10))
	case float64:
		return normalFloat(x)
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case nil, bool, string:
		return x
	}
	return fmt.Sprint(v)
}

func normalFloat(f float64) any {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

func lookIn(root any, path []string) (any, bool) {
	for _, step := range path {
		switch c := root.(type) {
		case map[string]any:
			next, ok := c[step]
			if !ok {
				return nil, false
			}
			root = next
		case []any:
			i, ok := index(step, len(c))
			if !ok {
				return nil, false
			}
			root = c[i]
		default:
			return nil, false
		}
	}
	return root, true
}

// sameBut compares what a text says with what it should say after something at
// path was removed. What became empty above it may be written as hollow writes
// it: YAML leaves a key without a value, TOML nothing at all.
func sameBut(is, want any, path []string, hollow func(want any, at []string) any) bool {
	if reflect.DeepEqual(is, want) {
		return true
	}
	for n := len(path) - 1; n >= 0; n-- {
		v, ok := lookIn(want, path[:n])
		if !ok || !isEmpty(v) {
			return false
		}
		if want = hollow(want, path[:n]); reflect.DeepEqual(is, want) {
			return true
		}
	}
	return false
}

func isEmpty(v any) bool {
	switch c := v.(type) {
	case map[string]any:
		return len(c) == 0
	case []any:
		return len(c) == 0
	}
	return v == nil
}
