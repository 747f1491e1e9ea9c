-- A report that is switched on again begins anew: it makes nothing up for the time that it was off.
grant update (starts_at) on report_schedules to sluice_service;
