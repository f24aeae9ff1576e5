package idapi

import (
	"errors"
	"io"
	"net/http"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/vschema"
)

// Leaf's own paths answer with the id alone, and 500 whatever went wrong with it (leaf-server, LeafController and
// LeafServerException). So here; what Leaf does not know, as tokens and rates, keeps its status.

// segment answers with the next id of a biz_tag: of a generator of type leaf that has it, else of a sequence of that name.
func (h *Handler) segment(w http.ResponseWriter, q *http.Request, c *client) error {
	key := q.PathValue("key")
	tagged := h.only(func(ids *proxy.IDs) bool {
		return ids.Type == vschema.Leaf && ids.ForeignKey() == key && c.may(ids.String())
	})
	return h.leaf(w, q, c, tagged, func(ids *proxy.IDs) bool { return ids.Type != vschema.Snowflake })
}

// snowflake answers with the next id of a generator of type snowflake. Leaf has but one and does not look at the key, so
// the only one of the vschema stands for any key here.
func (h *Handler) snowflake(w http.ResponseWriter, q *http.Request, c *client) error {
	isSnowflake := func(ids *proxy.IDs) bool { return ids.Type == vschema.Snowflake }
	return h.leaf(w, q, c, h.only(isSnowflake), isSnowflake)
}

// only returns what has a property, if no other has it; nil if not.
func (h *Handler) only(has func(*proxy.IDs) bool) (only *proxy.IDs) {
	for _, ids := range h.source.AllIDs() {
		switch {
		case !has(ids):
		case only != nil:
			return nil
		default:
			only = ids
		}
	}
	return only
}

// leaf answers with an id: of preset, or of what the key names.
func (h *Handler) leaf(w http.ResponseWriter, q *http.Request, c *client, preset *proxy.IDs, fits func(*proxy.IDs) bool) error {
	id, err := h.leafID(q, c, preset, fits)
	var own fault
	switch {
	case err == nil:
	case errors.As(err, &own) && own.status == http.StatusForbidden:
		return own
	default:
		failed := faultOf(err)
		failed.status = http.StatusInternalServerError
		return failed
	}
	h.counts.add(c, http.StatusOK, 1)
	w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	_, _ = io.WriteString(w, id) // the client has gone, if anything: the id is a gap then
	return nil
}

func (h *Handler) leafID(q *http.Request, c *client, ids *proxy.IDs, fits func(*proxy.IDs) bool) (string, error) {
	key := q.PathValue("key")
	var err error
	if ids != nil {
		err = permitted(c, ids)
	} else if ids, err = h.find(q.Context(), c, key); err == nil && !fits(ids) {
		err = h.unknown(c, key)
	}
	if err != nil {
		return "", err
	}
	taken, err := ids.Take(q.Context(), 1)
	switch {
	case err != nil:
		return "", err
	case len(taken.Text) > 0:
		return taken.Text[0], nil
	case len(taken.List) > 0:
		return decimal(taken.List[0]), nil
	}
	return decimal(taken.Run.First), nil
}

func failText(w http.ResponseWriter, f fault) {
	w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	w.WriteHeader(f.status)
	_, _ = io.WriteString(w, f.text+"\n") // the client has gone, if anything
}
