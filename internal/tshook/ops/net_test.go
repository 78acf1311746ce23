package ops

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestServersRefuseTooLargeRequests(t *testing.T) {
	o := New(nil)
	defer o.Close()
	large := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/", http.NoBody)
	large.ContentLength = maxBody + 1
	answer := httptest.NewRecorder()
	if o.serveHTTP(answer, large, nil); answer.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("answered %d, expected %d", answer.Code, http.StatusRequestEntityTooLarge)
	}
}
