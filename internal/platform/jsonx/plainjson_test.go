package jsonx

import "testing"

func TestTextStaysReadable(t *testing.T) {
	const want = `{"a":"x && y > <z>"}`
	value := map[string]string{"a": "x && y > <z>"}
	if got, err := Marshal(value); err != nil || string(got) != want {
		t.Errorf("Marshal: want %s, got %s, %v", want, got, err)
	}
	if got, err := AppendLine([]byte("1\n"), value); err != nil || string(got) != "1\n"+want+"\n" {
		t.Errorf("AppendLine: want it as a second line, got %q, %v", got, err)
	}
	if got, err := AppendLine([]byte("1"), func() {}); err == nil || string(got) != "1" {
		t.Errorf("a function: want an error and nothing appended, got %q, %v", got, err)
	}
}
