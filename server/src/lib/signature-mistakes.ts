/** The usual signing mistakes, each given as the text that was signed or the key that was used. */

/** Why a signature is invalid. The codes are stable, for programs. */
export type CauseCode =
  | 'secret_missing'
  | 'header_missing'
  | 'header_misspelt'
  | 'header_malformed'
  | 'header_upper_case'
  | 'header_base64'
  | 'header_spaces'
  | 'header_prefix'
  | 'time_missing'
  | 'time_in_milliseconds'
  | 'time_differs'
  | 'body_missing'
  | 'body_left_out'
  | 'body_reserialised'
  | 'body_line_ends'
  | 'trailing_newline'
  | 'query_missing'
  | 'wrong_path'
  | 'wrong_method'
  | 'path_escaping'
  | 'signed_as_callback'
  | 'separators'
  | 'secret_whitespace'
  | 'secret_decoded'
  | 'wrong_secret'
  | 'clock_off'

/** A mistake: its code, and a message that says what to do. */
export interface Cause {
  code: CauseCode
  message: string
}

/** One possible value of the signed prefix, the body or the key. */
export interface Variant<Value> {
  value: Value
  /** Undefined for the correct value. */
  cause?: Cause
}

const rawBytes =
  'Sign, send and check the very same bytes: keep the text of the body, do not write it twice.'

/** Bodies that the sender may have signed instead of this one. */
export function bodyVariants(body: Buffer, isRequest: boolean): Variant<Buffer>[] {
  const text = body.toString()
  const variants: Variant<Buffer>[] = [{ value: body }]
  const add = (value: Buffer | string, code: CauseCode, message: string) =>
    variants.push({ value: Buffer.from(value), cause: { code, message } })
  const newline = `A line break at the end of the body is in one of the two texts only, as editors and "echo" add one. ${rawBytes}`

  for (const end of ['\n', '\r\n']) add(text + end, 'trailing_newline', newline)
  if (/\s$/.test(text)) add(text.trimEnd(), 'trailing_newline', newline)
  const lineEnds = `The line ends of the body were changed, between \\n and \\r\\n. ${rawBytes}`
  add(text.replaceAll('\r\n', '\n'), 'body_line_ends', lineEnds)
  add(text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'), 'body_line_ends', lineEnds)
  for (const written of writtenAgain(text)) {
    add(
      written,
      'body_reserialised',
      `The body was parsed and written again, so its bytes are not those that were signed. ${rawBytes}`,
    )
  }
  if (!/[^\0-\u00ff]/.test(text) && /[^\0-\u007f]/.test(text)) {
    const message = `The body was read in another encoding than UTF-8. ${rawBytes}`
    add(Buffer.from(text, 'latin1'), 'body_reserialised', message)
  }
  if (isRequest && body.length > 0) {
    add('', 'body_left_out', 'The body is not in what was signed: append it, after the last dot.')
  }
  return variants
}

/** The same JSON as common libraries would write it. */
function writtenAgain(text: string): string[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  const compact = JSON.stringify(value)
  const spaced = spacedJson(value)
  const sorted = [sortedByName, inCallbackOrder].map((sort) => JSON.stringify(sort(value)))
  const bare = [
    compact,
    spaced,
    ...sorted,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
  ]
  const slashed = compact.replaceAll('/', '\\/')
  return [...new Set([...bare, slashed, ...[...bare, slashed].map(asciiOnly)])].filter(
    (each) => each !== text,
  )
}

/** JSON with a space after commas and colons, as Python writes it. */
function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}: ${spacedJson(each)}`,
  )
  return `{${members.join(', ')}}`
}

function sortedByName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedByName)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sortedByName(each)]),
  )
}

const callbackFields =
  'refId transactionId userId amount fee status extParams successAt wallet flag_incorrect_payee payee'

/** Puts the fields in the order in which the service writes a callback. */
function inCallbackOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const place = (name: string) => callbackFields.split(' ').indexOf(name)
  return Object.fromEntries(
    Object.entries(value).sort(([one], [other]) => place(one) - place(other)),
  )
}

function asciiOnly(json: string): string {
  return json.replace(
    /[^\0-\u007f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Prefixes that the sender of a request may have signed before the body. */
export function requestVariants(
  t: string,
  method: string,
  path: string,
  host: string | undefined,
): Variant<string>[] {
  const rule = 'The rule is t + "." + METHOD + " " + path with query + "." + body.'
  const bare = path.split('?')[0] ?? ''
  const variants: Variant<string>[] = [{ value: `${t}.${method} ${path}.` }]
  const add = (code: CauseCode, message: string, ...values: string[]) =>
    variants.push(...values.map((value) => ({ value, cause: { code, message } })))
  const paths = (code: CauseCode, message: string, ...others: string[]) =>
    add(code, message, ...others.filter((p) => p !== path).map((p) => `${t}.${method} ${p}.`))

  paths(
    'query_missing',
    'The path was signed without its query: sign it with all after the "?".',
    bare,
  )
  paths(
    'wrong_path',
    'Another path was signed than the one that was asked for: sign it as it is sent, from the first slash on, with the path of the base address and without the host.',
    `${path}/`,
    path.replace(/\/$/, ''),
    path.replace(/^\/[^/?]+(?=\/)/, ''),
    path.replace(/^\//, ''),
    path.replace('/payment/deposit', '/payment/withdraw'),
    path.replace('/payment/withdraw', '/payment/deposit'),
    ...(host === undefined ? [] : [`http://${host}${path}`, `https://${host}${path}`]),
  )
  paths(
    'path_escaping',
    'The path was signed with other escapes than it was sent with.',
    ...escapes(path),
  )
  add(
    'wrong_method',
    'Another method was signed than was sent: sign it in capitals, as it is sent.',
    ...['GET', 'POST', method.toLowerCase()]
      .filter((other) => other !== method)
      .map((other) => `${t}.${other} ${path}.`),
  )
  add(
    'signed_as_callback',
    `Method and path are not in what was signed, as in a callback. ${rule}`,
    `${t}.`,
  )
  add(
    'separators',
    `The parts are not put together as they should be. ${rule}`,
    `${t}.${method}.${path}.`,
    `${t}${method}${path}`,
    `${t}.${method} ${path}`,
    `${t} ${method} ${path} `,
    `${t}\n${method}\n${path}\n`,
    `${method} ${path}.`,
    `${t}.${method}${path}.`,
    '',
  )
  add('time_differs', differs, ...nearTimes(t).map((near) => `${near}.${method} ${path}.`))
  return variants
}

const differs = 'Another time was signed than t says: take the time once and use it in both places.'

/** Prefixes that may have been signed before the body of a callback. */
export function callbackVariants(t: string): Variant<string>[] {
  const message = 'The parts are not put together as they should be. The rule is t + "." + body.'
  const separators = { code: 'separators', message } as const
  return [
    { value: `${t}.` },
    ...['', t, `${t} `, `${t}\n`].map((value) => ({ value, cause: separators })),
    ...nearTimes(t).map((near) => ({
      value: `${near}.`,
      cause: { code: 'time_differs', message: differs } as const,
    })),
  ]
}

/** Timestamps a few seconds off, for a sender that read the clock twice. */
function nearTimes(t: string): string[] {
  const at = Number(t)
  return [1, -1, 2, -2, 3, -3, 4, -4, 5, -5].map((by) => String(at + by))
}

function escapes(path: string): string[] {
  try {
    return [decodeURIComponent(path), encodeURI(path), path.replaceAll('%20', '+')]
  } catch {
    return [encodeURI(path)]
  }
}

/** Keys that the sender may have used instead of the secret. */
export function secretVariants(secret: string): Variant<Buffer>[] {
  const bare = secret.replace(/^["'\s]+|["'\s]+$/g, '')
  const digits = bare.replace(/^[a-z]+_(?:[a-z]+_)?/, '')
  const whitespace: Cause = {
    code: 'secret_whitespace',
    message:
      'The secret is right but for white space or quotes around it, on one of the two sides: remove them.',
  }
  const decoded: Cause = {
    code: 'secret_decoded',
    message:
      'The secret was decoded or cut before it was used: the key is the text as it was shown, "sk_" and all.',
  }
  return [
    { value: Buffer.from(secret) },
    ...[bare, `${bare}\n`, `${bare}\r\n`, `"${bare}"`, `${bare} `]
      .filter((other) => other !== secret && other !== '')
      .map((other) => ({ value: Buffer.from(other), cause: whitespace })),
    ...[Buffer.from(digits), Buffer.from(digits, 'hex'), Buffer.from(bare, 'base64')]
      .filter((other) => other.length > 0 && other.toString() !== secret)
      .map((value) => ({ value, cause: decoded })),
  ]
}
