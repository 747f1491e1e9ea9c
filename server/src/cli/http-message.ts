/** An HTTP message as people paste it from a log or a terminal. */
export interface HttpMessage {
  request: { method: string; path: string } | undefined
  headers: Record<string, string>
  body: Buffer
}

/**
 * Parses a first line, headers, an empty line and a body. The first line may be missing, and lines may
 * begin with "> ", as curl -v shows them. Bytes beyond content-length are dropped.
 */
export function parseHttpMessage(bytes: Buffer): HttpMessage {
  const end = /\r?\n(?:> ?)?\r?\n/.exec(bytes.toString('latin1'))
  const head = bytes.subarray(0, end?.index ?? bytes.length).toString()
  const rest = end ? bytes.subarray(end.index + end[0].length) : Buffer.alloc(0)
  const lines = head.split(/\r?\n/).map((line) => line.replace(/^> /, ''))
  const first = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(lines[0]?.trim() ?? '')
  const headers = parseHeaders(first ? lines.slice(1) : lines)
  const length = Object.entries(headers).find(([name]) => /^content-length$/i.test(name))?.[1]
  return {
    request: first ? { method: first[1] ?? '', path: first[2] ?? '' } : undefined,
    headers,
    body: length && /^\d{1,9}$/.test(length) ? rest.subarray(0, Number(length)) : rest,
  }
}

/** Parses lines of the form "name: value". */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value ?? '']]
    }),
  )
}
