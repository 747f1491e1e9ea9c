import {
  answerCallback,
  BodyTooLarge,
  type CallbackHandlerOptions,
  maxBodyBytes,
} from './answer-callback.ts'
import type { CallbackHeaders } from './verify-callback.ts'

/** The part of an Express or node:http request that the handler needs. */
export interface IncomingRequest extends AsyncIterable<Uint8Array | string> {
  headers: CallbackHeaders
  readableEnded: boolean
  /** The body as express.raw() or another parser left it. */
  body?: unknown
  /** The raw bytes, on platforms that keep them next to the parsed body. */
  rawBody?: unknown
}

export interface OutgoingResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/**
 * A handler for Express and node:http. It reads the body itself, so register its route before
 * `app.use(express.json())`; a separate route with `express.raw` works too.
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
  // Some parsers leave an empty object if they have read nothing. A body that was really parsed is passed
  // on unchanged; verifyCallback refuses it with a message that says what to do.
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
