-- outside a transaction
-- What people search for besides ids: an order's user, and accounts and names of those who are paid and who pay. By the
-- beginning, agent by agent: see docs/decisions/0059-search.md.
create index concurrently if not exists orders_by_user
  on orders (agent_id, user_id text_pattern_ops, order_id desc);
create index concurrently if not exists orders_by_account
  on orders (agent_id, account_no text_pattern_ops, order_id desc);
create index concurrently if not exists orders_by_name
  on orders (agent_id, lower(account_name) text_pattern_ops, order_id desc);
create index concurrently if not exists payments_by_payer_account
  on payments (agent_id, payer_account_no text_pattern_ops) where payer_account_no is not null;
create index concurrently if not exists payments_by_payer_name
  on payments (agent_id, lower(payer_account_name) text_pattern_ops)
  where payer_account_name is not null;
