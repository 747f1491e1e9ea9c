#!/usr/bin/env bash
# Creates a deposit with Sluice and verifies its callback, with curl and openssl.
#
#   SLUICE_URL=... SLUICE_APP_ID=... SLUICE_SECRETS=newest[,older] ./agent.sh     creates a deposit
#   ./agent.sh callback     verifies a callback as a CGI program: x-signature in HTTP_X_SIGNATURE, body on stdin
#   ./agent.sh --vectors vectors.txt
#
# openssl takes the key as an argument, which others on the same machine can see: not for shared machines.
set -euo pipefail

hmac() { # SECRET PREFIX, body on stdin
  { printf '%s' "$2" && cat; } | openssl dgst -sha256 -hmac "$1" | sed 's/^.* //'
}

# bash compares text in a time that depends on it. Two digests under a key nobody knows tell nothing.
same() {
  [[ $(printf '%s' "$1" | hmac "$key" '') == "$(printf '%s' "$2" | hmac "$key" '')" ]]
}
key=$(openssl rand -hex 32)

is_genuine() { # SECRETS HEADER FILE NOW
  local shape='^t=([1-9][0-9]{0,11})((,v1=[0-9a-f]{64}){1,4})$' genuine=1 secret secrets expected given t signatures
  [[ $2 =~ $shape ]] || return 1
  t=${BASH_REMATCH[1]} signatures=${BASH_REMATCH[2]}
  IFS=, read -r -d '' -a secrets < <(printf '%s\0' "$1")
  for secret in "${secrets[@]}"; do
    [[ -n $secret ]] || continue
    expected=$(hmac "$secret" "$t." <"$3") # over the bytes as they came
    for given in ${signatures//,v1=/ }; do
      if same "$expected" "$given"; then genuine=0; fi
    done
  done
  (( $4 - t <= 300 && t - $4 <= 300 )) && return $genuine
}

create_deposit() {
  local body t path v1
  body='{"refId":"curl-'$(date +%s)-$RANDOM'","userId":"user-42","amount":250,"accountName":"Somchai Jaidee","accountNo":"1234567890","bankCode":"SCB","timestamp":"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'"}'
  t=$(date +%s)
  path=/payment/deposit # with the path of SLUICE_URL before it, where that has one
  v1=$(printf '%s' "$body" | hmac "${SLUICE_SECRETS%%,*}" "$t.POST $path.")
  printf 'created '
  curl -sS --fail-with-body --max-time 10 "$SLUICE_URL$path" -H 'content-type: application/json' \
    -H "x-appid: $SLUICE_APP_ID" -H "x-signature: t=$t,v1=$v1" --data-binary "$body"
  echo
}

take_callback() {
  local body
  body=$(mktemp)
  trap "rm -f '$body'" EXIT
  head -c 65536 >"$body"
  if is_genuine "$SLUICE_SECRETS" "${HTTP_X_SIGNATURE:-}" "$body" "$(date +%s)"; then
    # It can come more than once: what counts is transactionId, status and successAt together.
    echo "verified $(<"$body")" >&2
    printf 'Status: 200\ncontent-type: application/json\n\n{"code":0}'
  else
    echo refused >&2
    printf 'Status: 401\ncontent-type: application/json\n\n{"code":1,"message":"not genuine"}'
  fi
}

check_vectors() {
  local body outcome secrets_base64 now method path header body_base64 secrets secret v1 got count=0
  body=$(mktemp)
  trap "rm -f '$body'" EXIT
  while IFS='|' read -r outcome secrets_base64 now method path header body_base64; do
    base64 -d <<<"$body_base64" >"$body"
    secrets='' got="t=$now"
    for secret in ${secrets_base64//,/ }; do
      # The dot keeps a line break at the end of a secret from being dropped.
      secret=$(base64 -d <<<"$secret" && printf .)
      secret=${secret%.}
      secrets+="${secrets:+,}$secret"
      v1=$(hmac "$secret" "$now.${method:+$method $path.}" <"$body")
      got+=",v1=$v1"
    done
    case $outcome in
      request) [[ $got == "$header" ]] ;;
      callback) [[ $got == "$header" ]] && is_genuine "$secrets" "$header" "$body" "$now" ;;
      refused) ! is_genuine "$secrets" "$header" "$body" "$now" ;;
    esac || { echo "vector failed: $outcome $header" >&2 && exit 1; }
    count=$((count + 1))
  done < <(tail -n +2 "$1")
  echo "vectors $count"
}

case ${1:-} in
  callback) take_callback ;;
  --vectors) check_vectors "$2" ;;
  *) create_deposit ;;
esac
