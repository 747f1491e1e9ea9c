-- Rules that an agent's users make about their own agent, beside those of the operator. Each has names of its own.
alter table alert_rule_states
  drop constraint alert_rule_states_name_fkey,
  drop constraint alert_rule_states_pkey,
  add column owner_id bigint not null default 0;

alter table alert_rules
  drop constraint alert_rules_pkey,
  -- The agent whose users made it; 0: the operator's.
  add column owner_id bigint not null default 0,
  add primary key (owner_id, name),
  -- It tells nobody else, and of nothing else; and what takes long to look at is left to the operator.
  add constraint alert_rules_own check (owner_id = 0 or coalesce(agent_id = owner_id, false)
    and kind in ('lane_probing', 'callbacks_failing', 'success_below', 'balance_below', 'nothing_for')
    and roles <@ array['agent'] and provider is null and coalesce(window_minutes <= 120, true));

alter table alert_rule_states
  add primary key (owner_id, name, subject),
  add constraint alert_rule_states_rule_fkey foreign key (owner_id, name) references alert_rules;
