-- What the bank says that it kept of a credit. What the payer sent is the amount and this.
alter table bank_reports add column if not exists charges bigint not null default 0;
alter table bank_reports drop constraint if exists bank_reports_charges_check;
alter table bank_reports add constraint bank_reports_charges_check
  check (charges = 0 or (charges > 0 and amount > 0)) not valid;
alter table bank_reports validate constraint bank_reports_charges_check;
