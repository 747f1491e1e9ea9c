"""Creates a deposit with Sluice and takes its callback. Python 3.9 or newer, no packages."""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
import time
import urllib.request
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

TOLERANCE_S = 300
MAX_BODY_BYTES = 65_536
HEADER = re.compile(r"t=([1-9][0-9]{0,11})((?:,v1=[0-9a-f]{64}){1,4})")


def sign(secret: str, prefix: str, body: bytes) -> str:
    return hmac.new(secret.encode(), prefix.encode() + body, hashlib.sha256).hexdigest()


def is_genuine(secrets: list[str], header: str, body: bytes, now_s: float) -> bool:
    """`body` is what came over the wire, not what a parser made of it."""
    match = HEADER.fullmatch(header)
    if match is None:
        return False
    t, signatures = match.groups()
    genuine = False
    for secret in filter(None, secrets):
        expected = sign(secret, f"{t}.", body)
        for given in signatures.split(",v1=")[1:]:
            genuine |= hmac.compare_digest(expected, given)
    return genuine and abs(now_s - int(t)) <= TOLERANCE_S


def create_deposit(url: str, app_id: str, secret: str) -> dict:
    body = json.dumps(
        {
            "refId": f"python-{uuid.uuid4()}",
            "userId": "user-42",
            "amount": 250,
            "accountName": "Somchai Jaidee",
            "accountNo": "1234567890",
            "bankCode": "SCB",
            "timestamp": datetime.now(timezone.utc).isoformat(),
        }
    ).encode()
    url += "/payment/deposit"
    t = int(time.time())
    signature = sign(secret, f"{t}.POST {urlsplit(url).path}.", body)
    headers = {
        "content-type": "application/json",
        "x-appid": app_id,
        "x-signature": f"t={t},v1={signature}",
    }
    request = urllib.request.Request(url, body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


class TakeCallback(BaseHTTPRequestHandler):
    secrets: list[str] = []

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            return self.answer(413, b"{}")
        body = self.rfile.read(length)
        header = self.headers.get("x-signature", "")
        if not is_genuine(self.secrets, header, body, time.time()):
            print("refused", flush=True)
            return self.answer(401, b'{"code":1,"message":"not genuine"}')
        # It can come more than once: what counts is transactionId, status and successAt together.
        callback = json.loads(body)
        print("verified", callback["refId"], callback["status"], callback["amount"], flush=True)
        return self.answer(200, b'{"code":0}')

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args) -> None:
        pass


def check_vectors(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)
    count = 0

    def expect(is_true: bool, vector: dict) -> None:
        if not is_true:
            sys.exit(f"vector failed: {vector['name']}")

    for vector in vectors["signed"]:
        t, body, secrets = vector["t"], vector["body"].encode(), vector["secrets"]
        is_request = vector["kind"] == "request"
        prefix = f"{t}.{vector['method']} {vector['path']}." if is_request else f"{t}."
        made = [f"t={t}"] + [f"v1={sign(secret, prefix, body)}" for secret in secrets]
        expect(",".join(made) == vector["header"], vector)
        expect(is_request or is_genuine(secrets, vector["header"], body, int(t)), vector)
        count += 1
    for vector in vectors["refused"]:
        # What is genuine and no callback is for whoever reads the body to see.
        if vector["reason"] == "body_malformed":
            continue
        now_s = datetime.fromisoformat(vector["now"].replace("Z", "+00:00")).timestamp()
        body = vector["body"].encode()
        expect(not is_genuine(vector["secrets"], vector["header"], body, now_s), vector)
        count += 1
    print("vectors", count)


def main() -> None:
    if sys.argv[1:2] == ["--vectors"]:
        return check_vectors(sys.argv[2])
    TakeCallback.secrets = os.environ["SLUICE_SECRETS"].split(",")  # newest first
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), TakeCallback)
    threading.Thread(target=server.serve_forever).start()
    order = create_deposit(
        os.environ["SLUICE_URL"], os.environ["SLUICE_APP_ID"], TakeCallback.secrets[0]
    )
    print("created", order["txn_id"], order["link"], flush=True)


main()
