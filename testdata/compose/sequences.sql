-- Run once by the image, in database main. An INSERT INTO users through seqgate takes its ids from users_seq.
CREATE TABLE users (
  id BIGINT PRIMARY KEY,
  name VARCHAR(64) NOT NULL
);
CREATE TABLE users_seq (
  id INT PRIMARY KEY,
  next_id BIGINT,
  cache BIGINT
) COMMENT 'vitess_sequence';
INSERT INTO users_seq (id, next_id, cache) VALUES (0, 1, 1000);
-- That of customer.orders, which lies on the shards.
CREATE TABLE orders_seq (
  id INT PRIMARY KEY,
  next_id BIGINT,
  cache BIGINT
) COMMENT 'vitess_sequence';
INSERT INTO orders_seq (id, next_id, cache) VALUES (0, 1, 1000);
