-- What the payment codes of an account look like: the two characters that they begin with, or digits alone.

alter table bank_accounts
  add column if not exists code_form text not null default 'SX'
    constraint bank_accounts_code_form_check
      check (code_form = 'digits' or code_form ~ '^[A-HJKMNP-TV-Z][0-9A-HJKMNP-TV-Z]$'),
  -- What codes of older orders look like, by commas.
  add column if not exists former_code_forms text not null default ''
    constraint bank_accounts_former_code_forms_check check (length(former_code_forms) <= 1000);
grant update (code_form, former_code_forms) on bank_accounts to sluice_service;
