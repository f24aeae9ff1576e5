import java.sql.*;

/** Clients PORT: what MariaDB Connector/J does. Prints "ok CASE" for each that passes. */
class Clients {
  static String port;

  interface Case { boolean run(Connection c) throws Exception; }

  static Connection connect(String options) throws SQLException {
    return DriverManager.getConnection("jdbc:mariadb://127.0.0.1:" + port + "/clients?user=root" + options);
  }

  static void check(String name, String options, Case test) {
    try (Connection c = connect(options)) {
      if (!test.run(c)) throw new Exception("wrong answer");
      System.out.println("ok " + name);
    } catch (Throwable e) {
      System.err.println(name + ": " + e);
    }
  }

  static boolean isRow(Connection c, long id, String v) throws SQLException {
    try (Statement s = c.createStatement(); ResultSet r = s.executeQuery("SELECT v FROM t WHERE id = " + id)) {
      return r.next() && v.equals(r.getString(1));
    }
  }

  /** Each generated key is that of its row. */
  static boolean keys(Connection c, Statement s, String... values) throws SQLException {
    ResultSet r = s.getGeneratedKeys();
    for (String v : values) if (!r.next() || !isRow(c, r.getLong(1), v)) return false;
    return !r.next();
  }

  public static void main(String[] args) throws Exception {
    port = args[0];
    Class.forName("org.mariadb.jdbc.Driver");
    for (String way : new String[] {"text", "prepared", "compressed"}) {
      String options = way.equals("prepared") ? "&useServerPrepStmts=true" : way.equals("compressed") ? "&useCompression=true" : "";
      check("generated-keys-" + way, options, c -> {
        PreparedStatement s = c.prepareStatement("INSERT INTO t (v) VALUES (?), (?), (?)", Statement.RETURN_GENERATED_KEYS);
        for (int i = 1; i <= 3; i++) s.setString(i, "k" + i);
        return s.executeUpdate() == 3 && keys(c, s, "k1", "k2", "k3");
      });
      check("batch-" + way, options, c -> {
        PreparedStatement s = c.prepareStatement("INSERT INTO t (v) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
        for (String v : new String[] {"b1", "b2", "b3"}) { s.setString(1, v); s.addBatch(); }
        return s.executeBatch().length == 3 && keys(c, s, "b1", "b2", "b3");
      });
      check("duplicate-" + way, options, c -> {
        try {
          PreparedStatement s = c.prepareStatement("INSERT INTO t (id, v) VALUES (1, ?), (1, ?)");
          s.setString(1, "d");
          s.setString(2, "d");
          s.executeUpdate();
          return false;
        } catch (SQLException e) { return e.getErrorCode() == 1062 && e.getSQLState().startsWith("23"); }
      });
      check("large-" + way, options, c -> {
        PreparedStatement s = c.prepareStatement("SELECT LENGTH(?)");
        s.setBytes(1, new byte[3_000_000]);
        ResultSet r = s.executeQuery();
        return r.next() && r.getInt(1) == 3_000_000;
      });
    }
    check("batch-rewritten", "&rewriteBatchedStatements=true", c -> {
      PreparedStatement s = c.prepareStatement("INSERT INTO t (v) VALUES (?)", Statement.RETURN_GENERATED_KEYS);
      for (String v : new String[] {"w1", "w2"}) { s.setString(1, v); s.addBatch(); }
      return s.executeBatch().length == 2 && keys(c, s, "w1", "w2");
    });
    check("transaction", "", c -> {
      c.setAutoCommit(false);
      Statement s = c.createStatement();
      s.executeUpdate("INSERT INTO t (v) VALUES ('r')", Statement.RETURN_GENERATED_KEYS);
      ResultSet r = s.getGeneratedKeys();
      r.next();
      c.rollback();
      return !isRow(c, r.getLong(1), "r");
    });
    check("query-timeout", "", c -> {
      Statement s = c.createStatement();
      s.setQueryTimeout(1);
      long began = System.nanoTime();
      try { s.executeQuery("SELECT SLEEP(20)"); } catch (SQLException e) { /* as it should */ }
      return System.nanoTime() - began < 15_000_000_000L;
    });
    check("cancel", "", c -> {
      Statement s = c.createStatement();
      new Thread(() -> { try { Thread.sleep(500); s.cancel(); } catch (Exception e) { e.printStackTrace(); } }).start();
      long began = System.nanoTime();
      try { s.executeQuery("SELECT SLEEP(20)"); } catch (SQLException e) { /* as it should */ }
      return System.nanoTime() - began < 15_000_000_000L;
    });
    check("fetch-size", "&useServerPrepStmts=true&useCursorFetch=true", c -> {
      PreparedStatement s = c.prepareStatement("SELECT seq FROM seq_1_to_5000");
      s.setFetchSize(100);
      int n = 0;
      for (ResultSet r = s.executeQuery(); r.next(); ) n++;
      return n == 5000;
    });
    check("multi-queries", "&allowMultiQueries=true", c -> {
      Statement s = c.createStatement();
      s.execute("SELECT 1; INSERT INTO t (v) VALUES ('m'); SELECT LAST_INSERT_ID()");
      s.getMoreResults();
      s.getMoreResults();
      ResultSet r = s.getResultSet();
      return r.next() && isRow(c, r.getLong(1), "m");
    });
    check("procedure", "", c -> {
      CallableStatement s = c.prepareCall("{CALL out_parameter(?, ?)}");
      s.setInt(1, 20);
      s.registerOutParameter(2, Types.INTEGER);
      s.execute();
      return s.getInt(2) == 21;
    });
    check("savepoint", "", c -> {
      c.setAutoCommit(false);
      Statement s = c.createStatement();
      Savepoint p = c.setSavepoint();
      s.executeUpdate("INSERT INTO t (v) VALUES ('s')", Statement.RETURN_GENERATED_KEYS);
      ResultSet r = s.getGeneratedKeys();
      r.next();
      c.rollback(p);
      c.commit();
      return !isRow(c, r.getLong(1), "s");
    });
    check("metadata", "", c -> {
      ResultSet r = c.getMetaData().getColumns(null, null, "t", "%");
      int n = 0;
      while (r.next()) n++;
      return n == 3;
    });
    check("valid-and-catalog", "", c -> {
      c.setCatalog("test");
      return c.isValid(5) && c.getCatalog().equals("test");
    });
  }
}
