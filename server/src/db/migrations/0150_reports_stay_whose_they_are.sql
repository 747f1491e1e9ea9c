-- A report stays about whom it was made for, and is sent again to whom it was sent.

-- Files are kept by schedule and period: with another agent, one agent's would go to the other.
revoke update (agent_id) on report_schedules from sluice_service;

-- Where it went the first time: mail addresses, or the place on a server. Null until it was sent.
alter table report_runs add column sent_way text check (sent_way in ('mail', 'sftp')),
  add column sent_to text[],
  add constraint report_runs_sent check (num_nulls(sent_way, sent_to) in (0, 2) and cardinality(sent_to) > 0);
update report_runs r set sent_way = s.way, sent_to = case s.way when 'mail' then s.recipients
  else array[s.sftp_user || '@' || s.sftp_host || ':' || s.sftp_port || ' ' || s.sftp_folder] end
from report_schedules s where s.schedule_id = r.schedule_id and r.state = 'sent';
grant update (sent_way, sent_to) on report_runs to sluice_service;
