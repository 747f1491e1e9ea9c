-- Optional: spreads the books over the nodes of a Citus cluster, by agent. Run once, as the owner,
-- after "sluice migrate" and before the first order. Nothing else changes: every key of these tables
-- begins with agent_id, but for some that are spread by an id of their own, and every hot statement names its agent.

begin;
set local search_path to sluice;
-- Tables with keys between each other are distributed one after the other, not side by side.
set local citus.multi_shard_modify_mode to 'sequential';

-- Citus distributes table by table, and no local table may point to a distributed one, nor may a reference table. So the
-- keys between tables are taken away, and put back as they were once all tables are where they belong.
create temporary table keys_between_tables on commit drop as
  select conrelid::regclass::text as of_table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
   where contype = 'f' and connamespace = 'sluice'::regnamespace and conparentid = 0;
do $$
declare
  each record;
begin
  for each in select * from keys_between_tables loop
    execute format('alter table %s drop constraint %I', each.of_table, each.name);
  end loop;
end
$$;

select create_reference_table('agents');
select create_reference_table('agent_keys');
select create_reference_table('agent_secrets');
select create_reference_table('secret_addresses');
select create_reference_table('providers');
select create_reference_table('provider_routes');
select create_reference_table('bank_accounts');
select create_reference_table('connectors');
select create_reference_table('connector_versions');
select create_reference_table('connector_secrets');
select create_reference_table('connector_runs');
select create_reference_table('connector_uses');
select create_reference_table('connector_use_secrets');
select create_reference_table('connector_token_days');
select create_reference_table('connector_figures');
select create_reference_table('line_sources');
select create_reference_table('unmatched_payments');
select create_reference_table('bank_slips');
select create_reference_table('hand_payments');
select create_reference_table('shared_views');
select create_reference_table('agent_brands');
select create_reference_table('users');
select create_reference_table('sessions');
select create_reference_table('invitations');
select create_reference_table('audit_log');
select create_reference_table('audit_lanes');
select create_reference_table('payment_notes');
select create_reference_table('user_credentials');
select create_reference_table('proposals');
select create_reference_table('proposal_decisions');
select create_reference_table('proposal_effects');
select create_reference_table('proposal_ends');
select create_reference_table('proposal_answers');
select create_reference_table('proposal_runs');
select create_reference_table('approval_rules');
select create_reference_table('stops');
select create_reference_table('restores');
select create_reference_table('restore_holds');
select create_reference_table('restore_differences');
select create_reference_table('restore_findings');
select create_reference_table('restore_releases');
select create_reference_table('witness_marks');
select create_reference_table('limit_rules');
select create_reference_table('limit_entries');
select create_reference_table('alarms');
select create_reference_table('alarm_acknowledgements');
select create_reference_table('passkeys');
select create_reference_table('passkey_challenges');
select create_reference_table('passkey_proofs');
select create_reference_table('oidc_sign_ins');
select create_reference_table('alerts');
select create_reference_table('alert_deliveries');
select create_reference_table('alert_channels');
select create_reference_table('alert_choices');
select create_reference_table('alert_watch');
select create_reference_table('alert_rules');
select create_reference_table('alert_rule_states');
select create_reference_table('alert_times');
select create_reference_table('report_schedules');
select create_reference_table('report_runs');
select create_reference_table('report_files');
select create_reference_table('attempt_prunings');
select create_reference_table('schema_migrations');
select create_reference_table('deployment');

select create_distributed_table('wallets', 'agent_id');
select create_distributed_table('orders', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('journal', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('clearings', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('callbacks', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('payments', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('proofs', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('event_epochs', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('callback_lanes', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('callback_claims', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('callback_attempts', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('callback_bodies', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('payouts', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('notice_events', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('connector_deposits', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('connector_deposit_ids', 'agent_id', colocate_with => 'wallets');

-- A payment is one payment whosever it is, a payout's reference is one over all agents, and a notice may
-- tell of several agents.
select create_distributed_table('payment_claims', 'payment_id', colocate_with => 'none');
select create_distributed_table('deposit_codes', 'code', colocate_with => 'none');
select create_distributed_table('payout_references', 'reference', colocate_with => 'none');
select create_distributed_table('payout_ids', 'their_id', colocate_with => 'none');
select create_distributed_table('notices', 'notice_id', colocate_with => 'none');
select create_distributed_table('archive_parts', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('archived_refs', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('archived_keys', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('open_items', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('limit_counting', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('limit_uses', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('limit_payees', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('limit_checks', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('api_requests', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('insight_folds', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('insight_orders', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('insight_money', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('insight_callbacks', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('record_tags', 'agent_id', colocate_with => 'wallets');
select create_distributed_table('record_notes', 'agent_id', colocate_with => 'wallets');

-- What is expected at a bank account, and what its bank reports, are kept by account.
select create_distributed_table('expected_deposits', 'account', colocate_with => 'none');
select create_distributed_table('bank_files', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_statements', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_movements', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_reports', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_file_confirmations', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_day_signoffs', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_files', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_lines', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_lists', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_approvals', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_items', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_seals', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_downloads', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_sendings', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_reports', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_reseals', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_item_ends', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_schedules', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_puts', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_file_put_steps', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_fetches', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('bank_connections', 'account', colocate_with => 'expected_deposits');
select create_distributed_table('payout_lock_releases', 'account', colocate_with => 'expected_deposits');

-- Rates have nothing to do with each other or with the books.
select create_distributed_table('limit_buckets', 'bucket', colocate_with => 'none');

do $$
declare
  each record;
begin
  for each in select * from keys_between_tables loop
    execute format('alter table %s add constraint %I %s', each.of_table, each.name, each.definition);
  end loop;
end
$$;

-- The nodes log in as the role that runs a statement; how it authenticates there is up to pg_hba.conf or .pgpass.
alter role sluice_service login;
commit;
