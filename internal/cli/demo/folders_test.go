package demo

import (
	"reflect"
	"strings"
	"testing"
)

// Every place that the demo's daemon knows is its own, also the settings of the machine's
// owner, which might tell somebody of requests.
func TestEveryPlaceIsItsOwn(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", "/of/mine")
	t.Setenv("HOME", "/of/mine")
	dirs, err := ownFolders(base)
	if err != nil {
		t.Fatalf("no places: %v", err)
	}
	fields := reflect.ValueOf(dirs)
	for i := range fields.NumField() {
		field := fields.Field(i)
		if field.Kind() != reflect.String || field.String() == "" {
			continue
		}
		if place := field.String(); place != base && !strings.HasPrefix(place, base+"/") {
			t.Errorf("%s is %s, want it in %s", fields.Type().Field(i).Name, place, base)
		}
	}
}
