import {
  answerCallback,
  BodyTooLarge,
  type CallbackHandlerOptions,
  maxBodyBytes,
} from './answer-callback.ts'
import type { CallbackHeaders } from './verify-callback.ts'

/** The part of a request of Express, or of node:http, that is needed. */
export interface IncomingRequest extends AsyncIterable<Uint8Array | string> {
  headers: CallbackHeaders
  readableEnded: boolean
  /** What express.raw() or another parser has made of the body. */
  body?: unknown
  /** The bytes, where a platform keeps them beside the parsed body. */
  rawBody?: unknown
}

export interface OutgoingResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/**
 * A handler for Express and for node:http. It reads the body itself, so its route comes before
 * `app.use(express.json())`; a route of its own with `express.raw` works as well.
 */
export function expressCallbacks(options: CallbackHandlerOptions) {
  return async (request: IncomingRequest, response: OutgoingResponse): Promise<void> => {
    const { status, body } = await answerCallback(() => bodyOf(request), request.headers, options)
    response.statusCode = status
    response.setHeader('content-type', 'application/json')
    response.end(body)
  }
}

function bodyOf(request: IncomingRequest): unknown {
  const read = request.rawBody ?? request.body
  // Some parsers leave an empty object where they have read nothing. A body that was really parsed goes
  // on as it is, and is refused with words that say what to do.
  const isRaw = typeof read === 'string' || ArrayBuffer.isView(read)
  return isRaw || request.readableEnded ? read : bytesIn(request)
}

async function bytesIn(request: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const body = new Uint8Array(maxBodyBytes)
  let length = 0
  for await (const chunk of request) {
    const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk
    if (length + bytes.length > maxBodyBytes) throw new BodyTooLarge()
    body.set(bytes, length)
    length += bytes.length
  }
  return body.subarray(0, length)
}
