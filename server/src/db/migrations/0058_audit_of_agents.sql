-- outside a transaction
-- An agent's users read what concerns their agent.
create index concurrently if not exists audit_log_of_agent on audit_log (agent_id, audit_id)
  where agent_id is not null;
