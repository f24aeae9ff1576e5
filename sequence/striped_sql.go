package sequence

// CreateTableSQL returns the statement that creates the table of a striped sequence on the server of that name, for who
// wants to see it. [Striped.Seed] runs it. The names are quoted.
func (s *Striped) CreateTableSQL(server, database, table string) string {
	return stripesSQL(s.layout, Request{Database: database, Table: table}, server)
}
