-- When the bank itself reports a line that only a person had brought, its word that it is a return counts.
grant update (is_return) on bank_reports to sluice_service;
