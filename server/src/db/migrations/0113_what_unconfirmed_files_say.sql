-- What unconfirmed files say of a payment that the bank never booked becomes a movement of its own.
grant update (movement_id) on bank_reports to sluice_service;
