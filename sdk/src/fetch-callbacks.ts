import {
  answerCallback,
  BodyTooLarge,
  type CallbackHandlerOptions,
  maxBodyBytes,
} from './answer-callback.ts'

/** A handler for fetch-style servers: Deno, Bun, workers, Hono, Next.js routes. */
export function fetchCallbacks(options: CallbackHandlerOptions) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      return new Response(null, { status: 405, headers: { allow: 'POST' } })
    }
    const { status, body } = await answerCallback(() => bytesIn(request), request.headers, options)
    return new Response(body, { status, headers: { 'content-type': 'application/json' } })
  }
}

async function bytesIn(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) throw new BodyTooLarge()
  // If other code has read the body already, nothing is left of it.
  if (request.bodyUsed) return undefined
  const body = new Uint8Array(maxBodyBytes)
  let length = 0
  const reader = request.body?.getReader()
  // Read piece by piece: a body that does not say its length could be of any.
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    if (length + piece.value.length > maxBodyBytes) {
      reader?.cancel().catch(() => {})
      throw new BodyTooLarge()
    }
    body.set(piece.value, length)
    length += piece.value.length
  }
  return body.subarray(0, length)
}
