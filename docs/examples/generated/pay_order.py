"""Pays a deposit in the sandbox through a client that openapi-python-client makes of /openapi.json."""
import hashlib
import hmac
import os
import time
import uuid
from datetime import datetime, timezone

from sluice_client import AuthenticatedClient
from sluice_client.api.orders import create_deposit, get_order
from sluice_client.api.sandbox import trigger_outcome
from sluice_client.models import DepositAnswer, DepositOrder, OrderRequest, TriggerRequest, TriggerRequestOutcome

AMOUNT = 123_456_789
secret = os.environ["SLUICE_SECRET"].encode()


def sign(request):
    t = str(int(time.time()))
    head = f"{t}.{request.method} {request.url.raw_path.decode()}.".encode()
    v1 = hmac.new(secret, head + request.read(), hashlib.sha256).hexdigest()
    request.headers["x-signature"] = f"t={t},v1={v1}"


client = AuthenticatedClient(
    base_url=os.environ["SLUICE_URL"],
    token=os.environ["SLUICE_APP_ID"],
    prefix="",
    auth_header_name="x-appid",
    httpx_args={"event_hooks": {"request": [sign]}},
)
created = create_deposit.sync(
    client=client,
    body=OrderRequest(
        ref_id=f"python-{uuid.uuid4()}",
        user_id="user-42",
        amount=AMOUNT,
        account_name="Somchai Jaidee",
        account_no="123-4-56789-0",
        bank_code="SCB",
        timestamp=datetime.now(timezone.utc).isoformat(),
    ),
)
assert isinstance(created, DepositAnswer), created
paid = trigger_outcome.sync(
    created.txn_id, client=client, body=TriggerRequest(outcome=TriggerRequestOutcome.PAID)
)
assert isinstance(paid, DepositOrder), paid
order = get_order.sync(created.txn_id, client=client)
assert isinstance(order, DepositOrder), order
assert order.status == "PAID" and order.paid_amount == AMOUNT, order
print("paid", order.txn_id, order.paid_amount)
