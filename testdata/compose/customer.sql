-- Run once by the image, in database customer of each shard. The ids come from orders_seq on the sequence server.
CREATE TABLE orders (
  id BIGINT PRIMARY KEY,
  user_id BIGINT NOT NULL,
  item VARCHAR(64),
  KEY (user_id)
);
