package engine

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"modernc.org/quickjs"
)

func TestPrivateFields(t *testing.T) {
	vm, err := quickjs.NewVM()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if field := tlsField(vm); field == nil || *field == nil {
		t.Errorf("the field of the thread's state is %v, want one that is set: stacks cannot be renewed", field)
	}
	if runtimePointer(vm) == 0 {
		t.Error("the engine's runtime is not found: rejected promises cannot be reported")
	}
}

// Only private.go reaches into private fields.
func TestPrivateFieldsStayHere(t *testing.T) {
	reaches := regexp.MustCompile(`(?m)^\t"reflect"$|FieldByName`)
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files in this package (%v), want all of it", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := reaches.Find(text); got != nil && file != "private.go" && file != "private_test.go" {
			t.Errorf("%s has %s: what needs it belongs in private.go", file, got)
		}
	}
}
