-- An action may have a rule for each of several amounts: of those that it passes, the highest counts.
alter table approval_rules
  add column tier bigint not null generated always as (coalesce(above, -1)) stored,
  drop constraint approval_rules_pkey,
  add primary key (action, agent_id, currency, tier);
