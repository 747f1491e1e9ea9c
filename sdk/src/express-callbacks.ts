import {
  answerCallback,
  type CallbackHandlerOptions,
  maxBodyBytes,
  tooLarge,
} from './answer-callback.ts'
import type { CallbackHeaders } from './verify-callback.ts'

/** The part of a request of Express, or of node:http, that is needed. */
export interface IncomingRequest extends AsyncIterable<unknown> {
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
 * A handler for Express and for node:http. It reads the body itself, so it stands before
 * `app.use(express.json())`, or has `express.raw({ type: '*' + '/*' })` on its own route.
 */
export function expressCallbacks(options: CallbackHandlerOptions) {
  return async (request: IncomingRequest, response: OutgoingResponse): Promise<void> => {
    const { status, body } = await taken(request, options)
    response.statusCode = status
    response.setHeader('content-type', 'application/json')
    response.end(body)
  }
}

async function taken(request: IncomingRequest, options: CallbackHandlerOptions) {
  // A parsed body goes on as it is, and is refused with words that say what to do.
  const read = request.rawBody ?? request.body
  if (read !== undefined || request.readableEnded) {
    return answerCallback(read, request.headers, options)
  }
  const body = await bytesIn(request)
  return body ? answerCallback(body, request.headers, options) : tooLarge()
}

async function bytesIn(request: AsyncIterable<unknown>): Promise<Uint8Array | undefined> {
  const body = new Uint8Array(maxBodyBytes)
  let length = 0
  for await (const chunk of request) {
    const bytes = chunk instanceof Uint8Array ? chunk : new TextEncoder().encode(String(chunk))
    if (length + bytes.length > maxBodyBytes) return undefined
    body.set(bytes, length)
    length += bytes.length
  }
  return body.subarray(0, length)
}
