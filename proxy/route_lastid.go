package proxy

// LAST_INSERT_ID() is of the session, whichever connection ran the INSERT. The connection that
// changed it last is its owner; another one gets it when it is used, and sets it
// before a statement that may look (session.before).
