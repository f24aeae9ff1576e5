package admin

import "net/http"

// shardHandler answers POST /-/pause and POST /-/resume.
func shardHandler(change func(name string) (found bool)) http.Handler {
	return onThisMachine("pause and resume shards: use a loopback address", func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("shard")
		if !change(name) {
			say(w, http.StatusNotFound, "there is no keyspace or shard '"+name+"'; seqgate status lists them")
			return
		}
		say(w, http.StatusOK, "ok")
	})
}
