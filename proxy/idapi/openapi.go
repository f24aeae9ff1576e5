package idapi

import (
	_ "embed"
	"net/http"
)

// description is what the paths are, in OpenAPI 3.1.
//
//go:embed openapi.yaml
var description []byte

// describe answers with the description.
func (h *Handler) describe(w http.ResponseWriter, _ *http.Request, _ *client) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(description) // the client has gone, if anything
	return nil
}
