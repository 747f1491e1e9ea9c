-- How the calls of each connector go in each process, so that one page shows them all.

create table connector_figures (
  connector text not null references connectors,
  process uuid not null,
  -- Since the process began.
  calls bigint not null check (calls >= 0),
  -- Calls without a usable answer.
  failures bigint not null check (failures >= 0),
  -- Calls that were not made, because the company fails or too many were under way.
  not_called bigint not null check (not_called >= 0),
  under_way integer not null check (under_way >= 0),
  state text not null check (state in ('open', 'paused', 'trying')),
  last_fault text check (length(last_fault) <= 300),
  last_fault_at timestamptz,
  told_at timestamptz not null,
  primary key (connector, process),
  constraint connector_figures_last_fault check ((last_fault is null) = (last_fault_at is null))
);

grant select, insert, delete on connector_figures to sluice_service;
grant update (calls, failures, not_called, under_way, state, last_fault, last_fault_at, told_at)
  on connector_figures to sluice_service;
