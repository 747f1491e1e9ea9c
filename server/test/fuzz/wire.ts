import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { hostileText, wellFormed } from './bodies.ts'

/** How a request is signed. */
export interface Signing {
  how: 'rightly' | 'not at all' | 'by another' | 'long ago' | 'over another path' | 'strangely'
  header: string
}

const hex = 'ab'.repeat(32)
const strangeHeaders = fc.oneof(
  fc.constantFrom(
    '',
    't=',
    't=1',
    'v1=',
    `v1=${hex}`,
    `t=1767225600,v1=${hex.toUpperCase()}`,
    `t=1767225600,v1=${hex},v1=${hex},v1=${hex},v1=${hex},v1=${hex}`,
    `t=1,t=2,v1=${hex}`,
    `t=-1,v1=${hex}`,
    `t=1e9,v1=${hex}`,
    `t=${'9'.repeat(400)},v1=${hex}`,
    `t=18446744073709551616,v1=${hex}`,
    `t=1767225600;v1=${hex}`,
    `t=1767225600,v1=${hex},v2=${hex}`,
    `t=1767225600, v1=${hex}`,
    'x'.repeat(600),
    'x'.repeat(9_000),
  ),
  hostileText.map(inHeader),
)

export const signings: fc.Arbitrary<Signing> = fc.record({
  how: fc.oneof(
    { weight: 12, arbitrary: fc.constant('rightly' as const) },
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        ...(['not at all', 'by another', 'long ago', 'over another path', 'strangely'] as const),
      ),
    },
  ),
  header: strangeHeaders,
})

/** The headers that say who sends it. */
export function signed(
  { how, header }: Signing,
  agent: { appId: string; secret: string },
  request: { method: string; path: string; body: Buffer },
): [string, string][] {
  if (how === 'not at all') return []
  const t = Math.floor(Date.now() / 1000) - (how === 'long ago' ? 301 : 0)
  const secret = how === 'by another' ? 'sk_another' : agent.secret
  const path = how === 'over another path' ? `${request.path}x` : request.path
  const v1 = createHmac('sha256', secret)
    .update(`${t}.${request.method} ${path}.`)
    .update(request.body)
    .digest('hex')
  return [
    ['x-appid', agent.appId],
    ['x-signature', how === 'strangely' ? header : `t=${t},v1=${v1}`],
  ]
}

/** Headers that a body may come with, and what they make of its bytes on the wire. */
export const framings = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ headers: json(), chunked: false }) },
  { weight: 2, arbitrary: fc.constant({ headers: json(), chunked: true }) },
  {
    weight: 3,
    arbitrary: fc
      .oneof(
        fc.constantFrom(
          ...[
            'text/plain',
            'application/json; charset=utf-8',
            'application/json;',
            'application/xml',
          ],
          ...[
            'application/x-www-form-urlencoded',
            'multipart/form-data',
            ';',
            '*/*',
            'application/jsonx',
          ],
          ...['APPLICATION/JSON', 'application/json; charset=utf-16'],
        ),
        hostileText.map(inHeader),
      )
      .map((type): Framing => ({ headers: [['content-type', type]], chunked: false })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<[string, string]>(
        ['content-encoding', 'gzip'],
        ['content-encoding', 'identity'],
        ['content-encoding', ''],
        ['expect', '100-continue'],
        ['x-forwarded-for', '::ffff:1.2.3.4, garbage'],
        ['host', ''],
        ['cookie', 'x'.repeat(4_000)],
        ['accept', 'text/html'],
        ['if-none-match', '*'],
        ['range', 'bytes=0-1'],
        ['upgrade', 'websocket'],
        ['x-http-method-override', 'DELETE'],
        ['content-type', 'text/plain'],
        ['x-long', 'y'.repeat(20_000)],
      )
      .map((header): Framing => ({ headers: [...json(), header], chunked: false })),
  },
)

export interface Framing {
  headers: [string, string][]
  chunked: boolean
}

function json(): [string, string][] {
  return [['content-type', 'application/json']]
}

/** In pieces of a few bytes, as HTTP allows. */
export function inChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += 700) {
    const piece = body.subarray(at, at + 700)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}

/** A text without what would end a header. */
export function inHeader(text: string): string {
  return wellFormed(text.replaceAll(/[\r\n\0]/g, ' '))
}

/** A text as it may stand in a path or a query: encoded, or raw where that is still one request line. */
export const pathTexts = fc.oneof(
  hostileText.map((text) => encodeURIComponent(wellFormed(text))),
  fc.constantFrom(
    '%',
    '%00',
    '%2f',
    '%2F..%2f',
    '%ff',
    '%c0%af',
    '..',
    '.',
    '%u0041',
    '%zz',
    ';',
    '~',
    '*',
  ),
  fc.stringMatching(/^[!-~]{1,30}$/).map((text) => text.replaceAll(/[#?/]/g, '_')),
)
