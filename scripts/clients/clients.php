<?php
// clients.php PORT: what PHP's two MySQL clients do, mysqli and PDO, both over mysqlnd. Prints "ok CASE" for each that passes.
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$port = (int) $argv[1];

function check(string $name, callable $case): void {
  try {
    if ($case() === false) throw new Exception('wrong answer');
    echo "ok $name\n";
  } catch (Throwable $e) {
    fwrite(STDERR, "$name: {$e->getMessage()}\n");
  }
}
function connect(int $flags = 0): mysqli {
  global $port;
  $c = mysqli_init();
  $c->real_connect('127.0.0.1', 'root', '', 'clients', $port, null, $flags);
  return $c;
}
function pdo(array $options = []): PDO {
  global $port;
  return new PDO("mysql:host=127.0.0.1;port=$port;dbname=clients;charset=utf8mb4", 'root', '', $options + [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}
function isRow($c, int $id, string $v): bool { return $c->query("SELECT v FROM t WHERE id = $id")->fetch_row()[0] === $v; }

check('mysqli-insert-id', function () {
  $c = connect();
  $c->query("INSERT INTO t (v) VALUES ('a'), ('b')");
  $id = $c->insert_id; // the next statement makes it 0
  return isRow($c, $id, 'a') && isRow($c, $id + 1, 'b');
});
check('mysqli-prepared', function () {
  $c = connect();
  $s = $c->prepare('INSERT INTO t (v) VALUES (?)');
  foreach (['x', 'y'] as $v) {
    $s->bind_param('s', $v);
    $s->execute();
    if (!isRow($c, $s->insert_id, $v)) return false;
  }
  $s = $c->prepare('SELECT ?, 1.5, NULL');
  $s->bind_param('s', $v);
  $s->execute();
  return $s->get_result()->fetch_row() === ['y', '1.5', null];
});
check('mysqli-long-data', function () {
  $c = connect();
  $s = $c->prepare('SELECT LENGTH(?)');
  $null = null;
  $s->bind_param('b', $null);
  foreach (range(1, 5) as $_) $s->send_long_data(0, str_repeat('x', 100000));
  $s->execute();
  return $s->get_result()->fetch_row()[0] === 500000;
});
check('mysqli-multi-query', function () {
  $c = connect();
  $c->multi_query("SELECT 1; INSERT INTO t (v) VALUES ('m'); SELECT LAST_INSERT_ID()");
  $all = [];
  do { if ($r = $c->store_result()) $all[] = $r->fetch_row()[0]; } while ($c->more_results() && $c->next_result());
  return count($all) === 2 && isRow($c, (int) $all[1], 'm');
});
check('mysqli-transaction', function () {
  $c = connect();
  $c->begin_transaction();
  $c->query("INSERT INTO t (v) VALUES ('r')");
  $id = $c->insert_id;
  $c->rollback();
  return $c->query("SELECT COUNT(*) FROM t WHERE id = $id")->fetch_row()[0] === '0';
});
check('mysqli-error', function () {
  try { connect()->query('SELECT * FROM nowhere'); } catch (mysqli_sql_exception $e) { return $e->getCode() === 1146 && $e->getSqlState() === '42S02'; }
  return false;
});
check('mysqli-change-user-refused', function () {
  $c = connect();
  try { $c->change_user('nobody', 'wrong', 'clients'); } catch (mysqli_sql_exception $e) { return $e->getCode() === 1045 && $e->getSqlState() === '28000'; }
  return false;
});
check('mysqli-change-user', function () {
  $c = connect();
  $c->query('SET @a = 1');
  $c->change_user('root', '', 'clients');
  return $c->query('SELECT @a')->fetch_row()[0] === null;
});
check('mysqli-compressed', fn () => strlen(connect(MYSQLI_CLIENT_COMPRESS)->query("SELECT REPEAT('x', 200000)")->fetch_row()[0]) === 200000);
check('mysqli-unbuffered', function () {
  $c = connect();
  $n = 0;
  $r = $c->query('SELECT seq FROM seq_1_to_5000', MYSQLI_USE_RESULT);
  while ($r->fetch_row()) $n++;
  return $n === 5000;
});
check('mysqli-found-rows', function () {
  $c = connect(MYSQLI_CLIENT_FOUND_ROWS);
  $c->query("INSERT INTO t (v) VALUES ('f')");
  $c->query('UPDATE t SET v = v WHERE id = ' . $c->insert_id);
  return $c->affected_rows === 1;
});
check('mysqli-kill-itself', function () {
  $c = connect();
  try { $c->query("KILL QUERY {$c->thread_id}"); } catch (mysqli_sql_exception $e) { return $e->getCode() === 1317; }
  return false;
});
check('mysqli-procedure', function () {
  $c = connect();
  $c->multi_query('CALL two()');
  $all = [];
  do { if ($r = $c->store_result()) $all[] = $r->fetch_row()[0]; } while ($c->more_results() && $c->next_result());
  return $all === ['1', '2'];
});
foreach ([true, false] as $emulated) {
  $way = $emulated ? 'text' : 'prepared';
  check("pdo-insert-$way", function () use ($emulated) {
    $c = pdo([PDO::ATTR_EMULATE_PREPARES => $emulated]);
    $s = $c->prepare('INSERT INTO t (v, n) VALUES (?, ?), (?, ?)');
    $s->execute(['p', 1, 'q', null]);
    $id = (int) $c->lastInsertId();
    return $c->query("SELECT GROUP_CONCAT(v ORDER BY id) FROM t WHERE id IN ($id, $id + 1)")->fetchColumn() === 'p,q';
  });
  check("pdo-error-$way", function () use ($emulated) {
    $c = pdo([PDO::ATTR_EMULATE_PREPARES => $emulated]);
    try { $c->prepare('INSERT INTO t (id, v) VALUES (1, ?), (1, ?)')->execute(['d', 'd']); } catch (PDOException $e) { return $e->getCode() === '23000'; }
    return false;
  });
}
check('pdo-transaction', function () {
  $c = pdo();
  $c->beginTransaction();
  $c->exec("INSERT INTO t (v) VALUES ('t')");
  $id = $c->lastInsertId();
  $c->commit();
  return $c->query("SELECT v FROM t WHERE id = $id")->fetchColumn() === 't';
});
