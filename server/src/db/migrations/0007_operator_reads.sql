-- What operators read: an order's notices, outcomes that went wrong, and what was noted on payments.

-- The order a notice is about, where it names one of an agent that exists or may have.
alter table notices add column order_id uuid;
create index notices_of_order on notices (agent_id, order_id) where order_id is not null;

-- The outcomes that are looked for and rare. Those that are common are met soon on the way back in
-- time, and would cost every order an entry here.
create index orders_gone_wrong on orders (agent_id, order_id)
  where status in ('FAILED', 'VOID', 'CANCEL', 'REVERT');

-- In the order in which a list shows them; setting an address goes through all of an agent's anyway.
drop index callbacks_without_address;
create index callbacks_without_address on callbacks (agent_id, seq) where state = 'no_address';

-- Who looks into a payment that waits, and what was found out. The latest row that names somebody,
-- or nobody, says who it is. Kept by payment and not by agent: some payments are nobody's yet.
create table payment_notes (
  payment_id text not null check (length(payment_id) between 3 and 200),
  -- Counts from one for each payment.
  note_no integer not null check (note_no > 0),
  at timestamptz not null,
  author text not null check (length(author) between 3 and 254),
  assigns boolean not null,
  assignee text check (length(assignee) between 3 and 254),
  note text check (length(note) between 1 and 1000),
  primary key (payment_id, note_no),
  constraint payment_notes_says_something check (assigns <> (note is not null)),
  constraint payment_notes_assigns check (assigns or assignee is null)
);

grant select, insert on payment_notes to sluice_service;
