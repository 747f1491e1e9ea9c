-- outside a transaction

-- Removing an order looks for its payments; without this that would read all payments of the agent.
create index concurrently if not exists payments_of_order on payments (agent_id, order_id)
  where order_id is not null;
