-- outside a transaction
-- A refId is looked for by its beginning too. The key that keeps refIds apart does both if it compares text by its bytes:
-- it takes the place of the one that follows the database's collation, so that an order pays for no further index.
create unique index concurrently if not exists orders_ref_id
  on orders (agent_id, ref_id text_pattern_ops);
-- The id that a company gave to a deposit.
create index concurrently if not exists connector_deposit_ids_by_id
  on connector_deposit_ids (agent_id, their_id);
