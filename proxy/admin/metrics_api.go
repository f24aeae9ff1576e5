package admin

import (
	"strconv"

	"github.com/seqgate/seqgate/proxy/idapi"
)

var (
	apiRequests = counter("api_requests_total", "Requests for ids over HTTP, by the name of the token (empty: none that is known) and HTTP's status.", "token", "status")
	apiIDs      = counter("api_ids_total", "Ids that were given over HTTP.", "token")

	apiMetrics = []*metric{apiRequests, apiIDs}
)

// api tells of ids over HTTP; the configuration bounds how many tokens there are.
func api(s sink, counts []idapi.Count) {
	ids := map[string]int64{}
	for _, c := range counts {
		s.put(apiRequests, float64(c.N), c.Token, strconv.Itoa(c.Status))
		ids[c.Token] += c.IDs
	}
	for token, n := range ids {
		s.put(apiIDs, float64(n), token)
	}
}
