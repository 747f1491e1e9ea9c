-- What people know of orders, of their users and of the accounts that pay or are paid; and views that they share.

create table record_tags (
  agent_id bigint not null check (agent_id > 0),
  kind text not null check (kind in ('order', 'user', 'account')),
  -- An order's id, a user's id as its agent gives it, or the letters and digits of an account number.
  subject text not null check (length(subject) between 1 and 256),
  tag text not null check (tag ~ '^[a-z0-9][a-z0-9-]{0,29}$'),
  -- False once it was taken off.
  is_on boolean not null,
  tagged_by text not null check (length(tagged_by) between 3 and 254),
  tagged_at timestamptz not null,
  primary key (agent_id, kind, subject, tag)
);

create table record_notes (
  agent_id bigint not null check (agent_id > 0),
  kind text not null check (kind in ('order', 'user', 'account')),
  subject text not null check (length(subject) between 1 and 256),
  note_no integer not null check (note_no > 0),
  at timestamptz not null,
  author text not null check (length(author) between 3 and 254),
  -- Whether it says who looks into it from then on; null: nobody.
  assigns boolean not null,
  assignee text check (length(assignee) between 3 and 254),
  note text check (length(note) between 1 and 1000),
  primary key (agent_id, kind, subject, note_no),
  constraint record_notes_says check (assigns = (note is null)),
  constraint record_notes_assignee check (assigns or assignee is null)
);

create table shared_views (
  page text not null check (page in ('orders')),
  name text not null check (length(name) between 1 and 60),
  -- The filters as they stand in the address.
  filters text not null check (length(filters) <= 2000),
  shared_by text not null check (length(shared_by) between 3 and 254),
  shared_at timestamptz not null,
  primary key (page, name)
);

grant select, insert on record_tags, record_notes, shared_views to sluice_service;
grant update (is_on, tagged_by, tagged_at) on record_tags to sluice_service;
grant delete on shared_views to sluice_service;
