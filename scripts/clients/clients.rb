# clients.rb PORT: what Ruby's mysql2 does, over libmariadb. Prints "ok CASE" for each that passes.
require 'io/wait'
require 'mysql2'
PORT = Integer(ARGV[0])

def connect(**options) = Mysql2::Client.new(host: '127.0.0.1', port: PORT, username: 'root', database: 'clients', **options)

def check(name)
  raise 'wrong answer' unless yield

  puts "ok #{name}"
rescue StandardError => e
  warn "#{name}: #{e.message}"
end

def row?(client, id, value) = client.query("SELECT v FROM t WHERE id = #{id}").first&.fetch('v') == value

check('mysql2-insert-id') do
  c = connect
  c.query("INSERT INTO t (v) VALUES ('a'), ('b')")
  id = c.last_id # the next statement makes it 0
  row?(c, id, 'a') && row?(c, id + 1, 'b')
end
check('mysql2-prepared') do
  c = connect
  s = c.prepare('INSERT INTO t (v, n) VALUES (?, ?)')
  [['x', 1], ['y', nil]].all? { |v, n| s.execute(v, n).nil? && row?(c, s.last_id, v) }
end
check('mysql2-types') do
  connect.prepare('SELECT ?, ?, ?, CAST(? AS DATETIME(6))').execute(1, 2.5, 'ä', Time.utc(2026, 1, 2, 3, 4, 5)).first.values[0, 3].map(&:to_s) == %w[1 2.5 ä]
end
check('mysql2-stream') { connect.query('SELECT seq FROM seq_1_to_5000', stream: true, cache_rows: false).each.to_a.size == 5000 }
check('mysql2-stream-prepared') { connect.prepare('SELECT seq FROM seq_1_to_5000').execute(stream: true, cache_rows: false).each.to_a.size == 5000 }
check('mysql2-multi-statements') do
  c = connect(flags: Mysql2::Client::MULTI_STATEMENTS)
  all = [c.query("SELECT 1 AS n; INSERT INTO t (v) VALUES ('m'); SELECT LAST_INSERT_ID() AS n").first['n']]
  while c.next_result
    result = c.store_result
    all << result.first['n'] if result
  end
  all.size == 2 && row?(c, all[1], 'm')
end
check('mysql2-transaction') do
  c = connect
  c.query('BEGIN')
  c.query("INSERT INTO t (v) VALUES ('r')")
  id = c.last_id
  c.query('ROLLBACK')
  c.query("SELECT * FROM t WHERE id = #{id}").count.zero?
end
check('mysql2-error') do
  connect.query('SELECT * FROM nowhere')
rescue Mysql2::Error => e
  e.errno == 1146 && e.sql_state == '42S02'
end
check('mysql2-duplicate-prepared') do
  connect.prepare('INSERT INTO t (id, v) VALUES (1, ?), (1, ?)').execute('d', 'd')
rescue Mysql2::Error => e
  e.errno == 1062
end
check('mysql2-async') do
  c = connect
  c.query('SELECT SLEEP(0.1) AS s', async: true)
  IO.for_fd(c.socket, autoclose: false).wait_readable(10)
  c.async_result.first['s'].zero?
end
check('mysql2-compressed') { connect(flags: Mysql2::Client::COMPRESS).query("SELECT REPEAT('x', 200000) AS x").first['x'].size == 200_000 }
check('mysql2-select-db') { connect.tap { |c| c.select_db('test') }.query('SELECT DATABASE() AS d').first['d'] == 'test' }
check('mysql2-ping') { connect.ping }
check('mysql2-kill-query') do
  slow = connect
  thread = Thread.new { slow.query('SELECT SLEEP(30) AS s').first['s'] rescue $! }
  other = connect
  sleep 0.05 until other.query("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = #{slow.thread_id} AND INFO LIKE 'SELECT SLEEP%'").count == 1
  other.query("KILL QUERY #{slow.thread_id}")
  result = thread.value
  result == 1 || result.is_a?(Mysql2::Error) && result.errno == 1317
end
