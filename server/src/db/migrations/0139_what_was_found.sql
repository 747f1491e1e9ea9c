-- Which order a difference after a restore is about, and what became known of each before payouts went on.
alter table restore_differences
  add column agent_id bigint,
  add column order_id uuid,
  -- Who may have it, and under which references it was asked about.
  add column provider text,
  add column payout_references text[],
  add constraint restore_differences_of_order check (
    (agent_id is null) = (order_id is null)
    and (provider is null) = (payout_references is null)
    and (provider is null or order_id is not null)
    and cardinality(payout_references) > 0
  );

create table restore_findings (
  restore_id uuid not null,
  subject text not null,
  -- answered: the provider itself said later that it has nothing. The others are what two people say: that it was
  -- not paid, that the provider has it, or that it is known and concerns no order that waits.
  finding text not null check (finding in ('answered', 'not_paid', 'has_it', 'seen')),
  -- Under which reference the provider has it.
  reference text,
  found_at timestamptz not null,
  primary key (restore_id, subject),
  foreign key (restore_id, subject) references restore_differences,
  constraint restore_findings_named check ((finding = 'has_it') = (reference is not null))
);
grant select, insert on restore_findings to sluice_service;
