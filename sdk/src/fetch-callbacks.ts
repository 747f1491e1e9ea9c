import {
  answerCallback,
  type CallbackHandlerOptions,
  maxBodyBytes,
  tooLarge,
} from './answer-callback.ts'

/** A handler for servers in the style of fetch: Deno, Bun, workers, Hono, Next.js routes. */
export function fetchCallbacks(options: CallbackHandlerOptions) {
  return async (request: Request): Promise<Response> => {
    if (request.method !== 'POST') {
      return new Response(null, { status: 405, headers: { allow: 'POST' } })
    }
    const { status, body } = await taken(request, options)
    return new Response(body, { status, headers: { 'content-type': 'application/json' } })
  }
}

async function taken(request: Request, options: CallbackHandlerOptions) {
  if (Number(request.headers.get('content-length')) > maxBodyBytes) return tooLarge()
  // Whoever has read the body before has left nothing of it.
  const body = request.bodyUsed ? undefined : await request.arrayBuffer()
  if (body && body.byteLength > maxBodyBytes) return tooLarge()
  return answerCallback(body, request.headers, options)
}
