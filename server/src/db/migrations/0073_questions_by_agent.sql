-- outside a transaction
-- Who asks a provider about payouts takes some of each agent's, so that one agent's do not go before all others'.
create index concurrently if not exists payouts_due_of_agent on payouts (agent_id, provider, ask_at)
  where ask_at is not null;
