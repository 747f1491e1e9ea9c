-- What unconfirmed files say of a payment that the bank never booked becomes a movement of its own.
grant update (movement_id) on bank_reports to sluice_service;

-- Pictures that no payment has used are not kept for ever; who brings one again needs it again.
grant delete, update (brought_at) on bank_slips to sluice_service;
