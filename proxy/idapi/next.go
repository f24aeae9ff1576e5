package idapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/seqgate/seqgate/proxy"
	"github.com/seqgate/seqgate/vschema"
)

// nextAnswer is what was taken: a run from First to Last, or a list.
type nextAnswer struct {
	Sequence  string   `json:"sequence"`
	Key       string   `json:"key,omitempty"`
	N         int64    `json:"n"`
	First     string   `json:"first,omitempty"`
	Last      string   `json:"last,omitempty"`
	Increment int64    `json:"increment,omitempty"`
	IDs       []string `json:"ids,omitempty"`
}

// next answers with the next n ids of a sequence or a generator, or of a key.
func (h *Handler) next(w http.ResponseWriter, q *http.Request, c *client) error {
	params, err := h.nextParams(q)
	if err != nil {
		return err
	}
	ids, err := h.find(q.Context(), c, q.PathValue("name"))
	if err != nil {
		return err
	}
	taken, err := h.take(q.Context(), ids, params)
	if err != nil {
		return err
	}
	h.counts.add(c, http.StatusOK, params.n)
	answer := nextAnswer{Sequence: ids.String(), Key: params.key, N: params.n, IDs: taken.Text}
	if taken.Run.N > 0 {
		answer.First, answer.Last, answer.Increment = decimal(taken.Run.First), decimal(taken.Run.Last()), 1
	}
	for _, id := range taken.List {
		answer.IDs = append(answer.IDs, decimal(id))
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}

// nextParams are the parameters of a request for ids.
type nextParams struct {
	n      int64
	key    string
	hasKey bool
}

func (h *Handler) nextParams(q *http.Request) (p nextParams, err error) {
	values, err := url.ParseQuery(q.URL.RawQuery)
	if err != nil {
		return p, badRequest("the parameters cannot be read: %v", err)
	}
	p.n = 1
	for name, given := range values {
		switch {
		case name != "n" && name != "key":
			return p, badRequest("there is no parameter %q: %s", name, vschema.Suggest(name, []string{"n", "key"}))
		case len(given) > 1:
			return p, badRequest("the parameter %s is given twice", name)
		case name == "key":
			p.key, p.hasKey = given[0], true
		default:
			if p.n, err = strconv.ParseInt(given[0], 10, 64); err != nil || p.n < 1 || p.n > h.maxN {
				return p, badRequest("n=%s: write a whole number from 1 to %d", given[0], h.maxN)
			}
		}
	}
	return p, nil
}

func (h *Handler) take(ctx context.Context, ids *proxy.IDs, p nextParams) (proxy.TakenIDs, error) {
	switch {
	case p.hasKey:
		return ids.TakeOfKey(ctx, p.key, p.n)
	case p.n > maxList && ids.Lists(p.n):
		return proxy.TakenIDs{}, badRequest("%s gives ids one by one: ask for %d at most", ids, maxList)
	}
	return ids.Take(ctx, p.n)
}

// find finds what a client may take ids of. What it may not is not looked for, and denied whether or not it is there.
func (h *Handler) find(ctx context.Context, c *client, name string) (*proxy.IDs, error) {
	ids, err := h.source.FindIDs(ctx, name, c.may)
	switch {
	case errors.Is(err, proxy.ErrUnknownIDs):
		return nil, h.unknown(c, name)
	case errors.Is(err, proxy.ErrDeniedIDs):
		return nil, denied(c, name+h.suggest(c, name))
	}
	return ids, err
}

// permitted denies what was not found by find.
func permitted(c *client, ids *proxy.IDs) error {
	if c.may(ids.String()) {
		return nil
	}
	return denied(c, ids.String())
}

func denied(c *client, name string) fault {
	return fault{status: http.StatusForbidden, code: "forbidden", errno: errTableDenied, text: "token " + c.Name + " may not take ids of " + name}
}

func (h *Handler) unknown(c *client, name string) fault {
	return fault{status: http.StatusNotFound, code: "unknown_sequence", errno: errNoSuchTable,
		text: "there is no sequence and no generator " + strconv.Quote(name) + h.suggest(c, name)}
}

// suggest names what the client may use in place of name; "" for nothing.
func (h *Handler) suggest(c *client, name string) string {
	var full, short []string
	for _, ids := range h.source.AllIDs() {
		if c.may(ids.String()) {
			full, short = append(full, ids.String()), append(short, ids.Name)
		}
	}
	const most = 20 // a longer list helps nobody
	near := vschema.Suggest(name, append(short, full...))
	switch {
	case strings.HasPrefix(near, "did you mean"):
		return ": " + near
	case len(full) > 0 && len(full) <= most:
		return ": " + vschema.Suggest(name, full)
	}
	return ""
}

func decimal(id int64) string { return strconv.FormatInt(id, 10) }

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client has gone, if anything: the ids are a gap then
}
