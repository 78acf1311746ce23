package agent

import (
	"bytes"
	"os"
	"testing"
)

func TestCompiledCatalogueIsTheYAML(t *testing.T) {
	compiled, problems := Compile(".")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	kept, err := os.ReadFile("catalogue.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, compiled) {
		t.Fatal("catalogue.json isn't what data/*.yaml and others.yaml say; run: go generate ./agent/...")
	}
	if again := render(Builtin().entries(), Others()); !bytes.Equal(again, compiled) {
		t.Fatal("something in catalogue.json is lost when it's read")
	}
}
