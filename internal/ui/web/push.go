package web

import "net/http"

type subscription struct {
	Endpoint string `json:"endpoint"`
}

type pusher struct{ service *Service }

func newPusher(s *Service) *pusher { return &pusher{service: s} }
func (p *pusher) start()           {}
func (p *pusher) stop()            {}

func (v *server) pushKeyHandler(w http.ResponseWriter, _ *http.Request) {
	fail(w, 501, "push", "not yet")
}
func (v *server) subscribeHandler(w http.ResponseWriter, _ *http.Request) {
	fail(w, 501, "push", "not yet")
}
