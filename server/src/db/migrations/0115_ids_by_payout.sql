-- outside a transaction
-- Whether a company has given one payout two ids, which is looked up at every refusal of one.
create index concurrently if not exists payout_ids_by_payout on payout_ids (agent_id, order_id, attempt);
