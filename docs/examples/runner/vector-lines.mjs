/**
 * vectors.json as lines of vectors.txt, for languages without JSON at hand: outcome, secrets, unix time,
 * method, path, header, body; secrets (with commas between them) and the body in Base64.
 */
export function vectorLines({ signed, refused }) {
  const base64 = (text) => Buffer.from(text).toString('base64')
  const line = (outcome, { secrets, method = '', path = '', header, body }, at) =>
    [outcome, secrets.map(base64), at, method, path, header, base64(body)].join('|')
  return [
    'outcome|secrets|time|method|path|header|body',
    ...signed.map((vector) => line(vector.kind, vector, vector.t)),
    // The signature of that one is right: it is refused by whoever reads the body.
    ...refused
      .filter(({ reason }) => reason !== 'body_malformed')
      .map((vector) => line('refused', vector, Date.parse(vector.now) / 1000)),
    '',
  ].join('\n')
}
