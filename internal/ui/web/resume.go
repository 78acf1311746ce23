package web

import (
	"net/http"

	"github.com/hookmux/hookmux/internal/wire"
)

// resumeHandler resumes a session in tmux on this machine, with the flags it was started
// with. It requires what sending a text requires: a device that may answer, and the PIN.
func (v *server) resumeHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session string `json:"session"`
		PIN     string `json:"pin"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	if in.Session == "" {
		fail(w, http.StatusBadRequest, "body", "which session?") // none named would mean all
		return
	}
	if bad := v.service.Requests.CheckText(in.Session, in.PIN); bad != nil {
		failWith(w, bad)
		return
	}
	result, ok := v.call(w, r, wire.MethodSessionResume, wire.SessionResumeParams{Session: in.Session})
	if !ok {
		return
	}
	list, ok := result.([]wire.ResumeRecord)
	if !ok || len(list) != 1 {
		fail(w, http.StatusInternalServerError, "failed", "how it's resumed can't be read")
		return
	}
	if list[0].Live != "" {
		fail(w, http.StatusConflict, "changed", "it isn't resumed twice: "+list[0].Live)
		return
	}
	where, err := v.service.Daemon.ResumeInTmux(r.Context(), &list[0])
	if err != nil {
		fail(w, http.StatusConflict, "failed", err.Error())
		return
	}
	one, _ := v.service.browser(deviceOf(r).ID)
	v.service.record("resumed "+in.Session, one)
	answer(w, map[string]string{"where": where})
}
