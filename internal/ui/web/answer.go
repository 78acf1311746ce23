package web

import (
	"net/http"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
)

// answerHandler takes an answer to a request.
func (v *server) answerHandler(w http.ResponseWriter, r *http.Request) {
	var in devices.SignedAnswer
	if !readJSON(w, r, &in) {
		return
	}
	d := deviceOf(r)
	p, signed, refused := devices.ReadAnswer(&d, v.instance, &in, &v.nonces, time.Now())
	if refused != nil {
		status := http.StatusForbidden
		if refused.Code == "answer" {
			status = http.StatusBadRequest
		}
		fail(w, status, refused.Code, refused.Why)
		return
	}
	result, bad := v.service.Requests.ReplySigned(p, d.By(), signed)
	if bad != nil {
		failWith(w, bad)
		return
	}
	answer(w, result)
}
